"""The text of the report: its policy, what names can do in it, and the modules that its script is joined from."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from apsl_rules import Dag, Part, learn, network
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.parts import load_part
from apsl_rules.views.page import ModuleError, join_modules, report_html
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


VIEWER = files("apsl_rules.views") / "viewer"


def test_a_module_comes_after_what_it_imports() -> None:
    """Each module is a function of its own that gives what it exports, called once, in order."""
    sources = {
        "start": "import { double } from './sums.js';\nimport { one } from './ones.js';\ndouble(one);\n",
        "sums": "import { one } from './ones.js';\nexport const double = (x) => x * 2 * one;\n",
        "ones": "export const one = 1;\nconst double = 'a name of its own';\n",
        "unused": "export const never = 0;\n",
    }

    assert join_modules(sources, "start") == (
        "(() => {\n'use strict';\n"
        "const module_ones = (() => {\nconst one = 1;\nconst double = 'a name of its own';\nreturn { one };\n})();\n"
        "const module_sums = (() => {\nconst { one } = module_ones;\nconst double = (x) => x * 2 * one;\n"
        "return { double };\n})();\n"
        "const module_start = (() => {\nconst { double } = module_sums;\nconst { one } = module_ones;\ndouble(one);\n"
        "return {};\n})();\n})();\n"
    )


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (
            {
                "start": "import { a } from './other.js';\nexport const b = 1;\n",
                "other": "import { b } from './start.js';\nexport const a = 1;\n",
            },
            "modules import each other: start -> other -> start",
        ),
        ({"start": "import { a } from './other.js';\n"}, "start.js imports other.js, which is not there"),
        (
            {"start": "import { a } from './other.js';\n", "other": "const a = 1;\n"},
            "start.js imports a from other.js, which does not export it",
        ),
        ({"start": "export default 1;\n"}, "start.js has a form that is not joined: export default 1;"),
        ({"start": "import * as all from './other.js';\n"}, "a form that is not joined: import"),
        ({"start": "export function a() {}\n"}, "a form that is not joined: export function"),
    ],
    ids=["cycle", "absent", "not exported", "default", "star", "function"],
)
def test_what_cannot_be_joined_is_refused(sources: dict[str, str], words: str) -> None:
    """A sentence says which module, rather than a script that fails in the browser."""
    with pytest.raises(ModuleError, match=re.escape(words)):
        join_modules(sources, "start")


def test_every_module_of_the_page_is_used() -> None:
    """No file lies beside the others for nothing."""
    sources = {
        one.name.removesuffix(".js"): one.read_text("utf-8") for one in VIEWER.iterdir() if one.name[-3:] == ".js"
    }
    joined = join_modules(sources, "start")

    assert {name for name in sources if f"const module_{name} =" not in joined} == set()


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_each_file_is_a_module_by_itself(tmp_path: Path) -> None:
    """Node reads every file as a module, so that editors and linters see what the page runs."""
    for one in VIEWER.iterdir():
        if one.name.endswith(".js"):
            path = tmp_path / one.name.replace(".js", ".mjs")
            path.write_text(one.read_text("utf-8"), "utf-8")
            checked = subprocess.run(
                [str(shutil.which("node")), "--check", str(path)], capture_output=True, check=False
            )
            assert (checked.returncode, checked.stderr) == (0, b"")
