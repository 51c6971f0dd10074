"""The report in a real browser: drawing, replay, proofs, search, keyboard, themes and odd names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from apsl_rules import Part, learn, network
from apsl_rules.evidence.evidence import p_text
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import shown
from support.contradictory import Contradictory
from support.drawn import HOSTILE, drawn_pairs, hostile_dag, part_reading, svg_reading
from support.viewing import Page

pytestmark = pytest.mark.slow

Opened = Callable[[Part], Page]


@pytest.fixture(scope="module")
def alarm() -> Part:
    """Learn a part of ALARM from rows, with lines, and edges beyond the asked depth."""
    return learn(sample(network("alarm"), 1000, seed=7), "VENTLUNG", depth=2, hidden="excluded")


def test_the_page_shows_the_edges_of_the_part(opened: Opened, alarm: Part) -> None:
    """At rest the page has exactly the edges of the part, and so have the still views."""
    page = opened(alarm)

    assert page.edges() == page.edges(beyond=True) == part_reading(alarm) == svg_reading(alarm.svg())
    page.show(-1)
    assert page.edges(beyond=True) == svg_reading(alarm.svg(outside=True))
    assert page.find("h1").text == "VENTLUNG"


@pytest.mark.parametrize(
    "part",
    [
        learn(network("alarm"), "HISTORY", depth=2),
        learn(network("asia"), "lung", depth="max", learner="apsl-paper"),
        learn(Contradictory(), "a", depth="max"),
    ],
    ids=["alarm", "paper", "contradictory"],
)
def test_the_slider_replays_the_states_of_the_run(opened: Opened, part: Part) -> None:
    """At every position of the slider the page has the edges of that state, and at the last one those of the part."""
    pairs = {
        frozenset(entry.fact.nodes) for entry in part.history.entries if entry.fact.relation in {"adjacent", "arrow"}
    }
    states = [*part.states()]
    states += [] if part.store is part.history else [part.store]
    page = opened(part)
    page.show(-1)
    replayed = page.replayed()

    assert len(replayed) == len(states)
    assert replayed == [drawn_pairs(state, pairs) for state in states]
    assert replayed[0] == set()
    assert replayed[-1] >= part_reading(part)


def test_steps_tell_visit_rule_and_conclusion(opened: Opened, alarm: Part) -> None:
    """Step buttons go from firing to firing or from visit to visit, and the line below says what happened."""
    page = opened(alarm)
    page.find("#first").click()
    assert "nothing is known yet" in page.find("#moment").text

    page.find("#ahead").click()
    told = page.find("#moment").text
    place = next(at for at, entry in enumerate(alarm.history.entries) if entry == alarm.trace[0]) + 1
    assert int(page.find("#slider").get_attribute("value") or 0) == place
    assert f"{alarm.trace[0].rule} concludes" in told
    assert "visit" in told
    assert "because" in told

    Select(page.find("#stride")).select_by_value("visit")
    page.find("#first").click()
    page.find("#ahead").click()
    assert f"visit 1 of {len(alarm.visits)}: {alarm.visits[0].node}" in page.find("#moment").text
    assert int(page.find("#slider").get_attribute("value") or 0) == alarm.visits[0].end

    page.find("#back").click()
    assert page.edges(beyond=True) == set()


def test_play_goes_on_by_itself_and_pauses(opened: Opened, alarm: Part) -> None:
    """Play starts from the beginning when at the end, moves on, and stops when pressed again."""
    page = opened(alarm)
    page.find("#play").click()
    assert page.find("#play").text == "⏸ Pause"
    waited = page.browser.execute_async_script(
        "const done = arguments[0]; const slider = document.getElementById('slider');"
        "const look = () => Number(slider.value) > 0 ? done(slider.value) : setTimeout(look, 50); look();"
    )
    assert 0 < int(waited) < len(alarm.history)
    page.find("#play").click()
    assert page.find("#play").get_attribute("aria-label") == "Play"


def test_a_click_on_an_edge_shows_its_proof(opened: Opened, alarm: Part) -> None:
    """The proof on the page has every step, rule, test, p-value, n and dof of the proof that the part gives."""
    page = opened(alarm)
    x, y = max(alarm.arrows, key=lambda pair: (len(alarm.why(*pair).steps), pair))
    page.click_edge(shown(x), shown(y))
    proof = alarm.why(x, y)
    words = page.panel().replace("→", "->").replace("—", "--")

    assert [step.text for step in proof.steps if step.text not in words] == []
    assert all(firing.rule in words for firing in [step.reason for step in proof.steps] if hasattr(firing, "rule"))
    verdicts = [verdict for finding in proof.findings for verdict in finding.evidence.verdicts]
    assert verdicts
    for verdict in verdicts:
        assert f"{verdict.test} = {verdict.statistic:.4g} {verdict.dof} {p_text(verdict)} {verdict.n}" in words

    before = len(words)
    page.find("#panel details > summary").click()
    assert len(page.panel()) < before


def test_a_conflict_shows_all_its_sides(opened: Opened) -> None:
    """The list of conflicts names each, and one that is opened, from the list or the drawing, has all its proofs."""
    part = learn(Contradictory(), "a", depth="max")
    page = opened(part)
    page.find("#tab-conflicts").click()
    assert str(part.conflicts[0]) in page.panel()

    page.find("#panel [data-conflict='0']").click()
    listed = page.panel()
    assert [element.text for element in page.all("#panel h3")] == ["Side 1", "Side 2"]
    assert "a → b" in listed
    assert "b → a" in listed

    page.press(Keys.ESCAPE)
    page.click_edge("a", "b")
    assert "Side 2" in page.panel()


def test_search_finds_a_node_and_its_neighbours(opened: Opened, alarm: Part) -> None:
    """Typing a piece of a name offers the nodes; Enter chooses the first, and only its neighbours stay bright."""
    page = opened(alarm)
    page.press("/")
    page.press("venttu")
    assert [element.text for element in page.all("#matches button")] == ["VENTTUBE"]
    page.press(Keys.ENTER)

    assert page.focused().get_attribute("aria-label") == "VENTTUBE"
    bright = {element.get_attribute("aria-label") for element in page.all("#drawing .box:not(.is-dim)")}
    assert bright == {"VENTTUBE", *map(shown, alarm.neighbours_of("VENTTUBE"))}
    assert page.find("#panel h2").text == "VENTTUBE"

    page.press("/")
    page.press("no such thing")
    assert page.find("#matches").text == "no such node"


def test_everything_is_within_reach_of_the_keyboard(opened: Opened, alarm: Part) -> None:
    """From the drawing by keys to a node, its edges, a proof, back by Escape, and to the slider."""
    page = opened(alarm)
    page.run("document.querySelector('.box.is-target').focus()")
    page.press(Keys.ARROW_RIGHT)
    node = page.focused().get_attribute("aria-label")
    assert node in set(map(str, alarm.neighbours_of("VENTLUNG")))
    outline = page.run("return getComputedStyle(document.activeElement.querySelector('rect')).strokeWidth")
    assert outline == "4px"

    page.press(Keys.ENTER)
    assert page.find("#panel h2").text == node
    page.press(Keys.TAB, Keys.TAB)
    assert "edge" in (page.focused().get_attribute("class") or "")
    page.press(Keys.ENTER)
    assert page.all("#panel .proof")

    page.press(Keys.ESCAPE)
    assert not page.all("#panel .proof")
    assert page.focused().get_attribute("role") == "button"

    page.run("document.getElementById('slider').focus()")
    page.press(Keys.HOME)
    assert page.edges(beyond=True) == set()
    page.press(Keys.ARROW_RIGHT)
    assert page.edges(beyond=True)


def test_the_drawing_zooms_and_moves(opened: Opened, alarm: Part) -> None:
    """Dragging the ground moves the drawing without choosing anything, buttons and wheel zoom, Fit brings it back."""
    page = opened(alarm)
    drawing = page.find("#drawing")
    at_rest = page.view()
    corner = ActionChains(page.browser).move_to_element_with_offset(drawing, 0, drawing.rect["height"] // 2 - 6)
    corner.click_and_hold().move_by_offset(60, -40).release().perform()
    assert [round(now - before) for now, before in zip(page.view(), at_rest, strict=True)] == [60, -40, 0]
    assert not page.all(".box.is-chosen")
    page.find("#closer").click()
    assert page.view()[2] > at_rest[2]
    ActionChains(page.browser).scroll_from_origin(ScrollOrigin.from_element(drawing), 0, 900).perform()
    assert page.view()[2] < at_rest[2]
    page.find("#fit").click()
    assert page.view() == at_rest


def test_given_knowledge_is_told_as_given(opened: Opened) -> None:
    """What the user gave is neither found nor tested, and the page says so."""
    part = learn(network("asia"), "bronc", knowledge=Knowledge(required=[("smoke", "bronc")]))
    page = opened(part)
    page.find("#tab-edges").click()
    assert "given" in page.panel()
    page.click_edge("smoke", "bronc")
    assert "found by given" not in page.panel()
    assert "given" in page.panel()


def test_what_lies_beyond_can_be_shown(opened: Opened, alarm: Part) -> None:
    """At first the page shows the part; the list of drawings also offers everything that was learned."""
    page = opened(alarm)
    assert len(page.all("#drawing .box")) == len(alarm.members)
    page.show(-1)

    assert page.edges() == part_reading(alarm)
    assert page.edges(beyond=True) > page.edges()
    assert len(page.all("#drawing .box")) > len(alarm.members)
    page.show(0)
    assert page.edges(beyond=True) == part_reading(alarm)


def test_light_and_dark(opened: Opened, alarm: Part) -> None:
    """The page follows the system's choice, and the button turns it; names stay readable on both."""
    for system in ("light", "dark"):
        page = opened(alarm)
        media = {"features": [{"name": "prefers-color-scheme", "value": system}]}
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        assert (brightness(page, "body", "backgroundColor") > 128) == (system == "light")
        assert abs(brightness(page, "body", "backgroundColor") - brightness(page, ".name", "color")) > 100
        before = brightness(page, "body", "backgroundColor")
        page.find("#theme").click()
        assert abs(brightness(page, "body", "backgroundColor") - before) > 100
        assert abs(brightness(page, ".box:not(.is-target) rect", "fill") - brightness(page, ".box text", "fill")) > 100
        page.find("#theme").click()
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def brightness(page: Page, css: str, kind: str) -> float:
    """Return the brightness of a colour, from 0 to 255."""
    colour = page.run(f"return getComputedStyle(document.querySelector({css!r})).{kind}")
    return sum(map(float, colour.partition("(")[2].rstrip(")").split(",")[:3])) / 3


