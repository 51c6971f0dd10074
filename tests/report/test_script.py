"""The script of the page, joined from modules: their order, their names, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from apsl_rules.views.page import ModuleError, join_modules

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
