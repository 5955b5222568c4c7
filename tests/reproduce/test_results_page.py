"""The page of an evaluation as a whole."""

import re

import numpy as np
import pytest

from ifair.report.blocks import Table, plain
from ifair.reproduce.assemble import check_one_profile, empty_results
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.experiments import classification_task
from ifair.reproduce.first_screen import collect_printed
from ifair.reproduce.results_page import draw_figures, format_markdown, format_text, list_blocks, write_page
from ifair.reproduce.runner import RunError


def test_sections_of_what_was_not_run_are_empty():
    bare = empty_results()
    assert draw_figures(bare) == {}
    assert "Nothing was run" in format_markdown(bare)
    for name, experiment in find_experiments().items():
        for nothing in (bare, {**bare, "experiments": {name: {}}}):
            assert experiment.write_section(nothing) == experiment.judge_claims(nothing) == []
            assert experiment.draw_figures(nothing) == {}


def test_every_printed_number_stands_beside_ours_once_in_a_reading(committed):
    printed = collect_printed(list_blocks(committed))
    cells = {title: {len(found) for found in by.values()} for title, by in printed.items()}
    # Three datasets: full data, and three methods under three rules. Two datasets: seven methods, of which FA*IR twice
    # without correction. Seven rows of weights, twice.
    expected = {
        "Classification": {3 * (1 + 6)},
        "Classification, the fairest settings": {3 * 3},
        "Ranking": {2 * (7 + 2)},
        "Weights of the score on Xing": {2 * 7},
    }
    assert cells == expected
    assert [len(by) for by in printed.values()] == [5, 5, 4, 5]


def test_the_page_counts_the_numbers_that_agree(committed):
    page = format_markdown(committed)
    for name in ("base_rate", "MAP", "KT", "yNN", "percent_protected"):
        apart = []
        for row in committed["experiments"]["sensitivity"]:
            printed = next(paper for paper in committed["paper"]["sensitivity"] if paper["weights"] == row["weights"])
            share = 100 if name in ("base_rate", "percent_protected") else 1
            apart.append(abs({**row, **row["test"]}[name]["mean"] - printed[name]) / share)
        near, measure = f"{sum(one <= 0.05 for one in apart)} of {len(apart)}", name.replace("percent_", "% ")
        row = f"| Weights of the score on Xing | {measure.replace('_', ' ')} | {near} | {np.mean(apart):.3f} |"
        assert row in page


def test_the_first_screen_is_five_sentences_of_numbers_from_the_results(committed):
    for dataset, summary in committed["experiments"]["classification"].items():
        for number, setting in enumerate(summary["rules"]["balanced"]["ifair-b"]["settings"]):
            setting["mu"] = float(number >= 2)
        for method, share in (("ifair-b", 0.25), ("ifair-plus", 0.0)):
            for point in summary["points"][method]:
                point["constant"] = share
        by_settings = summary["hypervolume"]["coin"]["by_settings"]
        best = list(by_settings["ifair-b"])[-1]
        by_settings["masked"]["1"]["mean"] = by_settings["ifair-b"][best]["mean"] + (
            0.1 if dataset == "credit" else -0.1
        )
        for which, rival, gain in (("comparisons", "full", 0.03), ("comparisons_of_ours", "masked", 0.01)):
            compared = summary[which]["balanced"] if which == "comparisons" else summary[which]
            for measure, sign in (("yNN", 1), ("AUC", -1)):
                compared[measure][rival] |= {
                    "difference": sign * gain,
                    "adjusted": 0.01 if dataset == "compas" else 0.9,
                }
        kinds = committed["experiments"]["ifair"][dataset]["ifair-b"]["kinds"]
        for measure, most in (("AUC", 0.2), ("yNN", -0.1)):
            kinds["searched_longer"][measure]["change"]["mean"] = most
            kinds["searched_longer"][measure]["size"]["mean"] = 0.25 if (dataset, most) == ("credit", -0.1) else 0.2
            kinds["another_start"][measure]["size"]["mean"] = 0.3
    for number, by in enumerate(committed["experiments"]["obfuscation"].values()):
        for method, told in (("masked", 0.7), ("ifair-b", 0.9 if number else 0.6), ("ifair-plus", 0.72)):
            by[method]["boosting"]["AUC"]["mean"] = told
    page = format_markdown(committed)
    first = [line for line in page.splitlines() if line.startswith("- ")][:5]
    assert all(line.count(". ") == 0 and len(line.split()) < 60 for line in first)
    numbers, claims, collapse, deletion, ours = first
    committed["experiments"]["classification"]["census"]["comparisons"]["balanced"]["yNN"]["full"]["adjusted"] = None
    assert "clear on COMPAS (not tested on Census), and AUC" in format_markdown(committed)
    assert "of 105 about classification" in numbers
    assert claims.endswith("against full data iFair-b changes yNN by +0.03, clear on COMPAS, and AUC by -0.03.")
    assert "25 % (COMPAS), 25 % (Census) and 25 % (Credit) of iFair-b's fits" in collapse
    assert "no fairness at all on 2 of 20, 2 of 3 and 2 of 20 splits" in collapse
    assert "than all 51 settings of iFair-b do: on Credit above a coin (yNN 0.5) and nowhere above the full" in deletion
    assert "boosted trees recover the group better from iFair-b than from what it leaves on 4 of 5" in deletion
    assert "degenerates nowhere and lets boosted trees recover the group by up to +0.02 AUC better" in ours
    assert ours.endswith("against masked data it changes yNN by +0.01, clear on COMPAS, and AUC by -0.01.")
    assert "most on Credit: yNN by 0.250 on average, up or down (-0.100 with signs), where another start" in page
    assert "changes it by 0.300 (see the deviations)" in page


