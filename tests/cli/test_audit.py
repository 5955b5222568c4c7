"""``ifair audit``, ``ifair report`` and ``ifair tune``: thin over what they call."""

import json
from importlib import import_module

import numpy as np
import pytest
from measured_again import check_measures
from sklearn.metrics import accuracy_score, roc_auc_score

from ifair.cli.audit_options import read_people
from ifair.report.comparison import find_point
from ifair.report.terminal import audit_text, summary_text
from ifair.tables.roles import Roles

from samples import applicants, few_candidates, named_applicants, small_evidence
from scripts import ask, do, refuse

ROLES = ["--protected", "sex", "--target", "hired", "--ignore", "rating", "--ignore", "team"]


@pytest.fixture
def people(tmp_path):
    named_applicants().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


@pytest.fixture
def evidence(tmp_path):
    """A file of evidence."""
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(small_evidence()))
    return path


@pytest.mark.parametrize("verb", ["audit", "report", "tune", "fit"])
def test_roles_that_are_needed_are_asked_for_and_a_mistyped_one_suggests_the_right_one(verb, people, tmp_path):
    given = [verb, people, "-o", tmp_path / "out"]
    assert "--protected" in refuse(*given, "--target", "hired", code=2)
    if verb != "fit":
        assert "--target" in refuse(*given, "--protected", "sex", code=2)
    assert "'sxe', did you mean 'sex'?" in refuse(*given, "--protected", "sxe", "--target", "hired")


@pytest.mark.parametrize("verb", ["audit", "report", "tune", "fit"])
def test_a_place_that_cannot_be_written_and_a_mistyped_choice_are_named_before_any_work(
    verb, people, tmp_path, monkeypatch
):
    monkeypatch.setattr("ifair.tables.checked_table.read_counted_table", lambda *_, **__: pytest.fail("work was done"))
    assert f"there is no folder {tmp_path / 'none'}" in refuse(verb, people, *ROLES, "-o", tmp_path / "none" / "file")
    if verb == "report":
        assert "did you mean 'fairest'?" in refuse(verb, people, *ROLES, "--card", "--choice", "fairst")


@pytest.mark.parametrize("verb", ["audit", "report", "tune", "fit"])
def test_one_of_many_numbers_is_no_positive_outcome(verb, tmp_path):
    frame = applicants()
    frame["limit"] = 1000 + np.arange(len(frame)) % 11
    frame.to_csv(tmp_path / "people.csv", index=False)
    given = [tmp_path / "people.csv", "-p", "sex", "--target", "limit", "--positive", 1003, "-o", tmp_path / "out"]
    said = refuse(verb, *given)
    assert "target 'limit' holds 11 different numbers, and --positive 1003 would be one of them" in said
    assert "numbers are predicted as numbers; for yes or no make a column of two values" in said
    assert "..." not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["audit", "report", "tune", "fit"])
@pytest.mark.parametrize(
    ("threshold", "said"), [(50, "did you mean 0.5?"), (-0.1, "from 0 to 1"), ("nan", "from 0 to 1")]
)
def test_a_threshold_that_no_probability_is_above_is_refused_before_any_work(verb, people, tmp_path, threshold, said):
    told = refuse(verb, people, *ROLES, "--threshold", threshold, "-o", tmp_path / "out", code=2)
    assert f"--threshold {threshold}: scores are probabilities" in told
    assert said in told
    assert "..." not in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["audit", "report", "tune", "fit"])
@pytest.mark.parametrize("target", ["hired", "rating"])
def test_a_mistyped_model_suggests_the_right_one_before_any_work(verb, people, tmp_path, target):
    roles = ["-p", "sex", "--ignore", "team", "--target", target]
    told = refuse(verb, people, *roles, "--estimator", "boostng", "-o", tmp_path / "out")
    assert "got 'boostng', did you mean 'boosting'?" in told
    assert "..." not in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["audit", "report", "tune"])
def test_a_threshold_of_a_predicted_number_is_no_part_of_a_search(verb, people, tmp_path):
    roles = ["-p", "sex", "--target", "rating", "--ignore", "hired", "--ignore", "team"]
    told = refuse(verb, people, *roles, "--threshold", 0.5, "-o", tmp_path / "out", code=2)
    assert "'rating' is a number" in told
    assert "give it to `ifair decide --threshold`" in told
    assert "..." not in told


