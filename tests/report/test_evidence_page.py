"""The report of an audit: one file, safe whatever stands in the data. What it looks like is tested in a browser."""

import base64
import copy
import hashlib
import json
import re
import zlib
from html import unescape

import numpy as np
import pytest
from parsed_page import ParsedPage

from ifair.report.evidence_page import embed_data, fit_people, pack, page, separate_people
from ifair.report.terminal import audit_text, summary_text
from ifair.results import ResultsError

from samples import HOSTILE, hostile_evidence, small_evidence


@pytest.fixture(scope="module")
def html():
    return page(small_evidence())


def test_the_policy_allows_the_pages_own_scripts_and_nothing_else(html):
    found = ParsedPage(html)
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    run = [text for attributes, text in found.scripts if "type" not in attributes]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert len(run) == 1
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


def test_nothing_is_loaded(html):
    for tag, attributes in ParsedPage(html).tags:
        assert "src" not in attributes
        assert tag not in ("iframe", "object", "embed", "img")
        assert attributes.get("href", "#").startswith(("#", "data:"))


def test_the_data_come_back_from_the_page_as_they_were(html):
    blocks = {a["id"]: text for a, text in ParsedPage(html).scripts if "id" in a}
    summary, people = separate_people(small_evidence())
    assert json.loads(blocks["evidence"]) == summary
    assert json.loads(zlib.decompress(base64.b64decode(blocks["people-data"]))) == people
    rebuilt = copy.deepcopy(summary) | {"people": {k: v for k, v in people.items() if k != "points"}}
    for point in rebuilt["points"]:
        point["people"] = people["points"][point["id"]]
    assert rebuilt == small_evidence()


def test_hostile_strings_change_nothing_but_text(html):
    hostile = page(hostile_evidence())
    quiet, loud = ParsedPage(html), ParsedPage(hostile)
    assert [tag for tag, _ in loud.tags] == [tag for tag, _ in quiet.tags]
    assert len(loud.scripts) == len(quiet.scripts) == 3
    title = re.search(r"<title>(.*?)</title>", hostile, re.S)[1]
    assert unescape(title) == f"Fairness report: {HOSTILE[0]}"
    assert "<" not in title


@pytest.mark.parametrize("text", [*HOSTILE, "<!--<script>", "\u2028 & ' \" \\"])
def test_data_in_a_script_element_cannot_end_it(text):
    block = embed_data({text: [text]})
    assert not set("<>&\u2028") & set(block)
    assert json.loads(block) == {text: [text]}
    assert json.loads(zlib.decompress(base64.b64decode(pack(text)))) == text


def crowded(attributes, n=10_000):
    """Evidence with so many people of such attributes, and twelve points."""
    rng = np.random.default_rng(0)
    found = copy.deepcopy(small_evidence())
    people = found["people"]
    people["ids"] = [f"person {i}" for i in range(n)]
    people["attributes"] = attributes(rng, n)
    people["group"] = people["truth"] = rng.integers(0, 2, n).tolist()
    people["neighbours"] = rng.integers(0, n, (n, 10)).tolist()
    people["distances"] = np.sort(rng.gamma(9, 0.5, (n, 10)).round(2)).tolist()
    first = found["points"][0]
    flip = {"score": rng.random(n).round(3).tolist(), "to": rng.integers(0, 4, n).tolist()}
    plain = [{"score": rng.random(n).round(3).tolist(), "flip": None, "alternatives": []} for _ in range(12)]
    found["points"] = [{**first, "id": f"{first['id']}{i or ''}", "people": one} for i, one in enumerate(plain)]
    found["choices"] = {}
    for point in found["points"][:4]:
        point["people"] |= {"flip": flip, "alternatives": [{"sex": str(i)} for i in range(4)]}
    return found


def short_attributes(rng, n):
    numbers = [{"name": f"number {i}", "values": rng.integers(0, 10_000, n).tolist()} for i in range(6)]
    return numbers + [choice(f"choice {i}", list("abcdefgh"), rng, n) for i in range(14)]


