"""Drawings of a page as SVG: small, the same bytes every time, and safe to stand beside others in one document."""

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

# Types that are known without importing matplotlib, which is optional.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any

# Okabe and Ito's palette, made to be told apart by colour-blind readers.
BLACK, GREY, ORANGE, SKY = "#000000", "#767676", "#E69F00", "#56B4E9"
GREEN, BLUE, RED, PURPLE = "#009E73", "#0072B2", "#D55E00", "#CC79A7"
FONTS = "'DejaVu Sans', Verdana, sans-serif"
WIDTH = 7.2
"""Inches: a page shows a picture about 700 pixels wide."""


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of a page, drawn without a screen and without any state that others share."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, stem: str) -> str:
    """The drawing as one ``<svg>`` element.

    Coordinates keep two decimals (a hundredth of a point), and names of shared parts are counted through and start
    with ``stem``, so that the text does not depend on the machine and several drawings fit into one page.
    """
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ifair"}):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    drawing = text.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r'<g id="[^"]*">', "<g>", drawing)
    drawing = re.sub(r"font-family: [^;\"]+", f"font-family: {FONTS}", drawing)
    drawing = re.sub(r' transform="rotate\(-?0 [^"]*"', "", drawing)
    for number, name in enumerate(dict.fromkeys(re.findall(r' id="([^"]+)"', drawing))):
        drawing = re.sub(rf'(?<=["#]){re.escape(name)}(?=["\)])', f"{stem}-{number}", drawing)
    # Inside tags only: what is written in the picture stays as it is.
    drawing = re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{3,}(?:e-\d+)?", _round_number, tag[0]), drawing)
    drawing = re.sub(r"\s*\n\s*", "\n", drawing)
    return re.sub(r'(<g clip-path="[^"]*")>\n((?:<use [^>]*/>\n)+)</g>', _share_style, drawing)


def _share_style(group: re.Match[str]) -> str:
    """Markers of one kind, with the style that all of them repeat moved to their group."""
    head, markers = group[1], group[2]
    styles = set(re.findall(r' style="[^"]*"', markers))
    if len(styles) != 1:
        return group[0]
    style = styles.pop()
    return f"{head}{style}>\n{markers.replace(style, '')}</g>"


def _round_number(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:g}" if abs(float(number[0])) < 1e4 else number[0]


def add_legend(
    figure: Figure, panels: Iterable[Axes], columns: int, *, side: str = "lower", fontsize: float = 9
) -> None:
    """One legend outside of the panels, in which every label of any of them stands once."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            found.setdefault(label, handle)
    look: Any = {"loc": f"outside {side} center", "ncols": columns, "frameon": False, "fontsize": fontsize}
    figure.legend(found.values(), found.keys(), **look)


def light_grid(axes: Axes) -> None:
    """Thin lines behind the data, and no frame at the top and right."""
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
