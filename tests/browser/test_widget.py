"""The script of the widget in a real browser: what is chosen in its frame reaches the model, and vice versa."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from apsl_rules import Part, learn, network
from apsl_rules.views.widget import PartWidget

pytestmark = pytest.mark.slow

SCRIPT = (files("apsl_rules.views") / "widget.js").read_text("utf-8")

#: A page that says and understands the same messages as the report.
SMALL_PAGE = """<!doctype html><button id="edge">an edge</button><button id="node">a node</button><p id="seen"></p>
<script>
  const say = (edge, node) => parent.postMessage({ apsl: 'selection', edge, node }, '*');
  document.getElementById('edge').onclick = () => say(['bronc', 'dysp'], null);
  document.getElementById('node').onclick = () => say(null, 'tub');
  addEventListener('message', ({ data }) => { document.getElementById('seen').textContent = JSON.stringify(data); });
</script>"""

#: A page with the widget's script and a model that keeps values, as a notebook has one.
HOST = """<!doctype html><meta charset="utf-8"><body><div id="here"></div>
<script id="state" type="application/json">@@state@@</script><script id="script" type="text/plain">@@script@@</script>
<script type="module">
  const state = JSON.parse(document.getElementById('state').textContent);
  const listeners = [];
  window.model = {
    saved: 0,
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      listeners.filter(([one]) => one === `change:${name}`).forEach(([, listener]) => listener());
    },
    save_changes: () => { window.model.saved += 1; },
    on: (name, listener) => listeners.push([name, listener]),
    off: (name, listener) => listeners.splice(listeners.findIndex(([one, f]) => one === name && f === listener), 1),
    listeners,
  };
  const address = URL.createObjectURL(new Blob([document.getElementById('script').text], { type: 'text/javascript' }));
  const { default: widget } = await import(address);
  window.end = widget.render({ model: window.model, el: document.getElementById('here') });
  document.title = 'ready';
</script>"""


class Host:
    """The widget in a page of its own."""

    def __init__(self, browser: Chrome, path: Path, widget: PartWidget) -> None:
        self.browser, self.widget = browser, widget
        state = {name: getattr(widget, name) for name in ("page", "height", "heard", "told")}
        text = json.dumps(state).replace("<", "\\u003c")
        path.write_text(HOST.replace("@@state@@", text).replace("@@script@@", SCRIPT), "utf-8")
        browser.get(path.as_uri())
        self.wait(lambda: browser.title == "ready")
        self.wait(lambda: self.in_frame("return document.readyState === 'complete' && !!document.body.firstChild"))

    def wait(self, until: Any) -> None:
        """Wait until something holds."""
        WebDriverWait(self.browser, 20).until(lambda _: until())

    def in_frame(self, script: str, *arguments: Any) -> Any:
        """Run a script in the frame."""
        self.browser.switch_to.frame(self.browser.find_element(By.TAG_NAME, "iframe"))
        try:
            return self.browser.execute_script(script, *arguments)
        finally:
            self.browser.switch_to.default_content()

    def heard(self) -> Any:
        """Hand on to Python what the model has heard, as a notebook does."""
        said = self.browser.execute_script("return model.get('heard')")
        self.widget.heard = said
        return said


@pytest.fixture(scope="module")
def part() -> Part:
    """Learn a part of ASIA."""
    return learn(network("asia"), "dysp", depth=2)


@pytest.fixture
def small(browser: Chrome, tmp_path: Path, part: Part) -> Iterator[Host]:
    """Return the widget with the small page; afterwards the browser has no complaint."""
    widget = part.widget(height=200)
    widget.page = SMALL_PAGE
    yield Host(browser, tmp_path / "small.html", widget)
    assert [one for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []


def test_a_click_in_the_frame_is_a_proof_in_python(small: Host, part: Part) -> None:
    """What the page says reaches the model, and the widget proves the edge."""
    small.in_frame("document.getElementById('edge').click()")
    small.wait(lambda: small.browser.execute_script("return model.saved") == 1)
    assert small.heard() == {"edge": ["bronc", "dysp"], "node": None}
    assert small.widget.proof == part.why("bronc", "dysp")

    small.in_frame("document.getElementById('node').click()")
    small.wait(lambda: small.browser.execute_script("return model.saved") == 2)
    small.heard()
    chosen: tuple[Any, Any] = small.widget.node, small.widget.proof
    assert chosen == ("tub", None)


def test_an_edge_chosen_in_python_reaches_the_frame(small: Host) -> None:
    """What Python tells is sent to the page, and messages of others than the frame are not heard."""
    small.widget.selected = ("either", "dysp")
    small.browser.execute_script("model.set('told', arguments[0])", small.widget.told)
    small.wait(lambda: small.in_frame("return document.getElementById('seen').textContent"))
    seen = json.loads(small.in_frame("return document.getElementById('seen').textContent"))
    assert seen == {"apsl": "select", "edge": ["either", "dysp"]}

    small.browser.execute_script("window.postMessage({ apsl: 'selection', edge: ['a', 'b'], node: null }, '*')")
    small.in_frame("document.getElementById('node').click()")
    small.wait(lambda: small.browser.execute_script("return model.saved") == 1)
    assert small.heard() == {"edge": None, "node": "tub"}


def test_the_frame_may_run_scripts_and_nothing_else(small: Host) -> None:
    """The frame is a stranger to the notebook; it has the height asked for, and leaves no listener behind."""
    frame = small.browser.find_element(By.TAG_NAME, "iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts allow-downloads"
    assert frame.size["height"] == 202  # with its border
    assert small.in_frame("return window.origin") == "null"

    small.browser.execute_script("model.set('height', 300)")
    assert frame.size["height"] == 302
    small.browser.execute_script("end()")
    assert small.browser.execute_script("return model.listeners.length") == 0


def test_the_report_itself_speaks_with_the_widget(browser: Chrome, tmp_path: Path, part: Part) -> None:
    """An edge told to the real report is chosen there, and the report says so; its drawing is in the frame."""
    host = Host(browser, tmp_path / "report.html", part.widget())
    host.wait(lambda: host.in_frame("return document.querySelectorAll('svg text').length > 3"))
    host.widget.selected = ("bronc", "dysp")
    host.browser.execute_script("model.set('told', arguments[0])", host.widget.told)
    host.wait(lambda: host.browser.execute_script("return model.saved") > 0)
    said = host.browser.execute_script("return model.get('heard')")

    assert set(said["edge"]) == {"bronc", "dysp"}
    host.heard()
    assert host.widget.proof == part.why(*said["edge"])
    assert [one for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []
