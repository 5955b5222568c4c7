"""Writing the page of an evaluation: as Markdown, and with the extra ``report`` its pictures and one HTML file."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ifair.cli.output_files import write_text
from ifair.errors import install_hint


def write_page(folder: Path, results: Mapping[str, Any], stem: str = "results", *, alone: bool = True) -> list[str]:
    """Write ``stem.md``, ``figures/*.svg`` and, to be read alone, ``stem.html`` into a folder that exists.

    Returns
    -------
    list of str
        What there is now, a line each, for whoever waits; without the extra, how to get the rest.
    """
    from ifair.report.evaluation.page import figures, markdown, page

    write_text(folder / f"{stem}.md", markdown(results))
    written = [f"Page: {(folder / f'{stem}.md').resolve()}"]
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        return [*written, f"pictures and HTML need {' and '.join(missing)}: {install_hint('report')}"]

    from ifair.report.html import html
    from ifair.report.pictures import svg

    drawn = {name: svg(figure, name) for name, figure in figures(results).items()}
    try:
        (folder / "figures").mkdir(exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make the folder {folder / 'figures'}: {error.strerror}") from error
    for name, drawing in drawn.items():
        write_text(folder / "figures" / f"{name}.svg", drawing)
    if not alone:
        return written
    write_text(folder / f"{stem}.html", html(page(results), drawn))
    return [*written, f"With pictures: {(folder / f'{stem}.html').resolve()}"]
