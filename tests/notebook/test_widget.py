"""The live widget: what is chosen on its page is known in Python, and the other way round."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from apsl_rules import Dag, Part, learn, network
from apsl_rules.errors import ApslError
from apsl_rules.views.page import report_html
from apsl_rules.views.widget import PartWidget
from support.kernel import Kernel


@pytest.fixture(scope="module")
def part() -> Part:
    """Learn a part of ASIA."""
    return learn(network("asia"), "dysp", depth=2)


def test_the_page_is_the_report(part: Part) -> None:
    """The widget has the same page as ``part.report`` writes, with the effects where a table is given."""
    assert part.widget().page == report_html(part)
    assert part.widget(height=300).height == 300


def test_a_chosen_edge_has_its_proof(part: Part) -> None:
    """A click on an edge sets ``selected`` and ``proof``, and those who observe hear of it once."""
    widget, heard = part.widget(), []
    widget.observe(lambda change: heard.append(change["new"]), "proof")
    widget.heard = {"edge": ["bronc", "dysp"], "node": None}

    assert widget.selected == ("bronc", "dysp")
    assert widget.proof == part.why("bronc", "dysp")
    assert heard == [part.why("bronc", "dysp")]


def test_a_chosen_node_is_no_edge(part: Part) -> None:
    """A click on a node sets ``node`` and forgets the edge; a click on nothing forgets both."""
    widget = part.widget()
    widget.heard = {"edge": ["bronc", "dysp"], "node": None}
    widget.heard = {"edge": None, "node": "tub"}
    assert (widget.selected, widget.proof, widget.node) == (None, None, "tub")

    widget.heard = {"edge": None, "node": None}
    assert widget.node is None


def test_an_edge_chosen_in_python_is_told_to_the_page(part: Part) -> None:
    """Each choice is told, the same one again too, but not what the page itself has said."""
    widget = part.widget()
    widget.selected = ("either", "dysp")
    assert widget.told == {"edge": ["either", "dysp"], "turn": 1}
    assert widget.proof == part.why("either", "dysp")

    widget.heard = {"edge": ["either", "dysp"], "node": None}
    widget.heard = {"edge": ["bronc", "dysp"], "node": None}
    assert widget.told["turn"] == 1

    widget.selected = ("either", "dysp")
    assert widget.told == {"edge": ["either", "dysp"], "turn": 2}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("dysp", "give the two ends of an edge"),
        (("dysp",), "give the two ends of an edge"),
        (7, "give the two ends of an edge"),
        (("asia", "dysp"), "not joined by an edge"),
        (("bronk", "dysp"), "did you mean 'bronc'"),
    ],
)
def test_what_is_no_edge_is_refused(part: Part, wrong: Any, words: str) -> None:
    """A choice that cannot be is refused in words, and the one before stays."""
    widget = part.widget()
    widget.selected = ("bronc", "dysp")
    with pytest.raises(ApslError, match=words):
        widget.selected = wrong

    assert widget.selected == ("bronc", "dysp")


@pytest.mark.parametrize("said", [{"edge": "bronc"}, {"edge": ["nobody", "dysp"]}, {"edge": [1, 2]}, {"node": 3}, {}])
def test_what_a_page_cannot_mean_is_no_choice(part: Part, said: Any) -> None:
    """A message with other things in it than names of the part chooses nothing."""
    widget = part.widget()
    widget.heard = said

    assert (widget.selected, widget.node, widget.proof) == (None, None, None)


def test_names_that_are_no_text_are_found_again() -> None:
    """The page knows names, Python labels: where two labels read the same, the one with the edge is meant."""
    widget = learn(Dag({7: [], "7": [], ("a", 1): [7]}), 7).widget()
    widget.heard = {"edge": ["7", "('a', 1)"], "node": None}

    assert widget.selected == (7, ("a", 1))


def test_without_anywidget_a_sentence_names_the_extra() -> None:
    """The rest of the package does not need it."""
    program = (
        "import sys; sys.modules['anywidget'] = None\n"
        "from apsl_rules import learn, Dag\n"
        "part = learn(Dag({'a': [], 'b': ['a']}), 'a')\n"
        "try:\n    part.widget()\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == (
        "the widget needs anywidget; install it with: pip install 'apsl_rules[widget]', or use part.report()\n"
    )


@pytest.mark.slow
def test_a_kernel_gets_what_a_browser_sends(part: Part) -> None:
    """In a real kernel the widget opens a channel, and a message through it sets the proof."""
    with Kernel() as kernel:
        kernel.run("from apsl_rules import learn, network")
        shown = kernel.run("widget = learn(network('asia'), 'dysp', depth=2).widget()\nwidget")
        assert any("application/vnd.jupyter.widget-view+json" in one for one in shown.data)

        kernel.send_state("widget", {"heard": {"edge": ["bronc", "dysp"], "node": None}})
        printed = kernel.run("print(widget.selected, widget.proof, sep='\\n')").text

    assert printed == f"{('bronc', 'dysp')}\n{part.why('bronc', 'dysp')}\n"


def test_a_widget_says_what_it_shows(part: Part) -> None:
    """Its repr is one line."""
    assert repr(PartWidget(part)) == f"<PartWidget of {part!r}>"


def test_a_page_without_widgets_has_the_drawing(part: Part) -> None:
    """A saved notebook shows the part where the widget was, since no kernel answers there."""
    data, _ = PartWidget(part)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == part._repr_html_()