def test_hostile_names_are_words(opened: Opened) -> None:
    """Names that are markup or scripts are shown as they read, everywhere, and nothing of them runs."""
    part = learn(hostile_dag(), 7, depth="max")
    page = opened(part)

    assert page.edges() == part_reading(part)
    titles = page.run("return [...document.querySelectorAll('#drawing .box title')].map((one) => one.textContent)")
    assert set(titles) == {shown(name) for name in part.members}
    for tab in ("edges", "run", "conflicts", "why"):
        page.find(f"#tab-{tab}").click()
    for number in range(len(part.edges)):
        page.find("#tab-edges").click()
        page.all("#panel .edge")[number].click()
        assert page.all("#panel .proof, #panel .conflict")
    page.press("/")
    page.press("<script")
    assert page.find("#matches").text == str(HOSTILE[0]) + "\n" + str(HOSTILE[1])
    page.replayed()

    assert page.run("return window.canary") is None
    assert page.run("return document.images.length + document.scripts.length") == 2
    assert page.find("title").get_attribute("textContent") == "7 · part of depth max"


def test_labels_fit_into_their_boxes(opened: Opened, alarm: Part) -> None:
    """With the fonts at hand no label is wider than its box, odd ones included, at a size that is read in boxes."""
    script = """
    while (document.getElementById('drawing').classList.contains('is-far')) document.getElementById('closer').click();
    return [...document.querySelectorAll('#drawing .box')].filter((box) =>
      box.querySelector('text').getBBox().width > box.querySelector('rect').getBBox().width)
      .map((box) => box.textContent)"""
    for part in (alarm, learn(hostile_dag(), 7, depth="max")):
        assert opened(part).run(script) == []


