"""How long each command of the walkthrough takes, from a table to decisions: the page's own commands, on a large table.

    python benchmarks/bench_walkthrough.py [--quick] [--records N] [--trials N] [--json FILE]

Tables and roles are made as on the page; only the number of people, and in the quick size of trials, is another.
"""

import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common

PAGE = Path(__file__).resolve().parent.parent / "docs" / "walkthrough.md"
BLOCK = re.compile(r"^```(python|toml|console)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
IFAIR = "from ifair.cli import main; main()"
LIMIT = 600.0
"""Seconds on two cores that the whole walk of 40,000 people should take at most."""


def time_run(folder: Path, code: str, *arguments: str) -> dict[str, float]:
    """Run Python code in a process of its own, as a shell would; its seconds, and those of processors."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": seconds, "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(
        __doc__,
        arguments,
        records=(1_200, 40_000, "people in the table"),
        trials=(7, 24, "settings that are tried"),
    )
    rows: common.Rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for kind, content in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if kind == "toml":
                (folder / "roles.toml").write_text(content, encoding="utf-8")
            elif kind == "python":
                time_run(folder, content.replace("make_applicants()", f"make_applicants({chosen.records})"))
            else:
                for line in content.splitlines():
                    words = shlex.split(line.removeprefix("$ ifair "))
                    if "--trials" in words:
                        words[words.index("--trials") + 1] = str(chosen.trials)
                    took = time_run(folder, IFAIR, *words)
                    rows.append({"command": " ".join(words[:2]), "records": chosen.records, **took})
    total = {name: sum(row[name] for row in rows) for name in ("seconds", "CPU s")}
    rows.append({"command": "in all", "records": chosen.records, **total})
    return common.report(
        "The walkthrough, command by command", rows, machine, chosen.json, f"Limit for 40,000 people: {LIMIT:.0f} s."
    )


if __name__ == "__main__":
    main()
