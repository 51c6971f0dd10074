"""The report as a browser shows it: what is drawn, and what a user does to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

_EDGES = """
const data = JSON.parse(document.getElementById('data').textContent);
const seen = () => [...document.querySelectorAll('#drawing .drawn-edge')]
  .filter((drawn) => getComputedStyle(drawn).display !== 'none' && drawn.querySelector('.stroke').getTotalLength() > 0)
  .map((drawn) => {
    const edge = data.edges[Number(drawn.dataset.edge)];
    const names = edge.ends.map((node) => data.names[node]);
    // a hollow head, which has an outline, only suggests a direction
    const heads = [...drawn.querySelectorAll('.head')].map((head) => getComputedStyle(head))
      .map((style) => style.display !== 'none' && style.stroke === 'none');
    const torn = getComputedStyle(drawn.querySelector('.cross')).display !== 'none';
    const beyond = drawn.classList.contains('is-beyond');
    return { names, heads, torn, beyond };
  });
"""
_REPLAY = """
const slider = document.getElementById('slider');
return Array.from({ length: Number(slider.max) + 1 }, (_, position) => {
  slider.value = position;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  return seen();
});
"""


class Page:
    """An open report."""

    def __init__(self, browser: Chrome, path: Path) -> None:
        self.browser = browser
        self.path = path
        browser.get(path.as_uri())

    def find(self, css: str) -> WebElement:
        """Return the first element that a selector matches."""
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def all(self, css: str) -> list[WebElement]:
        """Return every element that a selector matches."""
        found: list[WebElement] = self.browser.find_elements(By.CSS_SELECTOR, css)
        return found

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page, as a debugger would."""
        return self.browser.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def focused(self) -> WebElement:
        """Return the element that has the focus."""
        return self.browser.switch_to.active_element

    def panel(self) -> str:
        """Return the words in the panel."""
        text: str = self.find("#panel").text
        return text

    def show(self, number: int) -> None:
        """Choose one of the drawings that the page offers; -1 is that of everything the run ever drew."""
        script = "const one = document.getElementById('view'); one.selectedIndex = arguments[0];"
        count = self.run("return document.getElementById('view').options.length")
        self.run(f"{script} one.dispatchEvent(new Event('change'))", number % count)

    def view(self) -> list[float]:
        """Return how the drawing is moved and scaled."""
        transform = self.find("#scene").get_attribute("transform") or ""
        return [float(number) for number in re.findall(r"-?[\d.]+", transform)]

    def edges(self, *, beyond: bool = False) -> set[tuple[str, str, str]]:
        """Read the edges off the drawing, those of the part or all: arrow from, to; other marks by name."""
        return _readings(self.run(f"{_EDGES} return seen();"), beyond=beyond)

    def replayed(self) -> list[set[tuple[str, str, str]]]:
        """Move the slider over every position and read all edges at each."""
        return [_readings(seen, beyond=True) for seen in self.run(_EDGES + _REPLAY)]

    def click_edge(self, first: str, second: str) -> None:
        """Click an edge with the mouse, where no other edge lies over it."""
        script = """
        const data = JSON.parse(document.getElementById('data').textContent);
        const [names] = arguments;
        const number = data.edges.findIndex((edge) => edge.ends.every((node) => names.includes(data.names[node])));
        const drawn = document.querySelector(`[data-edge="${number}"]`);
        const path = drawn.querySelector('.hit');
        const points = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((share) =>
          path.getPointAtLength(path.getTotalLength() * share).matrixTransform(path.getScreenCTM()));
        const { x, y } = points.find((point) => drawn.contains(document.elementFromPoint(point.x, point.y)));
        return [Math.round(x), Math.round(y)];
        """
        x, y = self.run(script, [first, second])
        chain = ActionChains(self.browser)
        chain.w3c_actions.pointer_action.move_to_location(x, y).click()
        chain.perform()

    def complaints(self) -> list[str]:
        """Return what the browser logged since last asked: errors, and breaches of the page's policy."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def addresses(self) -> set[str]:
        """Return every address that was asked for since last asked."""
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        return {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}


def _readings(seen: list[dict[str, Any]], *, beyond: bool) -> set[tuple[str, str, str]]:
    return {_reading(one) for one in seen if beyond or not one["beyond"]}


def _reading(seen: dict[str, Any]) -> tuple[str, str, str]:
    (x, y), (at_first, at_second) = seen["names"], seen["heads"]
    if seen["torn"]:
        return "both" if at_first and at_second else "conflict", *sorted((x, y))
    if at_first or at_second:
        return ("arrow", x, y) if at_second else ("arrow", y, x)
    return "line", *sorted((x, y))
