"""From the rows of bench_growth.py and bench_out_of_core.py to the tables of ``docs/growth.md`` and its picture.

    python benchmarks/bench_out_of_core.py --json docs/results/out_of_core.json
    python benchmarks/bench_growth.py --json docs/results/growth.json
    python benchmarks/growth_page.py

The last draws ``docs/images/growth.svg`` and writes the tables between the marks on the page; nothing is measured.

The exponent along M is the slope of log time against log M by least squares, over the sizes at which the fixed cost is
below 5 % of the time: what the same work takes on a table of 128 records, where nearly all of it is fixed. That rule
was set before anything was measured with it. The slope over all sizes from 1,000 on stands beside it. Along K and N, a
part of the work does not depend on them and is not small: beside the slope over all sizes is that of the last step.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from ifair.report.blocks import markdown_table

Rows = list[dict[str, Any]]

ROOT = Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs" / "growth.md", ROOT / "docs" / "images" / "growth.svg"
RESULTS = ROOT / "docs" / "results"

FEWEST = 128
"""Records of the table whose time stands for the fixed cost."""
FIXED = 0.05
"""The largest share of the fixed cost in a time that counts for the exponent."""

WORKS = {"evaluation": "CPU ms/evaluation", "fit": "CPU s"}
COLOURS = {
    "iFair, 100 landmarks": ("#0072B2", "o"),
    "iFair, moments": ("#009E73", "s"),
    "iFair, moments, on disk": ("#56B4E9", "P"),
    "LFR, ifair": ("#E69F00", "^"),
    "LFR, AIF360": ("#CC79A7", "v"),
    "LFR, fairlearn": ("#D55E00", "D"),
}


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of log seconds against log size; NaN of fewer than two sizes."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else float("nan")


def slopes(rows: Rows) -> Rows:
    """The exponents of every method along everything that grows, of an evaluation and of a fit."""
    found: Rows = []
    for what, along in dict.fromkeys((row["what"], row["along"]) for row in rows):
        series = [row for row in rows if (row["what"], row["along"]) == (what, along)]
        for work, field in WORKS.items():
            timed = [(row["size"], row[field]) for row in series if row.get(field)]
            if timed:
                found.append({"what": what, "along": along, "of": work, **_exponents(along, timed)})
    return found


def _exponents(along: str, timed: list[tuple[float, float]]) -> dict[str, Any]:
    fixed = dict(timed).get(FEWEST, 0.0) if along == "M" else 0.0
    grown = [(size, seconds) for size, seconds in timed if along != "M" or size > FEWEST]
    chosen = [(size, seconds) for size, seconds in grown if fixed < FIXED * seconds] if along == "M" else grown[-2:]
    return {
        "from": grown[0][0],
        "to": grown[-1][0],
        "exponent, all": exponent(*map(list, zip(*grown))),
        "counted from": chosen[0][0] if chosen else None,
        "exponent": exponent(*map(list, zip(*chosen))) if chosen else float("nan"),
    }


def tabulate_growth(result: dict[str, Any]) -> str:
    """The tables of bench_growth.py."""
    rows = result["rows"]
    lines = [
        f"{machine(result)} Processor seconds of a fit, and MB at the peak of memory above the table itself:",
        "",
        _tabulate_fits([row for row in rows if row["along"] == "M" and row["size"] > FEWEST]),
        "",
        "Exponents:",
        "",
    ]
    table = [["", "along", "of", "sizes", "exponent over all", "counted from", "exponent"]]
    for row in slopes(rows):
        sizes = f"{row['from']:,} to {row['to']:,}"
        counted = "none" if row["counted from"] is None else f"{row['counted from']:,}"
        exponents = _number(row["exponent, all"]), counted, _number(row["exponent"])
        table.append([row["what"], row["along"], row["of"], sizes, *exponents])
    lines.append(markdown_table(table))
    stopped = [f"- {reason}" for reason in result["left out"]]
    return "\n".join([*lines, *(["", "Left out:", "", *stopped] if stopped else [])])


def out_of_core(result: dict[str, Any]) -> str:
    """The table of bench_out_of_core.py."""
    fields = ("seconds", "this/memory", "CPU s", "same, CPU", "set-up s")
    shared = "of that in memory"
    rows = [["pairs", "threads", "records in", "s", shared, "CPU s", shared, "once a fit, s"]]
    for row in result["rows"]:
        shown = ["" if row[field] is None else f"{row[field]:.3g}" for field in fields]
        rows.append([row["pairs"], str(row["threads"]), row["records in"], *shown])
    return f"{result['title']}. {machine(result)}\n\n{markdown_table(rows)}"


def machine(result: dict[str, Any]) -> str:
    about = result["machine"]
    busy = " The machine was busy: these are upper bounds." if about["load_before"] > 0.5 else ""
    return (
        f"{about['cores']} cores, load {about['load_before']} at the start and {about['load_after']} at the end, "
        f"Python {about['python']}, NumPy {about['numpy']}.{busy}"
    )


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a block of the page that is written here."""
    return f"<!-- {name}.json: begin -->", f"<!-- {name}.json: end -->"


TABLES = {"out_of_core": out_of_core, "growth": tabulate_growth}


def _tabulate_fits(rows: Rows) -> str:
    names = [name for name in COLOURS if any(row["what"] == name for row in rows)]
    cells = {(row["what"], row["size"]): f"{_seconds(row['CPU s'])} s, {row['peak MB above']:,.0f} MB" for row in rows}
    sizes = sorted({row["size"] for row in rows})
    body = [[f"{size:,}", *(cells.get((name, size), "") for name in names)] for size in sizes]
    return markdown_table([["records", *names], *body])


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2g}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def draw(result: dict[str, Any], file: Path) -> None:
    """Seconds of a fit and peak memory against M, both on logarithmic scales."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for name, (colour, marker) in COLOURS.items():
        found = [row for row in result["rows"] if (row["what"], row["along"]) == (name, "M") and row["size"] > FEWEST]
        if not found:
            continue
        sizes = [row["size"] for row in found]
        style: Any = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.4}
        time_axes.plot(sizes, [row["CPU s"] for row in found], label=name, **style)
        memory_axes.plot(sizes, [max(row["peak MB above"], 1.0) for row in found], **style)
    for axes, title in ((time_axes, "processor seconds of a fit"), (memory_axes, "peak memory above the table, MB")):
        axes.set(xscale="log", yscale="log", xlabel="records", title=title)
        axes.title.set_fontsize(10)
        axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    with matplotlib.rc_context({"svg.hashsalt": "ifair", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Description": f"drawn from rows {digest(result)}"})


def digest(result: dict[str, Any]) -> str:
    """Which rows a picture was drawn from."""
    return hashlib.sha256(json.dumps(result["rows"], sort_keys=True).encode()).hexdigest()[:16]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder with what the benchmarks wrote")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    chosen = parser.parse_args(arguments)
    page = chosen.page.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        result = json.loads((chosen.results / f"{name}.json").read_text(encoding="utf-8"))
        begin, end = marks(name)
        before, _, rest = page.partition(begin)
        if end not in rest:
            raise SystemExit(f"{chosen.page} has no lines {begin!r} and {end!r} to write between")
        page = f"{before}{begin}\n\n{table(result)}\n\n{end}{rest.partition(end)[2]}"
    draw(result, chosen.picture)
    chosen.page.write_text(page, encoding="utf-8")
    print(f"wrote {chosen.picture} and the tables of {chosen.page}")


if __name__ == "__main__":
    main()
