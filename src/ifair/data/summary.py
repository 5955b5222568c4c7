"""The table of datasets next to the paper's, as text and as Markdown."""

from ifair.data.catalogue import CATALOGUE, Entry

HEADER = (
    "dataset",
    "records",
    "columns",
    "protected",
    "base rate, protected",
    "base rate, others",
    "queries",
)


def count(value: int | None) -> str:
    """A number with thousands separated, or a dash."""
    return "-" if value is None else f"{value:,}"


def rate(value: float | None, digits: int = 3) -> str:
    """A share with as many digits as are known, or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def cells(entry: Entry) -> list[str]:
    """The figures of a dataset, each followed by the paper's in brackets where it prints one."""
    ours, paper = entry.reached, entry.paper

    def both(mine: str, theirs: str) -> str:
        return mine if theirs == "-" else f"{mine} ({theirs})"

    return [
        both(count(ours.rows), count(paper.rows)),
        both(count(ours.columns), count(paper.columns)),
        "-" if ours.share is None else f"{ours.share:.1%}",
        both(rate(ours.rate_protected), rate(paper.rate_protected, 2)),
        both(rate(ours.rate_other), rate(paper.rate_other, 2)),
        both(count(ours.queries), count(paper.queries)),
    ]


def markdown() -> str:
    """The table and, below it, every deviation explained."""
    lines = ["| " + " | ".join(HEADER) + " |", "|" + " --- |" * len(HEADER)]
    for name, entry in CATALOGUE.items():
        lines.append(f"| `{name}` | " + " | ".join(cells(entry)) + " |")
    for name, entry in CATALOGUE.items():
        lines += [
            "",
            f"**{entry.title}** (`{name}`): protected: {entry.group}; outcome: {entry.outcome}.",
            "",
        ]
        lines += [f"- {deviation}" for deviation in entry.deviations]
    return "\n".join(lines) + "\n"