def test_tables_of_a_small_profile_say_so_and_a_page_has_one_profile(committed, tmp_path):
    def heads():
        return [plain(block.rows[0][0]) for block in list_blocks(committed) if isinstance(block, Table)]

    assert not any("profile]" in head for head in heads())
    for parts in committed["runs"].values():
        for run in parts.values():
            run["profile"] = "quick"
    assert all("[quick profile]" in head for head in heads())
    assert "method [quick profile]" in format_text(committed)
    assert "says nothing for or against the paper" in format_markdown(committed)
    check_one_profile(committed, "quick", tmp_path)
    check_one_profile(None, "full", tmp_path)
    with pytest.raises(RunError, match="holds results of the profile quick, and a page has one profile"):
        check_one_profile(committed, "full", tmp_path)


def test_the_page_tells_where_its_numbers_come_from(committed):
    runs = [run for parts in committed["runs"].values() for run in parts.values()]
    for run, version in zip(runs, ("3.11 and 3.12", "3.12", *["3.13"] * len(runs))):
        run |= {"left_out": ["xing: no file"], "environment": {**run["environment"], "python": version}}
    page = format_markdown(committed)
    assert "Left out: xing: no file." in page
    assert re.search(r"Versions: ifair [\d.]+, python 3.11 and 3.12 and 3.13, numpy", page)
    assert "The results do not tell" in format_markdown({**committed, "runs": {}})


def test_a_terminal_gets_tables_and_verdicts(committed):
    lines = format_text(committed).splitlines()
    assert lines[0] == "COMPAS, classification"
    assert any(line.startswith("not shown  ") and "beats LFR" in line for line in lines)
    assert "Xing, ranking" in lines


def test_a_method_with_a_single_setting_still_stands_under_every_rule(committed):
    points = committed["experiments"]["classification"]["compas"]["points"]
    points["ifair-b"] = points["ifair-b"][:1]
    first = [plain(row[0]) for row in classification_task.tabulate(committed, "compas").rows]
    assert first.count("iFair-b") == 3
    assert first[:6] == ["method", "untuned", "full data", "masked data", "most useful", "SVD"]


def test_page_and_html_are_written_and_without_the_extra_the_page_and_why(tmp_path, monkeypatch):
    lines = write_page(tmp_path, empty_results())
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == format_markdown(empty_results())
    assert "The paper&#39;s evaluation, redone</h1>" in (tmp_path / "results.html").read_text(encoding="utf-8")
    named = [line.rpartition(f": {tmp_path.resolve()}/")[2] for line in lines]
    assert named == ["results.md", "results.html"]
    monkeypatch.setattr("ifair.reproduce.results_page.find_spec", lambda name: None)
    (tmp_path / "other").mkdir()
    lines = write_page(tmp_path / "other", empty_results())
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["results.md"]
    assert lines[-1].startswith("pictures and HTML need matplotlib and jinja2: pip install 'ifair[report]'")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(RunError, match=r"cannot make the folder .*figures"):
        write_page(tmp_path, empty_results())