def test_a_narrow_screen_needs_no_sideways_scrolling(opened: Opened, alarm: Part) -> None:
    """On a telephone the page is one column."""
    page = opened(alarm)
    size = {"width": 380, "height": 760, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert page.run("return document.documentElement.scrollWidth") <= 380
        assert page.find("#drawing").rect["height"] > 200
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(("name", "target"), [("insurance", "Accident"), ("hailfinder", "CldShadeOth")])
def test_a_phone_holds_the_names_of_eighteen_nodes(opened: Opened, name: str, target: str) -> None:
    """At 390 pixels every node has its name, a long one cut where it must be, and none lies on another."""
    part = learn(network(name), target, depth=2)
    page = opened(part)
    size = {"width": 390, "height": 850, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.find("#fit").click()
        names = page.run(_NAMES)
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert 17 <= len(part.members) == len(names) <= 18
    assert [one for one in names if not one["seen"] or one["tall"] < 10] == []
    assert [one["words"] for one in names if one["over"]] == []


#: The names in the drawing: whether each is seen, how tall it is, and whether it lies on another.
_NAMES = """
const found = [...document.querySelectorAll('#drawing .box > text')].map((text) => {
  const { left, right, top, bottom, height } = text.getBoundingClientRect();
  const seen = getComputedStyle(text).visibility === 'visible' && getComputedStyle(text).opacity !== '0' && height > 0;
  return { words: text.textContent, seen, tall: height, box: { left, right, top: top + 2, bottom: bottom - 2 } };
});
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
return found.map((one) => ({ ...one, over: found.some((other) => other !== one && meet(one.box, other.box)) }));
"""


def test_a_suggested_direction_is_a_line_with_a_hollow_head(opened: Opened) -> None:
    """The page draws it dashed, explains it in the legend, and says in the panel that it is only suggested."""
    part = learn(sample(network("insurance"), 300, seed=4), "Accident", min_direction=0.99, hidden="excluded")
    assert part.suggested
    page = opened(part)

    assert page.edges() == part_reading(part) == svg_reading(part.svg())
    assert len(page.all("#drawing .drawn-edge.is-suggested:not(.is-gone)")) == len(part.suggested)
    assert "line: direction suggested" in page.find("#legend").text
    page.find("#tab-edges").click()
    x, y = next(iter(part.suggested))
    page.find(f'#panel button[aria-label="{x} perhaps points at {y}"]').click()
    assert "Joined; the direction is only suggested." in page.find("#panel").text
    assert f"direction {part.suggested[x, y]:.2f}" in page.find("#panel").text
