"""The report of an audit: one HTML file that opens from disk, with everything in it."""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from ifair.results import EVIDENCE, Evidence, check_results

SCRIPTS = ("dom", "words", "verdict", "charts", "groups", "people", "learned", "appendix", "main")
"""The page's own scripts, in order; they share one scope."""

MOST_BYTES = 2_050_000
"""Of a page."""

LENGTHS = (40, 24, 12)
"""To how many characters texts may be cut, one after the other."""


def page(evidence: Evidence) -> str:
    """The page.

    Parameters
    ----------
    evidence : Evidence
        What :func:`ifair.audit.evidence` gathered, or its JSON read again.

    Returns
    -------
    str
        HTML that needs neither a server nor a network. Its security policy forbids to load anything and to run any
        script but its own. All names and values of the data are kept in two blocks of data, the people packed, and the
        scripts show them as text. Attributes are cut to keep it under 2.1 MB: see :func:`fit_people`.
    """
    check_results(evidence, EVIDENCE)
    from jinja2.utils import markupsafe

    from ifair.report.html import make_environment, read_text

    markup = markupsafe.Markup  # what this package wrote itself; everything else is escaped
    # Its files in one scope of their own.
    parts = "\n".join(read_text(f"static/{name}.js") for name in SCRIPTS)
    program = f'(() => {{\n"use strict";\n{parts}\n}})();'
    summary, people = separate_people(evidence)
    style, about = read_text("static/report.css"), embed_data(summary)
    template = read_text("templates/audit.html.jinja")
    packed, not_shown = fit_people(people, MOST_BYTES - len((template + style + about + program).encode()))
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    content = make_environment().from_string(template)
    return content.render(
        name=str(evidence["data"]["name"]),
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=markup(style),
        program=markup(program),
        summary=markup(about),
        people=markup(packed),
        not_shown=not_shown,
    )


def separate_people(evidence: Evidence) -> tuple[dict[str, Any], dict[str, Any]]:
    """The evidence without its people, and the people with what each point does to them."""
    points = [{key: value for key, value in point.items() if key != "people"} for point in evidence["points"]]
    people = {**evidence["people"], "points": {point["id"]: point["people"] for point in evidence["points"]}}
    return {**{key: value for key, value in evidence.items() if key != "people"}, "points": points}, people


def embed_data(value: Any) -> str:
    """JSON that may stand inside a script element whatever it holds: no ``<``, so no tag ends or begins."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def pack(value: Any) -> str:
    """JSON, deflated and in base64: ten thousand people would be several MB otherwise."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def fit_people(people: Mapping[str, Any], room: int) -> tuple[str, str]:
    """The people packed into so many characters, and a sentence on what is not shown for that.

    Numbers keep four digits, as many as the page shows. Where that is not enough, texts are cut, and then columns
    are left out, those first that need most room.
    """
    short = {**people, "attributes": [_round_column(column) for column in people["attributes"]]}
    result = pack(short)
    if len(result) <= room:
        return result, ""
    rest = len(pack({**short, "attributes": []}))
    columns = list(short["attributes"])
    sizes = [len(pack(column)) for column in columns]
    said = []
    for length in LENGTHS:
        cut = [_cut_labels(column, length) for column in columns]
        if cut == columns:
            continue
        said = [f"Texts are cut to {length} characters to keep this page small."]
        sizes = [len(pack(new)) if new != old else size for new, old, size in zip(cut, columns, sizes)]
        columns = cut
        if rest + sum(sizes) <= room:
            break
    # Those that there is room for, the smallest, in their order.
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    kept = sorted(i for i, total in zip(order, accumulate(sizes[i] for i in order)) if total <= room - rest)
    if len(kept) < len(columns):
        left_out = ", ".join(column["name"] for i, column in enumerate(columns) if i not in kept)
        said.append(f"Columns left out of the view of people, too large for it: {left_out}.")
        columns = [columns[i] for i in kept]
    return pack({**short, "attributes": columns}), " ".join(said)


def _round_column(column: Mapping[str, Any]) -> dict[str, Any]:
    if "values" not in column:
        return dict(column)
    short = [v if not isinstance(v, float) or v.is_integer() else float(f"{v:.4g}") for v in column["values"]]
    return {**column, "values": short}


def _cut_labels(column: Mapping[str, Any], length: int) -> dict[str, Any]:
    if "labels" not in column:
        return dict(column)
    return {**column, "labels": [t if len(t) <= length else t[: length - 1] + "…" for t in column["labels"]]}
