"""The page of an evaluation as a whole."""

import numpy as np
import pytest

from ifair.report.blocks import Bullets, Picture, Table, plain
from ifair.reproduce.assemble import check_one_profile, empty_results
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.experiments import classification_task
from ifair.reproduce.first_screen import collect_printed
from ifair.reproduce.results_page import draw_figures, format_markdown, format_text, list_blocks, write_page
from ifair.reproduce.runner import RunError


def test_every_picture_of_the_page_is_drawn_and_every_drawing_shown(results):
    shown = [block.stem for block in list_blocks(results) if isinstance(block, Picture)]
    assert shown == list(draw_figures(results))
    assert len(shown) == len(set(shown)) == 8


def test_sections_of_what_was_not_run_are_empty(results):
    bare = empty_results()
    assert draw_figures(bare) == {}
    assert "Nothing was run" in format_markdown(bare)
    for name, experiment in find_experiments().items():
        for nothing in (bare, {**bare, "experiments": {name: {}}}):
            assert experiment.write_section(nothing) == experiment.judge_claims(nothing) == []
            assert experiment.draw_figures(nothing) == {}


def test_every_printed_number_stands_beside_ours_once(results):
    cells = [cell for found in collect_printed(list_blocks(results)).values() for cell in found]
    # Two datasets: full data, and three methods under three rules, five measures each. Xing: seven methods, four
    # measures. Seven rows of weights, base rate and four measures.
    assert len(cells) == 2 * (1 + 9) * 5 + 7 * 4 + 7 * 5
    row = "| iFair-b | 0.59 → 0.70 ± 0.01 (**+0.11**) | 0.58 → 0.64 ± 0.01 (**+0.06**) | 0.83 → "
    assert row in format_markdown(results).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_counts_the_numbers_that_agree(results):
    apart = []
    for row in results["experiments"]["sensitivity"]:
        printed = next(paper for paper in results["paper"]["sensitivity"] if paper["weights"] == row["weights"])
        for name, ours in {"base_rate": row["base_rate"], **row["test"]}.items():
            share = 100 if name in ("base_rate", "percent_protected") else 1
            apart.append(abs(ours["mean"] - printed[name]) / share)
    near = sum(one <= 0.05 for one in apart)
    assert 0 < near < len(apart)
    row = f"| Weights of the score on Xing | {len(apart)} | {np.mean(apart):.3f} | {near} |"
    assert row in format_markdown(results)


def test_the_first_screen_says_what_holds_and_what_does_not(results):
    results["experiments"]["classification"]["compas"]["comparisons"]["balanced"]["yNN"]["lfr"]["adjusted"] = 0.2
    results["experiments"]["classification"]["credit"]["comparisons"]["balanced"]["yNN"]["lfr"]["adjusted"] = 0.2
    first = next(block for block in list_blocks(results) if isinstance(block, Bullets))
    agreement, held, failed, collapsed, ours = (plain(line) for line in first.lines)
    assert "of 163 comparisons ours is within 0.05 of what it prints" in agreement
    assert "hold 12 of 13" in held
    assert "1 of its claims (“iFair beats LFR on individual fairness" in failed
    assert "COMPAS 25 %, Credit 25 %" in collapsed
    assert "COMPAS yNN 0.00 [-0.01, +0.01], p = 0.010" in ours


def test_tables_of_a_small_profile_say_so_and_a_page_has_one_profile(results, tmp_path):
    def heads(results):
        return [plain(block.rows[0][0]) for block in list_blocks(results) if isinstance(block, Table)]

    assert not any("profile]" in head for head in heads(results))
    for parts in results["runs"].values():
        for run in parts.values():
            run["profile"] = "quick"
    assert all("[quick profile]" in head for head in heads(results))
    assert "method [quick profile]" in format_text(results)
    assert "says nothing for or against the paper" in format_markdown(results)
    check_one_profile(results, "quick", tmp_path)
    check_one_profile(None, "full", tmp_path)
    with pytest.raises(RunError, match="holds results of the profile quick, and a page has one profile"):
        check_one_profile(results, "full", tmp_path)


def test_fair_rankings_the_paper_does_not_print_are_only_drawn(results):
    assert "FA\\*IR, p = 0.5 |" in format_markdown(results)
    assert "FA\\*IR, p = 0.7 |" not in format_markdown(results)
    # A dataset for which it prints none shows all.
    results["paper"] = {**results["paper"], "ranking": {"airbnb": results["paper"]["ranking"]["airbnb"]}}
    assert "FA\\*IR, p = 0.7 |" in format_markdown(results)


def test_the_page_tells_where_its_numbers_come_from(results):
    page = format_markdown(results)
    assert "Left out: xing: no file." in page
    assert (
        "| COMPAS (at most 4,500 records, 1,000 to learn from, drawn at random) | full | 5 | 40 | 1.5 | x86_64" in page
    )
    assert "| synthetic | all | full |" in page
    assert "The results do not tell" in format_markdown({**results, "runs": {}})
    assert "Versions: ifair 1.2, python 3.11, numpy 2.0, scipy 1.13, scikit-learn 1.6." in page
    for run, version in zip(results["runs"]["classification"].values(), ("3.11 and 3.12", "3.12")):
        run["environment"]["python"] = version
    assert "Versions: ifair 1.2, python 3.11 and 3.12, numpy 2.0," in format_markdown(results)


def test_a_terminal_gets_tables_and_verdicts(results):
    lines = format_text(results).splitlines()
    assert lines[0] == "COMPAS, classification"
    assert any(line.startswith("holds  ") and "beats LFR" in line for line in lines)
    assert "Xing, ranking" in lines


def test_a_method_with_a_single_setting_still_stands_under_every_rule(results):
    points = results["experiments"]["classification"]["compas"]["points"]
    points["ifair-b"] = points["ifair-b"][:1]
    first = [plain(row[0]) for row in classification_task.tabulate(results, "compas").rows]
    assert first.count("iFair-b") == 3
    assert first[:6] == ["method", "untuned", "full data", "masked data", "most useful", "SVD"]


def test_page_and_html_are_written(tmp_path):
    lines = write_page(tmp_path, empty_results())
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == format_markdown(empty_results())
    assert "The paper&#39;s evaluation, redone</h1>" in (tmp_path / "results.html").read_text(encoding="utf-8")
    named = [line.rpartition(f": {tmp_path.resolve()}/")[2] for line in lines]
    assert named == ["results.md", "results.html"]


def test_without_the_extra_the_page_is_written_and_the_rest_explained(tmp_path, monkeypatch):
    monkeypatch.setattr("ifair.reproduce.results_page.find_spec", lambda name: None)
    lines = write_page(tmp_path, empty_results())
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]
    assert lines[-1].startswith("pictures and HTML need matplotlib and jinja2: pip install 'ifair[report]'")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot make the folder .*figures"):
        write_page(tmp_path, empty_results())
