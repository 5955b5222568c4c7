"""The report in a real browser: what somebody who must decide does with it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from samples import HOSTILE, hostile_evidence, lonely_evidence, small_evidence


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(browser.driver).send_keys(key).perform()


def choose(browser, id_):
    """Choose a point in the list, as a user does."""
    from selenium.webdriver.support.select import Select

    Select(browser.find_element("id", "point")).select_by_value(id_)
    browser.until(f"document.documentElement.dataset.shown === '{id_}'", f"{id_} was not shown")


def point(id_):
    return next(p for p in small_evidence()["points"] if p["id"] == id_)


@pytest.mark.parametrize("name", ["classification", "regression", "ranking", "hostile", "lonely", "cautious"])
def test_a_page_opens_without_a_word_from_the_console_and_asks_for_nothing(chromium, pages, name):
    chromium.plain().open(pages[name])
    found = {"hostile": hostile_evidence, "lonely": lonely_evidence, "cautious": small_evidence}.get(
        name, lambda: small_evidence(name)
    )()
    for p in found["points"]:
        choose(chromium, p["id"])
    assert not {"NaN", "undefined", "null", "[object"} & set(
        re.findall(r"NaN|undefined|null|\[object", chromium.text("main"))
    )
    assert chromium.console() == []
    assert [url for url in chromium.requests() if not url.startswith(("file:", "data:"))] == []


def test_strings_are_not_run_as_code(report):
    report.js(
        """
        const script = document.createElement("script");
        script.textContent = "window.ran = 'a script'";
        document.body.append(script);
        const button = document.createElement("button");
        button.setAttribute("onclick", "window.ran = 'a handler'");
        document.body.append(button);
        button.click();
        setTimeout("window.ran = 'a string'", 0);
        window.waited = false;
        setTimeout(() => { window.waited = true; }, 50);
        """
    )
    report.until("window.waited", "time stood still")
    assert report.js("return window.ran ?? null") is None
    assert sum("Content Security Policy" in said for said in report.console()) == 3


@pytest.mark.parametrize("id_", ["full", "masked", "ifair-4-0.9"])
def test_choosing_a_point_changes_numbers_sentences_and_pictures(report, id_):
    choose(report, "ifair-3-0.1")
    before = {part: report.text(part) for part in ("#cards", "#costs", "#worst", "#certificate-words", "#person")}
    picture = report.js("return document.querySelector('#trade-off-chart').getAttribute('aria-label')")
    choose(report, id_)
    wanted = point(id_)
    assert f"{wanted['test']['utility']['estimate']:.3f}" in report.text("#cards")
    assert f"yNN {wanted['test']['yNN']['estimate']:.3f}" in report.text("#buys")
    assert wanted["name"] in report.text("#worst-words")
    for part, text in before.items():
        assert report.text(part) != text, part
    assert report.js("return document.querySelector('#trade-off-chart').getAttribute('aria-label')") != picture
    assert report.js("return document.querySelector('#learned-body').hidden") == (wanted["archetypes"] is None)
    assert report.text("#status").startswith(f"Shown for {wanted['name']}")


def test_named_choices_lead_to_their_points(report):
    for name, id_ in small_evidence()["choices"].items():
        buttons = report.find_elements("css selector", "#choices button")
        next(b for b in buttons if b.text == name.replace("_", " ")).click()
        report.until(f"document.documentElement.dataset.shown === '{id_}'", f"{name} was not shown")
        assert report.js("return document.querySelector('#point').value") == id_


def test_a_click_on_the_picture_chooses_the_point(report):
    from selenium.webdriver.common.action_chains import ActionChains

    choose(report, "ifair-3-0.1")
    marks = report.find_elements("css selector", "#trade-off-chart svg .mark-symbol path")
    seen = set()
    for i in range(len(marks)):
        mark = report.find_elements("css selector", "#trade-off-chart svg .mark-symbol path")[i]
        report.js("arguments[0].scrollIntoView({block: 'center'})", mark)
        ActionChains(report.driver).move_to_element(mark).click().perform()
        seen.add(report.js("return document.querySelector('#point').value"))
    # Also of points at the same place: two of them are.
    assert seen == {p["id"] for p in small_evidence()["points"]}


def test_points_that_coincide_are_drawn_apart_and_named(report):
    same = [p for p in small_evidence()["points"] if p["family"] in ("masked", "svd-masked")]
    assert same[0]["test"]["utility"] == same[1]["test"]["utility"]
    assert same[0]["test"]["yNN"] == same[1]["test"]["yNN"]
    assert f"“{same[0]['name']}” and “{same[1]['name']}”" in report.text("#coincide")
    boxes = report.js(
        """
        return [...document.querySelectorAll('#trade-off-chart svg .mark-symbol path[aria-roledescription="point"]')]
          .filter((e) => e.getAttribute("fill") !== "transparent").map((e) => {
            const box = e.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
          })
        """
    )
    assert len(boxes) >= len(small_evidence()["points"])
    apart = [((a - c) ** 2 + (b - d) ** 2) ** 0.5 for i, (a, b) in enumerate(boxes) for c, d in boxes[:i]]
    assert min(apart) > 10


def test_the_line_joins_all_points_that_are_counted_on_the_front(report):
    front = sum(p["on_front"] for p in small_evidence()["points"])
    assert {p["family"] for p in small_evidence()["points"] if p["on_front"]} > {"ifair"}
    assert f"the {front} points on the front, which the dashed line joins" in report.text("#trade-off-words")
    drawn = report.js("return document.querySelector('#trade-off-chart svg .mark-line path').getAttribute('d')")
    assert len(re.findall("[ML]", drawn)) == front
    tags = report.js("return [...document.querySelectorAll('#points .tag')].map(t => t.textContent)")
    assert tags.count("on the front") == front


@pytest.mark.parametrize("name", ["classification", "regression", "ranking", "cautious"])
def test_the_table_of_points_shows_all_its_columns_on_a_desk(chromium, pages, name):
    chromium.plain().open(pages[name])
    wide = "const t = document.querySelector('#points'); return [t.scrollWidth, t.clientWidth]"
    whole, seen = chromium.js(wide)
    assert whole <= seen


def test_costs_tell_the_share_of_positive_decisions_and_a_weaker_certificate(report):
    choose(report, "ifair-4-0.9")
    now, was = point("ifair-4-0.9"), point("full")
    share, before = (p["test"]["positive"]["estimate"] for p in (now, was))
    said = report.text("#costs")
    assert f"{100 * share:.1f} % of people get a positive decision" in said
    assert abs(share - before) > 0.03
    assert f"{100 * abs(share - before):.1f} percentage points {'more' if share > before else 'fewer'}" in said
    assert f"lots at this rate would give a yNN of {share**2 + (1 - share) ** 2:.3f}" in said
    assert now["certificate"]["epsilon"] > was["certificate"]["epsilon"]
    assert "The certificate is weaker" in said
    choose(report, "masked")
    assert point("masked")["certificate"]["epsilon"] < was["certificate"]["epsilon"]
    assert "certificate" not in report.text("#costs")


def test_a_point_at_chance_is_not_praised(chromium, pages):
    chromium.plain().open(pages["cautious"])
    choose(chromium, "ifair-3-0.1")
    first = chromium.js("return document.querySelector('#short h2').nextElementSibling.textContent")
    assert "not clearly better than chance" in first
    assert "consistency is easy when nearly all get the same decision" in first
    assert chromium.js("return document.querySelectorAll('#cards .better').length") == 0
    assert "not clearly better than chance" in chromium.text("#cards .card")
    tags = chromium.js("return [...document.querySelectorAll('#points .tag')].map(t => t.textContent)")
    assert tags.count("at chance") == tags.count("nearly one decision") == 1
    choose(chromium, "masked")
    assert chromium.text("#cautions") == ""
    assert chromium.js("return document.querySelectorAll('#cards .better').length") > 0


def test_every_point_of_the_picture_is_a_row_of_the_table(report):
    rows = report.js("return [...document.querySelectorAll('#points tbody tr')].map(r => r.textContent)")
    assert len(rows) == len(small_evidence()["points"])
    for row, p in zip(rows, small_evidence()["points"]):
        assert p["name"] in row
        assert f"{p['test']['utility']['estimate']:.3f}" in row


def test_a_person_is_found_by_id_with_before_and_after(report):
    people, id_ = small_evidence()["people"], small_evidence()["people"]["ids"][7]
    choose(report, "ifair-4-0.9")
    report.find_element("id", "who").send_keys(id_)
    assert "1 person fits" in report.text("#found")
    report.find_element("css selector", "#find button").click()
    assert report.text("#person-title") == f"Person {id_}"
    shown = report.text("#person")
    for when, p in (("Before", point("full")), ("After", point("ifair-4-0.9"))):
        score = p["people"]["score"][7]
        said = re.search(rf"{when}, with .*?: (positive|negative) \(([\d.]+)\)", shown)
        assert said[1] == ("positive" if score > 0.5 else "negative")
        assert float(said[2]) == pytest.approx(score, abs=0.0051)
    near = report.js("return [...document.querySelectorAll('#person tbody th')].map(c => c.textContent)")
    assert near == ["this person", *(people["ids"][j] for j in people["neighbours"][7])]
    assert "by construction" in shown
    flip = point("full")["people"]["flip"]
    other = point("full")["people"]["alternatives"][flip["to"][7]]
    assert f"“sex” were {other['sex']}" in shown
    assert f"{flip['score'][7]:.3f}" in shown


def test_people_are_found_by_what_is_known_of_them(report):
    report.find_element("id", "who").send_keys("weld")
    jobs = next(a for a in small_evidence()["people"]["attributes"] if a["name"] == "job")
    welders = sum(jobs["labels"][code] == "welder" for code in jobs["codes"])
    assert f"{welders} people fit" in report.text("#found")
    report.find_element("id", "who").send_keys(" nobody")
    assert report.text("#found") == "Nobody fits."
    assert report.js("return document.querySelectorAll('#matches li').length") == 0


def test_neighbours_and_the_worst_treated_lead_to_their_page(report):
    report.find_element("css selector", "#worst tbody button").click()
    worst = small_evidence()["people"]["ids"][point(small_evidence()["choices"]["balanced"])["worst"][0]["person"]]
    assert report.text("#person-title") == f"Person {worst}"
    button = report.find_element("css selector", "#person tbody button")
    name = button.text
    button.click()
    assert report.text("#person-title") == f"Person {name}"
    assert report.js("return document.activeElement.id") == "person-title"


def test_hostile_strings_are_text(chromium, pages):
    chromium.plain().open(pages["hostile"])
    script, image, braces, ending = HOSTILE
    for p in hostile_evidence()["points"]:
        choose(chromium, p["id"])
    for selector, shown in {
        "h1": script,
        "#lead": ending,
        "#data-columns": image,
        "#person dl": script,
        "#groups-tables": braces,
        "#leak-table": braces,
    }.items():
        assert shown in chromium.text(selector), selector
    assert script in chromium.title
    assert chromium.js("return document.querySelectorAll('main img, main script, main iframe').length") == 0
    assert chromium.js("return document.querySelectorAll('[onerror]').length") == 0
    who = chromium.find_element("id", "who")
    who.send_keys(hostile_evidence()["people"]["ids"][3])
    chromium.find_element("css selector", "#find button").click()
    assert chromium.text("#person-title") == f"Person {hostile_evidence()['people']['ids'][3]}"
    assert "49" not in chromium.text("#groups-words")
    assert chromium.console() == []


def test_pictures_show_names_as_text(chromium, pages):
    chromium.plain().open(pages["hostile"])
    names = chromium.js("return [...document.querySelectorAll('.chart svg text')].map(t => t.textContent)")
    assert any("<script>" in name for name in names)
    assert chromium.js("return document.querySelectorAll('.chart script, .chart img').length") == 0


def test_a_keyboard_is_enough(report):
    from selenium.webdriver.common.keys import Keys

    report.js("document.activeElement.blur(); scrollTo(0, 0)")
    press(report, Keys.TAB)
    assert report.js("return document.activeElement.className") == "skip"
    assert report.js("return document.activeElement.getBoundingClientRect().left") >= 0
    press(report, Keys.ENTER)
    assert report.js("return location.hash") == "#main"

    report.js("document.querySelector('#points input:checked').focus()")
    first = report.js("return document.documentElement.dataset.shown")
    press(report, Keys.ARROW_UP)
    report.until(f"document.documentElement.dataset.shown !== '{first}'", "an arrow did not choose another point")
    second = report.js("return document.documentElement.dataset.shown")
    assert report.js("return document.activeElement.value") == second
    press(report, Keys.ARROW_UP)
    report.until(f"document.documentElement.dataset.shown !== '{second}'", "focus was lost after the first arrow")

    report.js("document.querySelector('#who').focus()")
    id_ = small_evidence()["people"]["ids"][3]
    press(report, id_, Keys.ENTER)
    assert report.text("#person-title") == f"Person {id_}"
    assert report.js("return document.activeElement.id") == "person-title"


def test_what_has_the_focus_can_be_seen(report):
    from selenium.webdriver.common.keys import Keys

    report.js("document.querySelector('#who').focus()")
    press(report, Keys.TAB)
    style = report.js("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]")
    assert style == ["solid", "3px"]


def test_everything_has_a_name_for_a_screen_reader(report):
    tree = report.command("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        node["role"]["value"]
        for node in tree
        if not node.get("ignored")
        and node.get("role", {}).get("value") in {"button", "link", "combobox", "searchbox", "radio", "image", "region"}
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    assert report.js("return document.querySelectorAll('table:not(:has(caption))').length") == 0
    assert report.js("return document.documentElement.lang") == "en"
    ids = report.js("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    levels = report.js("return [...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["classification", "ranking", "hostile"])
@pytest.mark.parametrize("pixels", [320, 390])
def test_a_phone_need_not_scroll_sideways(chromium, pages, name, pixels):
    chromium.plain()
    chromium.width(pixels)
    chromium.open(pages[name])
    assert chromium.js("return document.documentElement.scrollWidth") == pixels
    chromium.plain()


LUMINANCE = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(chromium, pages, scheme):
    chromium.plain()
    chromium.colour_scheme(scheme)
    chromium.open(pages["classification"])
    paper = chromium.js("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}[scheme]
    assert chromium.js(LUMINANCE) == []
    chromium.plain()


def test_pictures_follow_a_change_of_colours(report):
    label = "document.querySelector('#trade-off-chart svg .role-axis-label text').getAttribute('fill')"
    light = report.js(f"return {label}")
    report.colour_scheme("dark")
    report.until(f"{label} !== '{light}'", "the picture stayed as it was")
    report.plain()


def test_paper_shows_the_choice_but_no_controls(report):
    report.media("print")
    visible = "return document.querySelector(arguments[0]).checkVisibility()"
    for control in ("#bar", "nav", "#find", "#points input", "details"):
        assert not report.js(visible, control), control
    for kept in ("#print-choice", "#cards", "#trade-off-chart svg", "#points table", "#data-settings"):
        assert report.js(visible, kept), kept
    assert report.text("#print-choice").startswith("Shown for: iFair")
    assert report.js("return document.documentElement.scrollWidth <= innerWidth")
    report.plain()