def long_attributes(rng, n):
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    texts = [["".join(row) for row in rng.choice(letters, (n, 40))] for _ in range(6)]
    floats = [{"name": f"float {i}", "values": (1000 * rng.normal(size=n)).round(6).tolist()} for i in range(8)]
    return [
        *(choice(f"text <{i}>", labels, rng, n) for i, labels in enumerate(texts)),
        *floats,
        *(choice(f"choice {i}", list("abcdefgh"), rng, n) for i in range(6)),
    ]


def choice(name, labels, rng, n):
    return {"name": name, "labels": labels, "codes": rng.integers(0, len(labels), n).tolist()}


def test_ten_thousand_people_fit_into_two_megabytes():
    html = page(crowded(short_attributes))
    assert len(html.encode()) < 2_100_000
    assert 'id="not-shown"' not in html


def test_long_texts_are_cut_and_what_is_left_out_is_said(monkeypatch):
    monkeypatch.setattr("ifair.report.evidence_page.MOST_BYTES", 450_000)
    html = page(crowded(long_attributes, 2_000))
    assert len(html.encode()) < 460_000
    said = unescape(re.search(r'id="not-shown">(.*?)</p>', html, re.S)[1])
    assert "Texts are cut to 12 characters" in said
    blocks = {a["id"]: text for a, text in ParsedPage(html).scripts if "id" in a}
    people = json.loads(zlib.decompress(base64.b64decode(blocks["people-data"])))
    shown = {a["name"]: a for a in people["attributes"]}
    missing = {f"text <{i}>" for i in range(6)} - set(shown)
    assert missing
    assert all(name in said for name in missing)
    assert not any(name in said for name in shown)
    assert all(len(label) <= 12 for a in shown.values() for label in a.get("labels", []))
    assert len(people["ids"]) == len(people["neighbours"]) == 2_000


def test_numbers_keep_the_four_digits_that_are_shown():
    people = {"attributes": [{"name": "n", "values": [1234.5678, -0.000123456, 1234567, 1234567.0, None]}]}
    text, said = fit_people(people, 10_000)
    kept = json.loads(zlib.decompress(base64.b64decode(text)))["attributes"][0]["values"]
    assert kept == [1235.0, -0.0001235, 1234567, 1234567.0, None]
    assert said == ""


def test_texts_are_cut_no_more_than_room_demands():
    labels = [f"{i:03d}" + "abcdefghij" * 9 for i in range(200)]
    people = {"attributes": [{"name": "t", "labels": labels, "codes": list(range(200))}]}
    whole = pack(people)
    assert fit_people(people, len(whole)) == (whole, "")
    text, said = fit_people(people, len(whole) - 1)
    cut = json.loads(zlib.decompress(base64.b64decode(text)))["attributes"][0]["labels"]
    assert cut == [label[:39] + "…" for label in labels]
    assert said == "Texts are cut to 40 characters to keep this page small."


def test_what_is_not_evidence_is_refused():
    for wrong in ({}, {"format": "ifair-evidence", "version": 1}, []):
        with pytest.raises(ResultsError, match="ifair audit"):
            page(wrong)


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_the_terminal_shows_every_point_and_choice(task):
    found = small_evidence(task)
    text = audit_text(found)
    for point in found["points"]:
        assert f"{point['test']['utility']['estimate']:.3f}" in text
        assert point["name"] in text
    for name in found["choices"]:
        assert name.replace("_", " ") in text
    assert "columns deleted" in text
    assert text.endswith(f"{found['verdict']['sentence']}\n{found['verdict']['scope']}")
    verdict = {**found["verdict"], "besides": [{"tag": "known", "text": "Everybody knows."}]}
    assert f"{verdict['sentence']}\nCaution: Everybody knows.\n" in summary_text({**found, "verdict": verdict})


def test_the_short_table_has_deletion_with_every_penalty_and_what_to_be_careful_about():
    found = small_evidence("classification")
    rival = {**found["points"][1], "id": "x", "role": "rival", "family": "masked", "name": "deleted, C = 7"}
    rival["cautions"] = [{"tag": "nearly one decision", "text": "Nearly all."}]
    other = {**rival, "id": "y", "family": "lfr", "name": "LFR, C = 7"}
    lines = summary_text({**found, "points": [*found["points"], rival, other]}).splitlines()
    (line,) = [line for line in lines if "deleted, C = 7" in line]
    assert line.endswith("nearly one decision")
    assert not any("LFR, C = 7" in line for line in lines)
