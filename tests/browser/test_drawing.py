"""The picture in a real browser: sides, figures, moving nodes, large parts, files, and frames around the page."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from apsl_rules import Part, learn, network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import shown
from apsl_rules.parts import statements_on
from apsl_rules.views.page import report_html
from support.drawn import SVG, hostile_dag, large_part, part_reading
from support.graphs import random_dag
from support.viewing import Page

pytestmark = pytest.mark.slow

Opened = Callable[..., Page]

#: The places of some elements that are seen, on the screen, each with its words.
PLACES = """
return [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length)
  .map((one) => [one.textContent, one.getBoundingClientRect()])
  .map(([words, { left, top, right, bottom }]) => ({ words, left, top, right, bottom }));
"""


@pytest.fixture(scope="module")
def alarm() -> Part:
    """Learn a part of ALARM from rows, with probabilities."""
    return learn(sample(network("alarm"), 1000, seed=7), "VENTLUNG", depth=2, hidden="excluded")


@pytest.fixture(scope="module")
def large() -> Part:
    """Return a part of five hundred nodes."""
    part = large_part(random_dag(1, 560, 3.0), "v000")
    assert len(part.members) >= 500
    return part


def overlaps(places: list[dict[str, Any]], slack: float = 1.0) -> list[tuple[str, str]]:
    """Return the words that lie over each other."""
    return [
        (one["words"], other["words"])
        for one, other in combinations(places, 2)
        if one["left"] + slack < other["right"]
        and other["left"] + slack < one["right"]
        and one["top"] + slack < other["bottom"]
        and other["top"] + slack < one["bottom"]
    ]


def test_the_page_begins_with_the_answer_in_words(opened: Opened, alarm: Part) -> None:
    """Every statement stands above the picture; a name in it opens its node."""
    page = opened(alarm)
    told = page.find("#statements").text

    assert all(one.words in told for one in statements_on(alarm))
    assert page.find("#summary").rect["y"] < page.find("#drawing").rect["y"]
    page.find("#statements button").click()
    assert page.find("#panel h2").text == shown(statements_on(alarm)[0].nodes[0])


def test_causes_are_left_and_effects_right(opened: Opened, alarm: Part) -> None:
    """On the screen the target is between its causes and its effects."""
    page = opened(alarm)
    left = {place["words"]: place["left"] for place in page.run(PLACES, "#drawing .box > text")}
    causes, effects = alarm.parents_of("VENTLUNG"), alarm.children_of("VENTLUNG")

    assert causes
    assert effects
    assert all(left[shown(node)] < left["VENTLUNG"] for node in causes)
    assert all(left[shown(node)] > left["VENTLUNG"] for node in effects)


def test_figures_never_overlap(opened: Opened, alarm: Part) -> None:
    """With the fonts at hand no figure lies on another one or on a name."""
    page = opened(alarm)
    figures = page.run(PLACES, "#drawing .weight text")

    assert len(figures) > 5
    assert overlaps([*figures, *page.run(PLACES, "#drawing .box > text")]) == []


def test_settings_are_folded(opened: Opened, alarm: Part) -> None:
    """The run panel tells the part and the notes; settings and costs wait in a fold."""
    page = opened(alarm)
    page.find("#tab-run").click()

    assert "independent rows" in page.panel()
    assert "Nodes" in page.panel()
    assert "Patience" not in page.panel()
    page.find("#details > summary").click()
    assert "Patience" in page.panel()
    assert "Sweeps" in page.panel()


# --- moving nodes ----------------------------------------------------------------------------------------------------


def path_of(page: Page, first: str, second: str) -> str:
    """Return the path of an edge."""
    script = """
    const data = JSON.parse(document.getElementById('data').textContent);
    const number = data.edges.findIndex((edge) => edge.ends.every((node) => arguments[0].includes(data.names[node])));
    return document.querySelector(`#drawing [data-edge="${number}"] .stroke`).getAttribute('d');"""
    return str(page.run(script, [first, second]))


def test_a_dragged_node_takes_its_edges_along(opened: Opened, alarm: Part) -> None:
    """The drawing stays, the node and its edges move, nothing is chosen, and a button puts all back."""
    page = opened(alarm)
    at_rest, before = page.view(), path_of(page, "VENTLUNG", "MINVOL")
    other = path_of(page, "VENTLUNG", "EXPCO2")
    box = page.find("#drawing [aria-label='MINVOL'] rect")
    place = box.rect
    ActionChains(page.browser).drag_and_drop_by_offset(box, 50, 70).perform()

    assert page.view() == at_rest
    assert abs(box.rect["x"] - place["x"] - 50) <= 6
    assert abs(box.rect["y"] - place["y"] - 70) <= 6
    assert path_of(page, "VENTLUNG", "MINVOL") != before
    assert path_of(page, "VENTLUNG", "EXPCO2") == other
    assert page.edges() == part_reading(alarm)
    assert not page.all(".box.is-chosen")
    page.find("#put-back").click()
    assert path_of(page, "VENTLUNG", "MINVOL") == before
    assert not page.find("#put-back").is_displayed()


def test_a_node_moves_by_keys(opened: Opened, alarm: Part) -> None:
    """Shift with an arrow key moves the node that has the focus."""
    page = opened(alarm)
    page.run("document.querySelector('.box.is-target').focus()")
    before = page.find(".box.is-target rect").rect["y"]
    ActionChains(page.browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_DOWN).key_up(Keys.SHIFT).perform()

    assert page.find(".box.is-target rect").rect["y"] > before
    assert page.focused().get_attribute("aria-label") == "VENTLUNG"


# --- large parts -----------------------------------------------------------------------------------------------------


def test_five_hundred_nodes_are_readable_at_fit(opened: Opened, large: Part) -> None:
    """At first the near layers are shown, each name at a size that can be read, and no name on another one."""
    page = opened(large)
    names = page.run(PLACES, "#drawing .box > text")

    assert 10 < len(names) == len(page.all("#drawing .box")) <= 40
    assert min(name["bottom"] - name["top"] for name in names) >= 10
    assert overlaps(names) == []
    page.show(-1)
    names = page.run(PLACES, "#drawing .box > text")
    assert page.edges() == part_reading(large)
    assert len(page.all("#drawing .box")) == len(large.members)
    assert len(names) > 80
    assert min(name["bottom"] - name["top"] for name in names) >= 10
    assert overlaps(names, slack=4) == []
    assert page.find("#scene").rect["height"] <= page.find("#drawing").rect["height"] + 12


def test_five_hundred_nodes_stay_usable(opened: Opened, large: Part) -> None:
    """The part replays, and a node that is not drawn yet is found and brought into view."""
    page = opened(large)
    page.show(-1)
    page.run("const s = document.getElementById('slider'); s.value = s.max / 2; s.dispatchEvent(new Event('input'))")
    assert 0 < len(page.edges()) < len(large.edges)
    page.show(0)
    far = shown(max(large.members, key=lambda node: (large.distances[node], str(node))))
    assert not page.all(f"#drawing [aria-label='{far}']")
    page.press("/")
    page.press(far, Keys.ENTER)

    assert page.focused().get_attribute("aria-label") == far
    frame, box = page.find("#drawing").rect, page.focused().rect
    assert frame["x"] < box["x"] < frame["x"] + frame["width"]
    assert page.find("#panel h2").text == far


def test_layers_unfold_from_a_node(opened: Opened, large: Part) -> None:
    """A node tells how many neighbours are not drawn; a click, or the button in its panel, shows them."""
    page = opened(large)
    first = len(page.all("#drawing .box"))
    page.run("document.querySelector('#drawing .more-here').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    second = len(page.all("#drawing .box"))
    assert second > first

    page.show(0)
    folded = page.find("#drawing .box:has(.more-here)")
    name = folded.get_attribute("aria-label")
    page.run("arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", folded)
    page.find("#panel .more button").click()
    assert len(page.all("#drawing .box")) == second
    assert page.focused().get_attribute("aria-label") == name


def test_the_minimap_shows_where_one_is(opened: Opened, large: Part) -> None:
    """It is there when not all is seen, and a click on it goes there."""
    page = opened(large)
    page.show(-1)
    assert not page.find("#minimap").is_displayed()
    for _ in range(8):
        page.find("#closer").click()
    assert page.find("#minimap").is_displayed()
    before = page.view()
    size = page.find("#minimap").rect
    map_ = page.find("#minimap")
    ActionChains(page.browser).move_to_element_with_offset(map_, -int(size["width"]) // 3, 0).click().perform()

    assert page.view()[0] > before[0]
    assert page.view()[2] == before[2]
    page.find("#fit").click()
    assert not page.find("#minimap").is_displayed()


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [learn(network("asia"), "lung", depth=2), learn(hostile_dag(), 7, depth="max")])
def test_the_drawing_is_saved_as_svg_and_png(opened: Opened, browser: Chrome, part: Part, tmp_path: Path) -> None:
    """Both files hold the whole drawing at its own size; the strict policy of the page stays, and is not breached."""
    folder = tmp_path / "saved"
    folder.mkdir()
    allowed = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
    page = opened(part)
    page.find("#save-svg").click()
    page.find("#save-png").click()
    is_done = lambda _: {one.suffix for one in folder.iterdir()} == {".svg", ".png"}  # noqa: E731 - said once
    WebDriverWait(browser, 20).until(is_done)

    drawn = ET.fromstring(next(folder.glob("*.svg")).read_text("utf-8"))  # noqa: S314 - our own text
    words = {one.text for one in drawn.iter(f"{SVG}text")}
    labels = page.run("return [...document.querySelectorAll('#drawing .box > text')].map((one) => one.textContent)")
    assert words >= set(labels)
    assert not list(drawn.iter(f"{SVG}script"))
    wide, high = (float(drawn.attrib[name]) for name in ("width", "height"))
    head = next(folder.glob("*.png")).read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:24]) == (round(2 * wide), round(2 * high))


# --- inside another page ---------------------------------------------------------------------------------------------


def test_a_page_around_it_hears_what_is_chosen(browser: Chrome, alarm: Part, tmp_path: Path) -> None:
    """In a frame the report tells each choice to the page around it, and chooses the edge that it is asked for."""
    outer = tmp_path / "outer.html"
    report = json.dumps(report_html(alarm)).replace("<", "\\u003c")
    outer.write_text(
        "<!doctype html><meta charset=utf-8><iframe width=1200 height=800></iframe><script>"
        "window.heard = []; addEventListener('message', (event) => heard.push(event.data));"
        f"document.querySelector('iframe').srcdoc = {report};"
        "</script>",
        "utf-8",
    )
    page = Page(browser, outer)
    ask = "document.querySelector('iframe').contentWindow.postMessage(arguments[0], '*')"
    inside = "return document.querySelector('iframe').contentDocument.querySelector(arguments[0])?.textContent"
    WebDriverWait(browser, 10).until(lambda _: page.run(inside, "#panel h2"))
    page.run(ask, {"apsl": "select", "edge": ["VENTLUNG", "MINVOL"]})
    WebDriverWait(browser, 10).until(lambda _: page.run("return heard.length") == 1)
    assert "MINVOL" in page.run(inside, "#panel h2")
    for wrong in ({"apsl": "select", "edge": ["VENTLUNG", "nobody"]}, {"apsl": "select"}, {"apsl": "other"}, "x", None):
        page.run(ask, wrong)
    choose = "document.querySelector('iframe').contentDocument.querySelector('.box.is-target')"
    page.run(f"{choose}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    escape = "new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })"
    page.run(f"document.querySelector('iframe').contentDocument.body.dispatchEvent({escape})")
    WebDriverWait(browser, 10).until(lambda _: page.run("return heard.length") == 3)

    assert page.run("return heard") == [
        {"apsl": "selection", "edge": ["VENTLUNG", "MINVOL"], "node": None},
        {"apsl": "selection", "edge": None, "node": "VENTLUNG"},
        {"apsl": "selection", "edge": None, "node": None},
    ]
    assert page.complaints() == []
    assert page.addresses() <= {outer.as_uri(), "about:srcdoc"}


def test_a_page_alone_tells_nobody(opened: Opened, alarm: Part) -> None:
    """Without a frame around it no message is sent."""
    page = opened(alarm)
    page.run("window.heard = []; addEventListener('message', (event) => heard.push(event.data))")
    page.find("#statements button").click()

    assert page.run("return heard") == []


def test_a_table_with_effects_has_signs_at_its_edges(opened: Opened) -> None:
    """Sign and size of each effect stand at the edge in the drawing, at rest, and in the list of edges."""
    table = pd.read_csv(Path(__file__).parents[2] / "specs/apsl_specs/tables/clinic.csv")
    page = opened(learn(table, "dysp", hidden="excluded"), data=table)
    figures = [place["words"] for place in page.run(PLACES, "#drawing .weight text")]

    assert figures
    assert all(words.startswith(("+", "−")) for words in figures)
    assert all(words in page.panel() for words in figures)
