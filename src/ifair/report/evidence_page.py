"""The report of an audit: one HTML file that opens from disk, with everything in it."""

import base64
import hashlib
import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ifair.report.page_size import MOST_BYTES, fit_people
from ifair.results import EVIDENCE, Evidence, check_results

SCRIPTS = ("dom.js", "words.js", "charts.js", "explorer.js", "people.js", "sections.js", "main.js")
"""The page's own scripts, in order; they share one scope."""


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
        scripts show them as text. Attributes are cut to keep it under 3 MB: see :mod:`ifair.report.page_size`.
    """
    check_results(evidence, EVIDENCE)
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    # Markup is what this package wrote itself; everything else is escaped.
    markup = jinja2.utils.markupsafe.Markup
    library, program = charts_library(), page_script()
    summary, people = separate_people(evidence)
    style, about = _text("static/report.css"), embed_data(summary)
    template = _text("templates/audit.html.jinja")
    packed, not_shown = fit_people(people, MOST_BYTES - len((template + style + about + library + program).encode()))
    return environment.from_string(template).render(
        name=str(evidence["data"]["name"]),
        policy=f"default-src 'none'; script-src {_hash(library)} {_hash(program)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=markup(style),
        library=markup(library),
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


def page_script() -> str:
    """The page's own program: its files in one scope of their own."""
    parts = "\n".join(_text(f"static/{name}") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();'


@lru_cache(maxsize=1)
def charts_library() -> str:
    """Vega, Vega-Lite and Vega-Embed with the interpreter of expressions, so that no string is ever run as code."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError("the charts of the report need vl-convert: pip install 'ifair[report]'") from error
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # Nothing in it may end the element that it stands in, and browsers read a carriage return as a new line.
    return f"(() => {{{bundle}}})();".replace("\r", "").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(program: str) -> str:
    digest = hashlib.sha256(program.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _text(name: str) -> str:
    return files("ifair.report").joinpath(name).read_text(encoding="utf-8")
