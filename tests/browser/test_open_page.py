"""The page in a real browser: the eight things that a person does, from a fresh start, on three tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from apsl_rules import load
from apsl_rules.app.takeaway import COMMAND
from apsl_rules.parts import Part
from support.open_page import open_page
from support.working import Desk

pytestmark = [pytest.mark.slow, pytest.mark.release]

Opened = Callable[..., Desk]


@pytest.fixture
def opened(browser: Chrome, tmp_path: Path) -> Iterator[Opened]:
    """Return a way to open the page in a folder; afterwards the browser has nothing to complain of."""
    desks: list[Desk] = []
    pages = []
    (tmp_path / "downloads").mkdir()
    (tmp_path / "tables").mkdir()

    def open_desk(*words: str) -> Desk:
        browser.get_log("browser")
        browser.get_log("performance")
        manager = open_page(tmp_path / "tables", *words)
        pages.append(manager)
        desks.append(Desk(browser, manager.__enter__().address, tmp_path / "downloads"))
        return desks[-1]

    try:
        yield open_desk
        for desk in desks:
            # what was refused in one sentence is no fault of the page
            assert [one for one in desk.complaints() if "status of 400" not in one] == []
    finally:
        browser.get("about:blank")
        for manager in pages:
            manager.__exit__(None, None, None)


@pytest.fixture
def narrow(browser: Chrome) -> Iterator[Callable[[int], None]]:
    """Return a way to make the screen narrower; afterwards it is as it was."""

    def resize(width: int) -> None:
        size = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    yield resize
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def patients(rows: int = 700) -> pd.DataFrame:
    """Return numbers and categories with missing values, some of them written as 999, a copy and a key."""
    draw = np.random.default_rng(5)
    age = draw.normal(30, 6, rows).round()
    smoke = draw.random(rows) < 1 / (1 + np.exp((age - 28) / 5))
    weeks = draw.normal(39, 1.5, rows).round(1)
    weight = 3300 + 180 * (weeks - 39) - 260 * smoke + draw.normal(0, 300, rows)
    table = pd.DataFrame({"age": age, "smoke": np.where(smoke, "yes", "no"), "weeks": weeks, "weight": weight.round()})
    table["place"] = draw.choice(["north", "south", "west"], rows)
    table["smoker"] = np.where(smoke, "s", "n")
    table["number"] = [f"p{one:05}" for one in range(rows)]
    table.loc[draw.random(rows) < 0.06, "weeks"] = np.nan
    table.loc[draw.random(rows) < 0.05, "age"] = 999
    return table


def visits(patients: int = 150) -> pd.DataFrame:
    """Return a table with groups: several visits of each patient, whose traits stay the same."""
    draw = np.random.default_rng(8)
    trait = draw.normal(0, 1, patients)
    who = np.repeat(np.arange(patients), 5)
    dose = (draw.random(len(who)) < 0.5).astype(int)
    pressure = 120 + 6 * trait[who] - 8 * dose + draw.normal(0, 4, len(who))
    pulse = 70 + 0.4 * (pressure - 120) + draw.normal(0, 3, len(who))
    arm = draw.choice(["left", "right"], len(who))
    return pd.DataFrame(
        {"patient": who, "dose": dose, "pressure": pressure.round(1), "pulse": pulse.round(), "arm": arm}
    )


def same_part(desk: Desk, folder: Path) -> Part:
    """Take the part, the study and the script away, learn it again in fresh processes, and compare the bytes."""
    desk.tab("take")
    shown = desk.take("part.json").read_bytes()
    for name in ("study.toml", "study.py"):
        (folder / name).write_bytes(desk.take(name).read_bytes())
    assert desk.text("#script").strip() == (folder / "study.py").read_text().strip()
    apsl = str(Path(sys.executable).parent / "apsl")
    for command in ([sys.executable, "study.py"], [apsl, *COMMAND.split()[1:]]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        assert (folder / "part.json").read_bytes() == shown
    part = load(folder / "part.json")
    assert isinstance(part, Part)
    return part


def test_eight_things_on_a_table_with_missing_values(  # noqa: PLR0915 - one sitting, from a file to a script
    opened: Opened, tmp_path: Path
) -> None:
    """From a file that is chosen on the page to a script that learns the same part."""
    patients().to_csv(tmp_path / "patients.csv", index=False)
    desk = opened()

    # a table is dropped or chosen, and copied into the folder
    desk.find("#file").send_keys(str(tmp_path / "patients.csv"))
    desk.says("#table", "700 rows, 7 columns")
    assert (tmp_path / "tables" / "patients.csv").exists()

    # the table: what stands out, a kind, what is missing, a column left out; all of it can be taken back
    desk.says("#table", "copies of each other: smoke, smoker")
    desk.says("[data-column='number']", "set aside")
    desk.type("[data-key='missing age']", "999\t")
    desk.says("[data-column='age']", "% missing")
    desk.click("[data-key='out smoker']")
    desk.says("[data-column='smoker']", "left out")
    desk.choose("[data-key='kind weeks']", "ordered")
    desk.until(lambda: desk.find("#undo").is_enabled() and desk.is_settled())
    desk.click("#undo")
    desk.until(lambda: desk.is_settled() and desk.find("[data-key='kind weeks']").get_attribute("value") == "")

    # the question: its part is drawn, with the answer in words; further away; what is said of hidden causes
    desk.click("[data-key='ask weight']")
    desk.settled()
    with desk.report():
        desk.says("#heading", "weight")
        desk.says("#statements", "smoke")
    near = desk.drawn()
    assert {"smoke", "weeks"} <= {word for edge in near for word in edge.split()}
    desk.find("#depth").send_keys(Keys.ARROW_RIGHT)
    desk.settled()
    desk.until(lambda: len(desk.drawn()) > len(near), "more edges")
    desk.click("input[name='hidden'][value='excluded']")
    desk.settled()
    desk.click("#undo")
    desk.settled()

    # why: a click on an edge shows its proof with a chart, and the replay goes through the run
    with desk.report():
        desk.click("#tab-edges")
        desk.click("#panel .edge", "weeks")
        desk.find("#panel .proof")
        desk.find("#panel svg")
        desk.click("#first")
        assert not desk.all("#drawing .drawn-edge:not(.is-gone) .stroke")
        desk.click("#last")

    # what I know: a word for a column, an arrow that cannot be, drawn with two clicks, and what rests on whom
    desk.tab("know")
    desk.says("#rests", "On what I said: no edge")
    desk.type("#by", "ward 3")
    desk.choose("[data-question='sort'] [data-item='weeks'] select", "before")
    desk.until(lambda: desk.all("[data-question='sort'] [data-word='before'] [data-item='weeks']"))
    desk.settled()
    desk.until(lambda: "weeks" in desk.text("#rests").splitlines()[1], "what rests on me")
    desk.click("#pick")
    with desk.report():
        for node in ("weight", "weeks"):
            desk.find(f"#drawing [aria-label='{node}']").click()
    desk.until(lambda: desk.find("#arrow-to").get_attribute("value") == "weeks")
    assert desk.find("#arrow-from").get_attribute("value") == "weight"
    desk.click("#forbid")
    desk.says(".said", "forbidden: weight → weeks")
    desk.settled()

    # how much: an effect by two ways to adjust, with a hidden cause that would undo it
    desk.tab("much")
    desk.choose("#effect-cause", "smoke")
    desk.choose("#effect-target", "weight")
    desk.click("[data-key='adjust own']")
    desk.type("#own", "age")
    desk.click("#estimate")
    desk.says("#effects", "Effect of smoke on weight")
    assert len(desk.all("#effects .effect")) == 2
    desk.says("#effects", "A hidden cause:")
    desk.says("#effects", "95 %")

    # my graph: three colours and the least changes
    desk.tab("graph")
    desk.type("#graph-text", "dag { age -> smoke smoke -> weight place -> weeks }")
    desk.click("#check")
    desk.says("#checked", "contradicted")
    desk.says("#checked", "weeks -> weight")

    # take it with me, in a fresh process
    part = same_part(desk, tmp_path / "tables")
    assert ("weeks", "weight") in part.arrows
    assert [one.by for one in part.knowledge.answers] == ["ward 3"]
    assert desk.take("figure.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in desk.take("figure.svg").read_text()
    assert "smoke" in desk.take("effects.csv").read_text()
    assert "weight" in desk.take("report.html").read_text()

    # a reload goes on where one was
    desk.browser.refresh()
    desk.settled()
    desk.tab("know")
    desk.says(".said", "forbidden: weight → weeks")


def test_eight_things_on_a_network(opened: Opened, tmp_path: Path) -> None:
    """A known graph has no rows, so there is no effect to estimate, and the page says so."""
    desk = opened()
    desk.click("[data-source='asia']")
    desk.says("#table", "8 columns")
    desk.type("[data-key='search']", "eith")
    desk.until(lambda: len(desk.all("#table tbody tr")) == 1)
    desk.click("[data-key='ask either']")
    desk.settled()
    assert "tub points at either" in desk.drawn()
    with desk.report():
        desk.click("#panel .edge", "tub")
        desk.find("#panel .proof")
    desk.find("#depth").send_keys(Keys.END)
    desk.settled()
    desk.until(lambda: len(desk.drawn()) == 8, "all edges")

    desk.tab("know")
    desk.choose("[data-question='roots'] [data-item='smoke'] select", "yes")
    desk.settled()
    desk.until(lambda: "smoke points at bronc" in desk.drawn(), "what follows from the answer")
    desk.click("#undo")
    desk.settled()
    desk.type("#arrow-from", "smoke")
    desk.type("#arrow-to", "lung")
    desk.click("#require")
    desk.says(".said", "required: smoke → lung")
    desk.settled()

    desk.tab("much")
    desk.click("#estimate")
    desk.says("#error", "has no rows")
    desk.tab("graph")
    desk.type("#graph-text", "digraph { smoke -> lung; smoke -> bronc; lung -> either; tub -> either; }")
    desk.click("#check")
    desk.says("#checked", "not contradicted")
    assert same_part(desk, tmp_path / "tables").depth == "max"


def test_eight_things_on_a_table_with_groups(  # noqa: PLR0915 - one sitting, from a file to a script
    opened: Opened, tmp_path: Path
) -> None:
    """Several rows of each patient; a study that was opened by its name keeps everything by itself."""
    visits().to_csv(tmp_path / "tables" / "visits.csv", index=False)
    desk = opened("own.toml")
    desk.click("[data-source='visits.csv']")
    desk.says("#table", "750 rows, 5 columns")
    desk.choose("[data-key='kind pulse']", "ordered")
    desk.until(lambda: desk.is_settled() and desk.find("[data-key='kind pulse']").get_attribute("value") == "ordered")
    desk.click("#undo")
    desk.until(lambda: desk.is_settled() and desk.find("[data-key='kind pulse']").get_attribute("value") == "")
    # what was noticed of the rows is one click away, and so is that they are independent
    desk.click(".out .way", "groups: patient")
    desk.says(".rows summary", "Groups patient")
    desk.until(lambda: desk.is_settled() and not desk.all("[data-key='ask patient']:enabled"))
    desk.click(".rows summary")
    desk.click("[data-key='without groups patient']")
    desk.until(lambda: desk.is_settled() and "Groups" not in desk.text(".rows summary"))
    desk.choose("[data-key='setting groups']", "patient")
    desk.says(".rows summary", "Groups patient")
    desk.click("[data-key='ask pressure']")
    desk.settled()
    assert {"dose", "pulse"} <= {word for edge in desk.drawn() for word in edge.split()}
    with desk.report():
        desk.says("#statements", "independent groups of rows")
        desk.click("#panel .edge", "dose")
        desk.find("#panel .proof")
        desk.click("#panel .plot")
        desk.until(lambda: desk.all("#panel .given svg"), "the plot given others")
        desk.says("#panel .given", "Given")

    desk.tab("know")
    dragged = desk.find("[data-question='sort'] [data-item='pulse'] .name")
    box = desk.find("[data-question='sort'] .box[data-word='after']")
    ActionChains(desk.browser).drag_and_drop(dragged, box).perform()
    desk.until(lambda: desk.all("[data-word='after'] [data-item='pulse']"), "pulse in its box")
    desk.settled()
    desk.until(lambda: "pressure points at pulse" in desk.drawn(), "the arrow that follows")
    desk.says("#rests", "becomes pressure -> pulse")

    desk.tab("much")
    desk.choose("#effect-cause", "dose")
    desk.choose("#effect-target", "pressure")
    desk.click("#estimate")
    desk.says("#effects", "Effect of dose on pressure")
    desk.tab("graph")
    desk.type("#graph-text", "[dose][pressure|dose][pulse|pressure]")
    desk.click("#check")
    desk.says("#checked", "not contradicted")
    part = same_part(desk, tmp_path / "tables")
    assert ("pressure", "pulse") in part.arrows
    assert part.settings["groups"] == ["patient"]
    assert (tmp_path / "tables" / "own.toml").read_bytes() == (tmp_path / "tables" / "study.toml").read_bytes()

    again = opened("own.toml")
    again.settled()
    again.tab("know")
    again.find("[data-question='sort'] [data-word='after'] [data-item='pulse']")


def test_it_is_accessible_at_every_step(opened: Opened, tmp_path: Path, narrow: Callable[[int], None]) -> None:
    """Axe finds nothing serious, in light and dark; nothing is wider than the screen; keys do everything."""
    script = (Path(str(files("axe_playwright_python"))) / "axe.min.js").read_text("utf-8")
    patients(400).to_csv(tmp_path / "tables" / "patients.csv", index=False)
    desk = opened()
    desk.find("[data-source='patients.csv']")
    assert desk.faults(script) == []

    # by keys alone: open the table, ask, walk through the steps
    desk.browser.execute_script("document.querySelector('[data-source]').focus()")
    desk.press(Keys.ENTER)
    desk.find("[data-key='ask weight']")
    desk.browser.execute_script("document.querySelector('[data-key=\"ask age\"]').focus()")
    while desk.focused().get_attribute("data-key") != "ask weight":
        desk.press(Keys.TAB)
    desk.press(Keys.ENTER)
    desk.settled()
    faults: list[str] = []
    for theme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        desk.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        desk.tab("table")
        for step in ("table", "answer", "know", "much", "graph", "take"):
            desk.until(partial(desk.all, f"#{step} h2, #{step} p"))
            if step == "much":
                desk.click("#estimate")
                desk.find("#effects .effect")
            faults += [f"{step}, {theme}: {one}" for one in desk.faults(script)]
            for width in (390, 700, 1024, 1600):
                narrow(width)
                wide = desk.browser.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, (step, width)
            narrow(1400)
            desk.browser.execute_script(f"document.getElementById('tab-{step}').focus()")
            desk.press(Keys.ARROW_RIGHT)
    desk.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert faults == []


def test_every_control_is_used_by_keys(opened: Opened, tmp_path: Path) -> None:  # noqa: PLR0915 - one sitting
    """Tab comes to each of them, and keys do what a mouse does: kinds, boxes, arrows that are drawn, files."""
    patients(400).to_csv(tmp_path / "tables" / "patients.csv", index=False)
    desk = opened()
    desk.find("[data-source='patients.csv']")
    assert desk.out_of_reach() == []
    desk.reach("[data-source='patients.csv']")
    desk.press(Keys.ENTER)
    desk.find("[data-key='ask weight']")
    desk.until(desk.is_settled)
    assert desk.out_of_reach() == []

    # the table; the focus stays where it was
    desk.reach("[data-key='kind weeks']")
    desk.press("o")
    desk.until(lambda: desk.is_settled() and desk.focused().get_attribute("value") == "ordered")
    desk.until(lambda: desk.find("#undo").is_enabled() and desk.is_settled())
    ActionChains(desk.browser).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    desk.until(lambda: desk.is_settled() and desk.focused().get_attribute("value") == "", "what was taken back")
    desk.reach("[data-key='out smoker']")
    desk.press(Keys.SPACE)
    desk.says("[data-column='smoker']", "left out")
    desk.until(lambda: desk.focused().get_attribute("data-key") == "out smoker", "the focus")
    assert len(desk.all("[data-column='smoker']")) == 1
    desk.reach("[data-key='missing age']", back=True)
    desk.press("999", Keys.ENTER)
    desk.says("[data-column='age']", "% missing")
    desk.reach(".rows summary", back=True)
    desk.press(Keys.ENTER)
    desk.reach("[data-key='setting missing']")
    desk.press("c")
    desk.says(".rows summary", "Missing values complete")
    desk.press("a")
    desk.until(lambda: desk.is_settled() and "Missing" not in desk.text(".rows summary"))
    desk.reach("[data-key='ask weight']")
    desk.press(Keys.ENTER)
    desk.settled()

    # the answer: the focus is at the step that opened
    assert desk.focused().get_attribute("id") == "tab-answer"
    assert desk.out_of_reach() == []
    desk.reach("#depth")
    desk.press(Keys.ARROW_RIGHT)
    desk.settled()
    desk.reach("input[name='hidden']:checked")
    desk.press(Keys.ARROW_DOWN)
    desk.settled()
    assert desk.focused().get_attribute("value") == "excluded"
    desk.press(Keys.ARROW_UP)
    desk.settled()

    # what I know: a column goes into a box, an arrow is drawn, required and taken back
    desk.reach("#tab-answer", back=True)
    desk.press(Keys.ARROW_RIGHT)
    desk.find("#rests")
    assert desk.out_of_reach() == []
    desk.reach("#by")
    desk.press("ward 3", Keys.TAB, "2026")
    desk.reach("[data-question='sort'] [data-item='weeks'] select")
    desk.press("b")
    desk.until(lambda: desk.all("[data-question='sort'] [data-word='before'] [data-item='weeks']"), "weeks in its box")
    desk.settled()
    assert desk.focused().get_attribute("data-key") == "sort weeks"
    desk.reach("[data-key='further']")
    desk.press("place")
    desk.reach("[data-key='comes before']")
    desk.press(Keys.ENTER)
    desk.until(lambda: desk.all("[data-word='before'] [data-item='place']"), "place in its box")
    desk.settled()
    desk.reach("#pick")
    desk.press(Keys.SPACE)
    desk.says("#know", "Enter")
    desk.reach("#report")
    with desk.report():
        desk.reach("#drawing [aria-label='weight']")
        desk.press(Keys.ENTER)
        desk.press(Keys.ARROW_LEFT)
        for key in (Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_UP):
            if desk.focused().get_attribute("aria-label") != "weeks":
                desk.press(key)
        desk.press(Keys.ENTER)
    desk.until(lambda: desk.find("#arrow-to").get_attribute("value") == "weeks", "the arrow")
    desk.until(lambda: desk.focused().get_attribute("id") == "require", "the focus")
    desk.press(Keys.TAB, Keys.ENTER)
    desk.says(".said", "forbidden: weight → weeks")
    desk.settled()
    desk.reach("[data-key='release weight weeks']")
    desk.press(Keys.ENTER)
    desk.until(lambda: "weight → weeks" not in desk.text("#know"), "no arrow")
    desk.settled()
    assert desk.browser.execute_script("return document.querySelector('#know').contains(document.activeElement)")

    # how much: what was chosen stays chosen
    desk.reach("#tab-know", back=True)
    desk.press(Keys.ARROW_RIGHT)
    desk.reach("#effect-cause")
    desk.press("smoke")
    desk.reach("[data-key='adjust own']")
    desk.press(Keys.SPACE)
    desk.reach("#own")
    desk.press("age")
    desk.reach("#estimate")
    desk.press(Keys.ENTER)
    desk.says("#effects", "Effect of smoke on weight")
    assert len(desk.all("#effects .effect")) == 2
    assert desk.find("[data-key='adjust own']").is_selected()
    assert desk.find("#own").get_attribute("value") == "age"
    assert desk.out_of_reach() == []

    # my graph, and the files
    desk.reach("#tab-much", back=True)
    desk.press(Keys.ARROW_RIGHT)
    desk.reach("#graph-text")
    desk.press("dag { smoke -> weight }")
    desk.reach("#check")
    desk.press(Keys.ENTER)
    desk.says("#checked", "contradicted")
    assert desk.out_of_reach() == []
    desk.reach("#tab-graph", back=True)
    desk.press(Keys.ARROW_RIGHT)
    desk.reach("[data-take='study.toml']")
    desk.press(Keys.ENTER)
    desk.until((desk.downloads / "study.toml").exists, "the study")
    assert desk.out_of_reach() == []


def test_a_browser_that_comes_late_sees_everything(browser: Chrome, tmp_path: Path) -> None:
    """All is worked out before the page is opened, so that it hears of it once."""
    patients(200).to_csv(tmp_path / "patients.csv", index=False)
    with open_page(tmp_path, "patients.csv", "--target", "weight") as page:
        page.settled()
        desk = Desk(browser, page.address, tmp_path)
        desk.says("#question", "What goes with weight?")
        desk.settled()
        desk.tab("table")
        desk.says("#table", "200 rows")
        browser.get("about:blank")


def test_many_columns_are_listed_in_pages_and_searched(opened: Opened, tmp_path: Path) -> None:
    """Fifty at a time; typing finds one wherever it is, and what was typed stays."""
    draw = np.random.default_rng(1)
    wide = pd.DataFrame(draw.integers(0, 3, (200, 500)), columns=[f"gene {one}" for one in range(500)])
    wide.to_csv(tmp_path / "tables" / "wide.csv", index=False)
    desk = opened("wide.csv")
    desk.says(".pager", "1 to 50 of 500 columns")
    desk.click("[data-key='later']")
    desk.says(".pager", "51 to 100 of 500 columns")
    desk.type("[data-key='search']", "gene 437")
    desk.until(lambda: [one.get_attribute("data-column") for one in desk.all("#table tbody tr")] == ["gene 437"])
    assert desk.focused().get_attribute("value") == "gene 437"


def test_a_large_part_grows_and_answers_at_once(opened: Opened) -> None:
    """It is drawn while it is learned; a click on one of its edges asks the server for nothing."""
    desk = opened()
    desk.click("[data-source='hailfinder']")
    desk.click("[data-key='ask Boundaries']")
    desk.settled()
    desk.find("#depth").send_keys(Keys.END)
    desk.settled()
    desk.until(lambda: len(desk.drawn()) > 50, "the whole network")
    desk.browser.get_log("performance")
    with desk.report():
        for tab in desk.all("#tab-edges"):
            tab.click()
        for number in (0, 20, 40):
            desk.click("#tab-edges")
            desk.until(partial(lambda at: len(desk.all("#panel .edge")) > at, number))
            desk.all("#panel .edge")[number].click()
            desk.find("#panel .proof")
    assert [one for one in desk.browser.get_log("performance") if 'requestWillBeSent"' in one["message"]] == []


def test_hostile_names_are_words(opened: Opened, tmp_path: Path) -> None:
    """Names and levels that are markup or scripts are shown as they read, at every step, and nothing of them runs."""
    odd = "<img src=x onerror='window.canary=1'>"
    script = "</script><script>window.canary=1</script>"
    table = patients(300).rename(columns={"smoke": odd, "weeks": script})
    table["place"] = table["place"].replace("north", odd)
    table.drop(columns="smoker").to_csv(tmp_path / "tables" / "odd <b>.csv", index=False)
    desk = opened("odd <b>.csv")
    desk.says("#table", odd)
    desk.click("[data-key='ask weight']")
    desk.settled()
    for step in ("know", "much", "graph", "take", "answer"):
        desk.tab(step)
        desk.until(partial(desk.all, f"#{step} h2"))
        if step == "much":
            desk.click("#estimate")
            desk.find("#effects .effect")
    with desk.report():
        assert script in desk.text("body")
        assert desk.browser.execute_script("return window.canary") is None
    assert desk.browser.execute_script("return window.canary") is None
    assert desk.browser.execute_script("return document.title") == "weight · odd <b>.csv · apsl"
