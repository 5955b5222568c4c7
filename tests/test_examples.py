"""The gallery's examples run as plain programs, and draw."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


def test_the_gallery_shows_the_five_ways_in():
    if not EXAMPLES:
        pytest.skip("examples/ is not here: this is not a checkout of the repository")
    titles = [path.read_text(encoding="utf-8").splitlines()[1] for path in EXAMPLES]
    assert {"First steps", "Choosing the trade-off", "Ranking with FA*IR"} < set(titles)
    assert len(titles) == len(set(titles)) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_prints_and_draws(path, monkeypatch, capsys, quick_fits):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = []
    monkeypatch.setattr(pyplot, "show", lambda: drawn.extend(pyplot.get_fignums()))
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        pyplot.close("all")
    assert drawn
    assert capsys.readouterr().out
