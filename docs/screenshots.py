"""Take the pictures of the report again: ``python docs/screenshots.py`` (or ``make screenshots``).

German Credit, which comes with the package, is audited (two minutes of one core), unless evidence of it is given:
``python docs/screenshots.py evidence.json``. Needs Chromium with its driver and the extra ``browser``.
"""

import base64
import json
import shutil
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent / "images"

PICTURES = {
    "report": ("light", 1280, "header", "#trade-off figure"),
    "report-people": ("dark", 1280, "#people", "#person"),
}
"""By the name of the file: colours, width, and from which element to which."""

BETWEEN = """
const [first, last] = [...arguments].map((one) => document.querySelector(one).getBoundingClientRect());
const shift = first.top < 30 ? 0 : scrollY + first.top - 12;
return [shift, scrollY + last.bottom + 12 - shift];
"""


def main() -> None:
    from ifair.audit import evidence
    from ifair.data import load_credit
    from ifair.report import page

    found = json.loads(Path(sys.argv[1]).read_text("utf-8")) if len(sys.argv) > 1 else evidence(load_credit())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page(found), encoding="utf-8")
        take_pictures(path)


def take_pictures(path: Path) -> None:
    """Open a report in Chromium and save what is listed above."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{switch}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    for name, (colours, width, first, last) in PICTURES.items():
        feature = {"name": "prefers-color-scheme", "value": colours}
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(path.as_uri())
        driver.execute_async_script(
            "const done = arguments[0]; const wait = () => document.documentElement.dataset.shown ? done() : "
            "setTimeout(wait, 50); wait();"
        )
        top, height = driver.execute_script(BETWEEN, first, last)
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (IMAGES / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
        sys.stdout.write(f"{IMAGES / name}.png\n")
    driver.quit()


if __name__ == "__main__":
    main()
