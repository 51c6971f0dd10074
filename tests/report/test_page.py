"""The text of the report: its policy, what names can do in it, and that it is always the same."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from apsl_rules import Dag, Part, learn, network
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.parts import load_part
from apsl_rules.views.page import report_html
from apsl_rules.views.page_data import page_data
from support.contradictory import Contradictory
from support.drawn import hostile_dag

PARTS = {
    "alarm": learn(network("alarm"), "HISTORY", depth=2),
    "paper": learn(network("asia"), "lung", depth="max", learner="apsl-paper"),
    "contradictory": learn(Contradictory(), "a", depth="max"),
    "hostile": learn(hostile_dag(), 7, depth="max"),
    "incomplete": learn(network("alarm"), "HREKG", depth="max", max_tests=200),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_loaded_part_gives_the_same_report(part: Part, tmp_path: Path) -> None:
    """Saving and loading a part changes no letter of its report, and writing it twice neither."""
    part.save(tmp_path / "part.json")

    assert report_html(part) == report_html(part) == report_html(load_part(tmp_path / "part.json"))


def test_the_policy_allows_our_script_and_style_only() -> None:
    """Everything is forbidden but the one script and the one style, each by the hash of what stands in the page."""
    html = report_html(PARTS["alarm"])
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (style,) = re.findall(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)

    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules == {"script-src": hashed(script), "style-src": hashed(style)}


def hashed(text: str) -> str:
    """Return the source expression for a text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_page_names_no_address() -> None:
    """There is no link, no source and no style that could load anything; the one address is the name of SVG."""
    html = report_html(PARTS["alarm"])

    assert set(re.findall(r"\w+://[^\s'\"]+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|base)|\ssrc=|@import|url\(", html)


def test_the_script_never_reads_text_as_markup() -> None:
    """Nothing in the script can turn a string into elements or code."""
    html = report_html(PARTS["alarm"])

    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser", html)


def test_no_name_can_end_the_data() -> None:
    """The data has no bracket and no ampersand of its own, and reads back as it was."""
    part = PARTS["hostile"]
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', report_html(part), re.DOTALL)

    assert not set("<>&") & set(text)
    assert json.loads(text) == json.loads(json.dumps(page_data(part)))


def test_a_hostile_target_is_words_in_the_title() -> None:
    """The title escapes the name of the target."""
    part = learn(Dag({"</title><script>": []}), "</title><script>")

    assert "<title>&lt;/title&gt;&lt;script&gt; · part of depth 1</title>" in report_html(part)


def test_facts_and_proofs_are_written_once() -> None:
    """No fact, step or name stands twice in the data."""
    data = page_data(PARTS["alarm"])

    for kind in ("facts", "steps", "names"):
        written = [json.dumps(one) for one in data[kind]]
        assert len(written) == len(set(written))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A path that cannot be written is refused with a sentence, and nothing is left behind."""
    with pytest.raises(InvalidArgumentError, match=r"cannot write .* give a path in a folder that exists"):
        PARTS["paper"].report(tmp_path / "nowhere" / "part.html")