def test_a_code_of_ten_numbers_can_be_the_positive_outcome(tmp_path):
    frame = applicants()
    frame["grade"] = np.arange(len(frame)) % 10
    frame.to_csv(tmp_path / "people.csv", index=False)
    roles = Roles(protected=("sex",), target="grade", positive="3")
    assert read_people(tmp_path / "people.csv", roles)[0].outcome.sum() == len(frame) / 10


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("evidence.json", '{"format": "other"}', "is not what `ifair audit --output` writes"),
        ("model.ifair", "PK", "model.ifair is neither CSV"),
    ],
)
def test_a_file_that_is_neither_evidence_nor_a_table_is_refused(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    assert said in refuse("report", tmp_path / name, "-o", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_choice_like_none_is_answered_with_all(evidence, tmp_path):
    said = refuse("report", evidence, "--card", "--choice", "zzz", "-o", tmp_path / "report.html")
    assert "no point 'zzz'" in said
    assert all(name in said for name in small_evidence()["choices"])
    assert all(f"{point['label']} = {point['id']}" in said for point in small_evidence()["points"])
    assert not (tmp_path / "report.html").exists()


def test_a_choice_without_a_card_is_refused(evidence, people, tmp_path):
    for source in ([evidence], [people, *ROLES]):
        said = refuse("report", *source, "--choice", "fairest", "-o", tmp_path / "report.html", code=2)
        assert "give --card too" in said
        assert "..." not in said
        assert not (tmp_path / "report.html").exists()


def test_the_page_is_kept_where_only_the_audit_tells_that_a_choice_means_nothing(people, tmp_path, monkeypatch):
    verb = import_module("ifair.cli.report")
    monkeypatch.setattr(verb, "gather_evidence", lambda *_, **__: small_evidence())
    html, kept = tmp_path / "report.html", tmp_path / "evidence.json"
    said = refuse("report", people, *ROLES, "--card", "--choice", "zzz", "-o", html)
    assert "no point 'zzz'" in said
    assert "A = full" in said
    assert f"The page is {html}, the evidence {kept}" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence.json", "people.csv", "report.html"]
    assert json.loads(kept.read_text())["choices"] == small_evidence()["choices"]


def test_the_verbs_are_thin(monkeypatch, people):
    """The command hands over what was asked for, and prints what came back."""
    asked = {}

    def evidence(records, **options):
        asked.update(options, records=len(records), source=records.source)
        return small_evidence()

    monkeypatch.setattr("ifair.audit.evidence", evidence)
    do("audit", people, *ROLES, "--id", "person", "--unfavourable", "--seed", 5, "--people", 50)
    assert asked["records"] == 240
    assert asked["source"] == str(people)
    assert (asked["seed"], asked["most_people"], asked["higher_is_better"]) == (5, 50, False)
    assert asked["ids"][3] == "p003"


@pytest.mark.parametrize(("group", "warned"), [((), True), (("sex=f",), False)])
def test_a_protected_group_of_most_people_that_nobody_named_is_doubted(tmp_path, capsys, group, warned):
    rows = [
        (sex, country, years, "ny"[years > 15]) for years in range(30) for sex in "fm" for country in ("NA", "ZA", "BW")
    ]
    lines = ["sex,country,years,hired", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    roles = Roles(protected=("sex", "country"), target="hired", positive="y", group=group)
    people, _ = read_people(tmp_path / "people.csv", roles)
    assert people.group.mean() == pytest.approx(1 / 2 if group else 5 / 6)
    assert ("83% of all people are the protected group" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(("given", "choice"), [("fairest", "fairest"), ("most useful", "most_useful"), ("D", "D")])
def test_a_card_of_the_chosen_point_is_written_beside_the_report(evidence, tmp_path, given, choice):
    html, *cards = (tmp_path / f"report.{ending}" for ending in ("html", "card.md", "card.html"))
    facts = ask("report", evidence, "-o", html, "--card", "--choice", given)
    chosen = find_point(small_evidence(), choice)
    assert facts["report"] == {"path": str(html), "bytes": html.stat().st_size}
    assert [entry["path"] for entry in facts["cards"]] == [str(card) for card in cards]
    assert facts["choice"]["id"] == chosen["id"]
    texts = [card.read_text(encoding="utf-8") for card in cards]
    assert chosen["name"] in texts[0].splitlines()[0]
    assert chosen["name"] in texts[1]


@pytest.fixture(scope="module")
def in_use(tmp_path_factory):
    """A table with the scores of a model that somebody uses, and the evidence about it."""
    folder = tmp_path_factory.mktemp("in_use")
    frame = applicants().drop(columns=["rating", "team"])
    rng = np.random.default_rng(0)
    frame["ours"] = (0.5 * frame["hired"] + 0.2 * (frame["sex"] == "male") + 0.3 * rng.random(len(frame))).round(3)
    frame["invited"] = np.where(frame["ours"] > 0.6, "yes", "no")
    frame["person"] = range(len(frame))
    frame.to_csv(folder / "people.csv", index=False)
    roles = ["--protected", "sex", "--target", "hired", "--id", "person"]
    arguments = [*roles, "--ignore", "invited", "--scores", "ours", "--threshold", 0.6, "--resamples", 10, "--jobs", 1]
    with few_candidates():
        done = do("audit", folder / "people.csv", *arguments, "-o", folder / "evidence.json")
    assert "the model in use, column ours" in done.stdout
    assert "left out: the flip test of the model in use" in done.stdout
    assert "whether “the model in use, column ours” learned from them is not known here: if it did" in done.stdout
    return folder, frame, json.loads((folder / "evidence.json").read_text())


def test_a_card_can_be_about_a_point_whose_id_has_a_space(in_use, tmp_path):
    folder, _, found = in_use
    [point] = [p for p in found["points"] if p["family"] == "existing"]
    assert " " in point["id"]
    facts = ask("report", folder / "evidence.json", "-o", tmp_path / "page.html", "--card", "--choice", point["id"])
    assert facts["choice"]["id"] == point["id"]


def test_a_model_in_use_is_judged_by_what_it_said(in_use):
    """Of people whose scores and outcomes are those of the table."""
    _, frame, found = in_use
    [point] = [p for p in found["points"] if p["family"] == "existing"]
    people = frame.set_index("person").loc[[int(i) for i in found["people"]["ids"]]]
    assert (point["people"]["score"], point["threshold"]) == (people["ours"].tolist(), 0.6)
    assert found["people"]["truth"] == people["hired"].tolist()
    check_measures(found, rounding=5e-3)
    auc = roc_auc_score(people["hired"], people["ours"])
    assert point["test"]["utility"]["estimate"] == pytest.approx(auc, abs=1e-5)
    assert point["flip"] is None
    assert found["choices"] == {"balanced": point["id"]}
    assert found["verdict"]["choice"] == point["id"]
    assert {p["role"] for p in found["points"]} >= {"full", "deleted", "penalised"}
    assert "ours" not in {a["name"] for a in found["people"]["attributes"]}


def test_no_rule_is_said_to_have_chosen_a_model_in_use(in_use):
    _, _, found = in_use
    for text in (audit_text(found), summary_text(found)):
        (row,) = [line for line in text.splitlines() if "  the model in use, column ours" in line]
        assert row.endswith("  in use")
        assert "balanced" not in text


def test_decisions_in_use_are_read_by_the_value_that_is_positive(in_use, tmp_path):
    frame = in_use[1]
    frame.assign(hired=frame["hired"].map({1: "yes", 0: "no"})).to_csv(tmp_path / "words.csv", index=False)
    roles = ["-p", "sex", "--target", "hired", "--positive", "yes", "--ignore", "person", "--ignore", "ours"]
    # That a column is no attribute may be said twice.
    arguments = [*roles, "--ignore", "invited", "--decisions", "invited", "--resamples", 10, "--jobs", 1]
    with few_candidates():
        done = do("report", tmp_path / "words.csv", *arguments, "-o", tmp_path / "words.html")
    assert "full data" in done.stderr
    # Of two reports in one folder each has evidence of its own.
    found = json.loads((tmp_path / "words.evidence.json").read_text())
    verdict = found["verdict"]
    cautions = "".join(f"Caution: {one['text']}\n" for one in verdict["besides"])
    assert done.stdout.startswith(f"{verdict['sentence']}\n{cautions}{verdict['scope']}\n\nReport: ")
    # Without --id rows are counted from 1.
    assert found["people"]["truth"] == frame["hired"].iloc[[int(i) - 1 for i in found["people"]["ids"]]].tolist()
    [point] = [p for p in found["points"] if p["family"] == "existing"]
    truth, decided = found["people"]["truth"], point["people"]["score"]
    assert set(decided) == {0.0, 1.0}
    assert (found["data"]["positive"], found["data"]["negative"]) == ("yes", "no")
    assert point["test"]["accuracy"]["estimate"] == pytest.approx(accuracy_score(truth, decided), abs=1e-5)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda f: f.assign(ours=100 * f["ours"]), ["--scores", "ours"], "--threshold, --rate or --decisions"),
        (
            lambda f: f.assign(ours=f["ours"].where(f.index != 4)),
            ["--scores", "ours"],
            "'ours' is empty in row 5: leave out people it says nothing about, for example with: python -c",
        ),
        (
            lambda f: f.assign(hired=f["hired"].map({1: "yes", 0: "no"}), ours=f["hired"]),
            ["--positive", "yes", "--decisions", "ours"],
            "Known: 0, 1. Decisions must be written like the values of the target 'hired', so that 'yes' is",
        ),
        (lambda f: f, ["--scores", "invited"], "in row 1 is no number"),
        (lambda f: f, ["--scores", "our"], "did you mean 'ours'?"),
        (lambda f: f, ["--scores", "our"], "no column 'our' for --scores"),
        (lambda f: f, ["--decisions", "invitd"], "no column 'invitd' for --decisions, did you mean 'invited'?"),
    ],
)
def test_scores_that_cannot_be_judged_are_refused(in_use, tmp_path, change, arguments, message):
    change(in_use[1]).to_csv(tmp_path / "people.csv", index=False)
    said = refuse("audit", tmp_path / "people.csv", "-p", "sex", "--target", "hired", "--ignore", "person", *arguments)
    assert message in said
