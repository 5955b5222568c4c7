"""The report in a real browser: what somebody who must decide does with it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from ifair.report import page
from ifair.report.comparison import find_point

from samples import AWKWARD, HOSTILE, hostile_evidence, lonely_evidence, small_evidence


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
    return find_point(small_evidence(), id_)


@pytest.mark.parametrize("name", ["classification", "regression", "ranking", "hostile", "lonely", "cautious"])
def test_a_page_opens_without_a_word_from_the_console_and_asks_for_nothing(chromium, pages, name):
    chromium.plain().open(pages[name])
    found = {"hostile": hostile_evidence, "lonely": lonely_evidence, "cautious": small_evidence}.get(
        name, lambda: small_evidence(name)
    )()
    for p in found["points"]:
        choose(chromium, p["id"])
    assert re.findall(r"NaN|undefined|null|\[object", chromium.text("main")) == []
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
    parts = ("#shown-for", "#compare", "#trade-off-chart", "#groups-chart", "#worst", "#person", "#certificate-words")
    choose(report, "ifair-3-0.1")
    before = {part: report.js("return document.querySelector(arguments[0]).innerHTML", part) for part in parts}
    choose(report, id_)
    wanted = point(id_)
    for name in ("utility", "ranks", "matched"):
        assert f"{wanted['test'][name]['estimate']:.3f}" in report.text("#compare")
    for part, text in before.items():
        assert report.js("return document.querySelector(arguments[0]).innerHTML", part) != text, part
    assert report.js("return document.querySelector('#archetypes').hidden") == (wanted["archetypes"] is None)
    assert report.text("#status").startswith(f"Shown for {wanted['label']}")
    assert wanted["name"] in report.text("#shown-for")


def test_the_page_opens_with_the_verdict_the_front_the_largest_gap_and_all_points(report):
    found = small_evidence()
    assert report.text("#sentence") == found["verdict"]["sentence"]
    assert report.text("#rule") == found["verdict"]["rule"]
    assert report.text("#scope") == found["verdict"]["scope"]
    assert report.js("return document.documentElement.dataset.shown") == found["verdict"]["choice"]
    worth = report.js("return document.querySelector('#verdict-box').classList.contains('worth')")
    assert worth == found["verdict"]["worth"]
    drawn = report.js("return document.querySelector('#trade-off-chart .front').getAttribute('points')")
    places = [tuple(map(float, pair.split(","))) for pair in drawn.split()]
    assert len(places) == 2 * len(found["front"])
    assert all(b[0] >= a[0] - 0.1 and b[1] >= a[1] - 0.1 for a, b in pairwise(places))  # downwards is larger
    assert report.count("#trade-off-chart .band") == 1
    gaps = {g["partition"]: g["parity"] for g in point(found["verdict"]["choice"])["groups"] if g["parity"] is not None}
    in_order = sorted(gaps, key=gaps.get, reverse=True)
    assert report.text("#groups-words").startswith(f"By “{in_order[0]}”")
    named = report.texts("#gaps tbody th")
    assert [name.split(" (")[0] for name in named] == in_order
    assert "protected group (sex is female or origin is south)" in named
    assert not report.js("return document.querySelector('#other-peers').hidden")
    for row, p in zip(report.texts("#points tbody tr"), found["points"], strict=True):
        assert f"{p['label']} · {p['name']}" in row
        assert f"{p['test']['utility']['estimate']:.3f}" in row
        graded = next(text for text in report.texts("#other-peers-table tr") if text.startswith(f"{p['label']} · "))
        for name, one in p["graders"].items():
            assert name == "similarity" or f"{one['ranks']:.3f}".replace("-", "−") in graded
    choose(report, "masked")
    assert "what anything else has to beat" in report.text("#sentence")


def test_full_data_deletion_and_ours_stand_beside_each_other_with_the_words_of_the_evidence(report):
    choose(report, "ifair-4-0.9")
    ours = point("ifair-4-0.9")
    rows = report.js(
        "return [...document.querySelectorAll('#compare tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    head = report.texts("#compare thead th")
    roles = [p for p in small_evidence()["points"] if p["role"] in ("full", "deleted", "penalised")]
    named = [*(p["label"] for p in roles), ours["label"]]
    assert [name.split(" · ")[0] for name in head[1 : len(named) + 1]] == named
    against = [p for p in roles if p["role"] != "full"]
    assert head[len(named) + 1 :] == [f"{ours['label']} against {p['label']}" for p in against]
    gap = f"gap:{ours['groups'][0]['partition']}"
    keys = ["utility", "ranks", "matched", "accuracy", "positive", "flip", gap, "leak"]
    assert len(rows) == len(keys)
    for row, name in zip(rows, keys):
        for cell, p in zip(row[len(named) + 1 :], against):
            assert cell.startswith(ours["differences"][p["role"]][name]["word"]), name


def test_a_click_on_the_picture_chooses_the_point(report):
    from selenium.webdriver.common.action_chains import ActionChains

    choose(report, "ifair-3-0.1")
    seen = set()
    for p in small_evidence()["points"]:
        # Of points at the same place a click goes from one to the next.
        for _ in small_evidence()["points"]:
            mark = report.js(
                "return [...document.querySelectorAll('#trade-off-chart .pick')]"
                ".find(m => m.dataset.points.split(' ').includes(arguments[0])).querySelector('.mark')",
                p["id"],
            )
            report.js("arguments[0].scrollIntoView({block: 'center'})", mark)
            ActionChains(report.driver).move_to_element(mark).click().perform()
            seen.add(report.js("return document.querySelector('#point').value"))
            if p["id"] in seen:
                break
    assert seen == {p["id"] for p in small_evidence()["points"]}


def test_every_point_is_named_in_the_picture_no_label_covers_another_and_ticks_stand_at_their_numbers(report, pages):
    for width in (1200, 390):
        report.width(width)
        report.open(pages["classification"])
        drawn = report.js("return [...document.querySelectorAll('#trade-off-chart .pick')].map(m => m.dataset.points)")
        assert {id_ for ids in drawn for id_ in ids.split()} == {p["id"] for p in small_evidence()["points"]}
        boxes = report.js(
            "return [...document.querySelectorAll('#trade-off-chart .pick text')].map(t => {"
            "const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom, t.textContent]})"
        )
        labels = {p["label"] for p in small_evidence()["points"]}
        assert labels <= {word.strip(",") for box in boxes for word in box[4].split()}
        for i, a in enumerate(boxes):
            assert 0 <= a[0] < a[2] <= width + 1
            for b in boxes[:i]:
                assert not (a[0] < b[2] - 4 and b[0] < a[2] - 4 and a[1] < b[3] - 4 and b[1] < a[3] - 4), (a, b)
        away = report.js(
            """
            return [...document.querySelectorAll('.chart .tick')].map((t) => {
              const box = t.getBoundingClientRect(), own = t.ownerSVGElement.getBoundingClientRect();
              const scale = own.width / t.ownerSVGElement.viewBox.baseVal.width;
              return Math.abs(box.left + box.width / 2 - own.left - scale * Number(t.dataset.at));
            })
            """
        )
        assert len(away) >= 4
        assert max(away) < 1.5


@pytest.mark.parametrize("name", ["classification", "regression", "ranking", "cautious"])
def test_no_table_runs_off_on_a_desk_and_the_page_is_short(chromium, pages, name):
    chromium.plain().width(1280)
    chromium.open(pages[name])
    assert chromium.js("return document.documentElement.scrollHeight") < 5000
    chromium.js("for (const d of document.querySelectorAll('details')) d.open = true")
    wide = (
        "return [...document.querySelectorAll('.scroll')].filter(t => t.scrollWidth > t.clientWidth + 1).map(t => t.id)"
    )
    assert chromium.js(wide) == []


def test_a_point_at_chance_is_not_praised(chromium, pages):
    chromium.plain().open(pages["cautious"])
    choose(chromium, "ifair-3-0.1")
    # Once.
    assert "not clearly better than chance" in chromium.text("#sentence")
    assert "not clearly better than chance" not in chromium.text("#cautions")
    assert "consistency is easy when nearly all get the same decision" in chromium.text("#cautions")
    assert chromium.count("#compare .better") == 0
    choose(chromium, "full")
    assert chromium.text("#cautions") == ""


def test_at_most_five_archetypes_have_a_sentence_and_all_are_in_the_appendix(report):
    choose(report, "ifair-4-0.9")
    rows = point("ifair-4-0.9")["archetypes"]["rows"]
    said = report.texts("#archetypes li")
    assert len(said) == min(5, len(rows))
    for sentence, row in zip(said, rows):
        assert sentence.startswith(f"{100 * row[0]:.0f}\u00a0% of everybody")
        assert ("1 person " in sentence) == (row[1] == 1)
    assert f"{len(rows)} archetypes" in report.text("#learned-words")
    assert report.count("#archetype-table tbody tr") == len(rows)


def show_person(browser, i, evidence=None):
    """Find a person by id."""
    id_ = (evidence or small_evidence())["people"]["ids"][i]
    box = browser.find_element("id", "who")
    box.clear()
    box.send_keys(id_)
    browser.find_element("css selector", "#find button").click()
    assert browser.text("#person-title") == f"Person {id_}"


def test_a_person_stands_with_decisions_peers_and_why_they_are_peers(report):
    people, ours = small_evidence()["people"], point("ifair-4-0.9")
    i = next(i for i, near in enumerate(people["neighbours"]) if len(near) > 2)
    choose(report, "ifair-4-0.9")
    show_person(report, i)
    shown = report.text("#person")
    for p in (point("full"), point("masked"), ours):
        assert f"{p['people']['score'][i]:.3f}" in shown
    near = report.texts("#person [aria-label=Peers] tbody th")
    assert near == [people["ids"][j] for j in people["neighbours"][i]]
    jobs = next(a for a in people["attributes"] if a["name"] == "job")
    why = report.texts("#person [aria-label=Peers] tbody td:nth-child(2)")
    for j, words in zip(people["neighbours"][i], why):
        job = jobs["labels"][jobs["codes"][j]]
        same = jobs["codes"][i] == jobs["codes"][j]
        assert re.search(r"same [^;]*job|the same in everything", words) if same else f"job {job}" in words
        assert ("differs in: " in words) == ("the same in everything" not in words)
    assert "by construction" in shown
    score = ours["people"]["score"][i]
    assert (
        f"The score is {score:.3f}, and 0.50 decides: {abs(0.5 - score):.3f} {'less' if score > 0.5 else 'more'}"
        in shown
    )
    choose(report, "full")
    flip = point("full")["people"]["flip"]
    other = point("full")["people"]["alternatives"][flip["to"][i]]
    assert f"“sex” were {other['sex']}" in report.text("#person")
    assert f"{flip['score'][i]:.3f}" in report.text("#person")


def test_who_has_no_close_peers_is_told_so(report):
    near = small_evidence()["people"]["neighbours"]
    alone = [i for i, found in enumerate(near) if not found]
    assert alone
    assert f"{len(alone)} people have no close peers" in report.text("#people-words")
    show_person(report, alone[0])
    assert "No close peers" in report.text("#person")
    assert "nothing can be said about like treatment" in report.text("#person")
    assert report.count("#person [aria-label=Peers]") == 0


def test_whom_consistent_decisions_changed_is_told_with_the_peers_that_did(report):
    changed = next((p for p in small_evidence()["points"] if p.get("changed")), None)
    if changed is None:
        pytest.skip("nobody's decision was changed")
    choose(report, changed["id"])
    one = changed["changed"][0]
    show_person(report, one["person"])
    assert f"the score moves from {one['before']:.3f} to {one['after']:.3f}" in report.text("#person")
    for j in one["peers"]:
        assert small_evidence()["people"]["ids"][j] in report.text("#person ul")


def test_people_are_found_by_what_is_known_of_them(report):
    report.find_element("id", "who").send_keys("weld")
    jobs = next(a for a in small_evidence()["people"]["attributes"] if a["name"] == "job")
    welders = sum(jobs["labels"][code] == "welder" for code in jobs["codes"])
    assert f"{welders} people fit" in report.text("#found")
    report.find_element("id", "who").send_keys(" nobody")
    assert report.text("#found") == "Nobody fits."
    assert report.count("#matches li") == 0


def test_neighbours_and_the_worst_treated_lead_to_their_page(report):
    report.find_element("css selector", "#worst button").click()
    worst = small_evidence()["people"]["ids"][point(small_evidence()["verdict"]["choice"])["worst"][0]["person"]]
    assert report.text("#person-title") == f"Person {worst}"
    button = report.find_element("css selector", "#person tbody button")
    name = button.text
    button.click()
    assert report.text("#person-title") == f"Person {name}"
    assert report.js("return document.activeElement.id") == "person-title"


def test_hostile_strings_are_text(chromium, pages):
    chromium.plain().open(pages["hostile"])
    script, image, braces, ending = HOSTILE
    assert any("<script>" in name for name in chromium.texts(".chart svg text"))
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
    assert chromium.count("main img, main script, main iframe") == 0
    assert chromium.count("[onerror]") == 0
    # Names that objects have of themselves are only names.
    assert all(name in chromium.text("main") for name in AWKWARD)
    assert "native code" not in chromium.text("main")
    show_person(chromium, 3, hostile_evidence())
    assert chromium.console() == []


def test_a_keyboard_is_enough_and_what_has_the_focus_can_be_seen(report):
    from selenium.webdriver.common.keys import Keys

    report.js("document.activeElement.blur(); scrollTo(0, 0)")
    press(report, Keys.TAB)
    assert report.js("return document.activeElement.className") == "skip"
    assert report.js("return document.activeElement.getBoundingClientRect().left") >= 0
    press(report, Keys.ENTER)
    assert report.js("return location.hash") == "#main"

    report.js("document.querySelector('#points').closest('details').querySelector('summary').focus()")
    press(report, Keys.ENTER, Keys.TAB, Keys.TAB)
    first = report.js("return document.activeElement.dataset.point")
    assert first == small_evidence()["points"][0]["id"]
    press(report, Keys.ENTER)
    report.until(f"document.documentElement.dataset.shown === '{first}'", "Enter did not choose the point")
    assert report.js("return document.activeElement.dataset.point") == first

    report.js("document.querySelector('#who').focus()")
    press(report, Keys.TAB)
    style = report.js("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]")
    assert style == ["solid", "3px"]
    report.js("document.querySelector('#who').focus()")
    id_ = small_evidence()["people"]["ids"][3]
    press(report, id_, Keys.ENTER)
    assert report.text("#person-title") == f"Person {id_}"
    assert report.js("return document.activeElement.id") == "person-title"


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
    assert report.count("table:not(:has(caption))") == 0
    assert report.js("return document.documentElement.lang") == "en"
    ids = report.js("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    levels = report.js("return [...document.querySelectorAll('h1,h2,h3')].map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["classification", "ranking", "hostile"])
@pytest.mark.parametrize("pixels", [320, 390])
def test_a_phone_need_not_scroll_sideways(chromium, pages, name, pixels):
    chromium.plain().width(pixels)
    chromium.open(pages[name])
    assert chromium.js("return document.documentElement.scrollWidth") == pixels


LUMINANCE = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(chromium, pages, scheme):
    chromium.plain().colour_scheme(scheme)
    chromium.open(pages["classification"])
    paper = chromium.js("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}[scheme]
    assert chromium.js(LUMINANCE) == []


def test_colours_of_ours_deletion_and_full_data_differ_in_light_and_dark_and_without_colour(report):
    """Also in brightness or shape: nobody needs to see the hue."""
    for scheme in ("light", "dark"):
        report.colour_scheme(scheme)
        fills = report.js(
            "return ['ours', 'deleted', 'full'].map(r => document.querySelector(`#groups-chart .mark.${r}`))"
            ".map(mark => getComputedStyle(mark).fill)"
        )
        assert len(set(fills)) == 3
    shapes = report.js(
        "return ['ours', 'deleted', 'full'].map(r => document.querySelector(`#groups-chart .mark.${r}`).tagName)"
    )
    assert shapes == ["circle", "path", "rect"]


def test_paper_shows_the_choice_but_no_controls(report):
    report.media("print")
    visible = "return document.querySelector(arguments[0]).checkVisibility()"
    for control in ("#bar", "#find", "#appendix details"):
        assert not report.js(visible, control), control
    for kept in ("#sentence", "#compare table", "#trade-off-chart svg", "#groups-chart svg", "#person"):
        assert report.js(visible, kept), kept
    assert report.js("return document.documentElement.scrollWidth <= innerWidth")


def test_both_outcomes_are_told_in_the_words_of_the_table(chromium, tmp_path):
    words = {"target": "loan", "positive": "granted", "negative": "refused"}
    found = {**small_evidence(), "data": {**small_evidence()["data"], **words}}
    (tmp_path / "report.html").write_text(page(found), encoding="utf-8")
    chromium.plain().open(tmp_path / "report.html")
    for truth, word in enumerate(("refused", "granted")):
        show_person(chromium, found["people"]["truth"].index(truth))
        assert f"What truly happened: “loan” is {word}." in chromium.text("#person")
        for said in chromium.texts("#person [aria-label=Decisions] td:nth-child(2)"):
            assert said in ("“loan: granted”", "“loan: refused”")


def test_on_a_phone_numbers_stand_below_the_names_of_their_points(report):
    report.width(390)
    edges = report.js(
        """
        const left = (cell) => Math.round(cell.getBoundingClientRect().left);
        const isValue = (cell, n) => n > 0 && cell.offsetParent && !cell.querySelector('.against');
        return [...document.querySelectorAll('#compare tr')].map((row) => [...row.children].filter(isValue).map(left));
        """
    )
    assert len(edges[0]) > 2
    assert all(row == edges[0] for row in edges)
    # Peers need not be scrolled for their scores and distances.
    assert report.js("const t = document.querySelector('.peers').parentNode; return t.scrollWidth <= t.clientWidth + 1")
