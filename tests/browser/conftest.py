"""A real Chromium without a window, and pages in it."""

import shutil
import time

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


class Browser:
    """A driver, and what these tests ask of it again and again."""

    def __init__(self, driver):
        self.driver = driver

    def __getattr__(self, name):
        return getattr(self.driver, name)

    def command(self, name, **options):
        """A command of the Chrome DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, options)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, condition, what, seconds=30):
        """Wait until a JavaScript expression holds."""
        end = time.monotonic() + seconds
        while not (value := self.js(f"return {condition}")):
            if time.monotonic() > end:
                pytest.fail(f"{what}; the console says {self.console()}")
            time.sleep(0.05)
        return value

    def open(self, path):
        """Open a report and wait until it is drawn."""
        self.console()
        self.requests()
        self.driver.get(path.as_uri())
        self.until("document.documentElement.dataset.shown", f"{path} was not shown")
        return self

    def console(self):
        """What the console said since last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses asked for since last asked."""
        import json

        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        """The text of every element that is chosen."""
        return self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def count(self, selector):
        return len(self.texts(selector))

    def colour_scheme(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def media(self, kind):
        self.command("Emulation.setEmulatedMedia", media=kind)

    def width(self, pixels):
        self.command(
            "Emulation.setDeviceMetricsOverride", width=pixels, height=800, deviceScaleFactor=1, mobile=pixels < 600
        )

    def plain(self):
        """As a window on a desk, light; what every test begins with."""
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        self.width(1200)
        return self


@pytest.fixture(scope="session")
def chromium():
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("the browser tests need Chromium and its driver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    # No sandbox, since containers run tests as root; the pages are our own.
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield Browser(started)
    started.quit()


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The reports to open, by name."""
    from ifair.report.evidence_page import page

    from samples import cautious_evidence, hostile_evidence, lonely_evidence, small_evidence

    folder = tmp_path_factory.mktemp("reports")
    found = {"classification": small_evidence(), "regression": small_evidence("regression")}
    found |= {"ranking": small_evidence("ranking"), "hostile": hostile_evidence(), "lonely": lonely_evidence()}
    found["cautious"] = cautious_evidence()
    for name, evidence in found.items():
        (folder / f"{name}.html").write_text(page(evidence), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture
def report(chromium, pages):
    """The report of a classification, opened anew."""
    return chromium.plain().open(pages["classification"])
