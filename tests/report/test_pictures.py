"""Drawings as SVG."""

import re
from xml.etree import ElementTree

from ifair.report.pictures import new_figure, svg


def draw(n=30):
    figure = new_figure(3.0)
    axes = figure.add_subplot()
    axes.plot([0.1 * i for i in range(n)], [0.37 * i * i for i in range(n)], "o", color="red")
    axes.set_xticks([0.525, 1.575])
    return figure


def test_a_drawing_is_the_same_every_time_and_only_its_coordinates_are_rounded_not_what_is_written():
    drawing = svg(draw(), "one")
    assert drawing == svg(draw(), "one")
    assert drawing.startswith("<svg")
    assert not re.search("metadata|matplotlib", drawing, re.I)
    assert ">0.525<" in drawing
    assert ">1.575<" in drawing
    assert not [tag for tag in re.findall("<[^>]*>", drawing) if re.search(r"\.\d{3}", tag)]


def test_names_inside_do_not_clash_between_drawings_and_every_use_is_defined():
    one, two = svg(draw(), "one"), svg(draw(), "two")
    names = [re.findall(r' id="([^"]+)"', drawing) for drawing in (one, two)]
    assert names[0]
    assert not set(names[0]) & set(names[1])
    for drawing, defined in zip((one, two), names):
        assert len(defined) == len(set(defined))
        assert set(re.findall(r'(?:href="|url\()#([^")]+)', drawing)) <= set(defined)


def test_a_drawing_is_well_formed_and_a_marker_costs_little():
    ElementTree.fromstring(svg(draw(), "one"))
    extra = len(svg(draw(230), "one")) - len(svg(draw(30), "one"))
    assert extra / 200 < 60  # bytes
    assert 'style="fill: #ff0000' in svg(draw(), "one")  # the group's, once
