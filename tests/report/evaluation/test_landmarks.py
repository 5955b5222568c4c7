"""The part of the page about landmarks compares them with another start."""

from ifair.report.blocks import markdown
from ifair.report.evaluation.landmarks import section


def changed(mean, size):
    return {"change": {"mean": mean, "sd": 0, "n": 5}, "size": {"mean": size, "sd": 0, "n": 5}}


def results(landmarks, start):
    kinds = {"another start": {"AUC": start, "yNN": start}, "300 landmarks": {"AUC": landmarks, "yNN": landmarks}}
    return {"landmarks": {"compas": {"records": 1000, "kinds": kinds}}}


def test_what_landmarks_change_is_told_beside_what_the_start_changes():
    text = markdown(section(results(changed(-0.001, 0.004), changed(0.002, 0.01))))
    assert "| COMPAS | 1,000 | 300 landmarks | -0.001 / 0.004 | -0.001 / 0.004 |" in text
    assert "**COMPAS**: 300 landmarks change no measure more than another start does." in text


def test_landmarks_that_change_more_are_named_with_the_measure():
    text = markdown(section(results(changed(0.1, 0.1), changed(0.002, 0.01))))
    assert "300 landmarks change more than another start does in AUC, yNN." in text


def test_few_records_have_no_landmarks_to_judge():
    found = results(changed(0, 0), changed(0, 0))
    del found["landmarks"]["compas"]["kinds"]["300 landmarks"]
    assert "change" not in markdown(section(found)[3:])
    assert section({}) == []
