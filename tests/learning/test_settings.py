"""Settings are declared once: each surface is made from the declaration."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import apsl_rules
from apsl_rules.learning import SETTINGS, setting
from apsl_rules.learning.settings import Request, Settings
from apsl_rules.parts import DEFAULT_DIRECTION

ROOT = Path(__file__).parents[2]
#: Functions that take every setting, and settings that are their own.
WITH_ALL = {
    **dict.fromkeys(("causes", "effect", "learn", "learn_graph", "learn_many", "stability"), ()),
    "compare": ("learner",),
}


def test_types_are_those_of_the_declaration() -> None:
    """What type checkers see of a setting is what its field says, in the same order."""
    declared = get_type_hints(Request)
    assert list(get_type_hints(Settings).items()) == [(name, declared[name]) for name in SETTINGS]


@pytest.mark.parametrize("name", WITH_ALL)
def test_signatures_and_help_show_every_setting(name: str) -> None:
    """Nothing hides behind two stars: neither in the signature nor in the help."""
    function = getattr(apsl_rules, name)
    parameters = inspect.signature(function).parameters
    shown = [one for one in SETTINGS if one not in WITH_ALL[name]]

    assert [one for one in shown if one not in parameters] == []
    assert [one for one in parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD] == []
    assert all(setting(one).help.split()[0] in (inspect.getdoc(function) or "") for one in shown)


def test_an_effect_rests_on_sure_directions_unless_asked() -> None:
    """A default that differs from that of `learn` stands in the signature."""
    parameters = inspect.signature(apsl_rules.effect).parameters
    assert parameters["min_direction"].default > DEFAULT_DIRECTION
    assert inspect.signature(apsl_rules.learn).parameters["min_direction"].default is None


#: A new setting is one field and its type in one file: this adds them to the source, and asks every surface.
NEW = """
import json, sys, types
from pathlib import Path
from inspect import signature
import click, anyio
path = Path(sys.argv[1])
text = path.read_text("utf-8")
field = "    probe: int | None = _setting(None, 'Look closer.', on=_EVERYWHERE, check=_check_limit)\\n"
before = "    plugins: Plugins | Iterable[object]"
text = text.replace(f"{before} = ", f"{field}{before} = ", 1)
text = text.replace(f"{before}\\n", f"    probe: int | None\\n{before}\\n")
module = types.ModuleType("apsl_rules.learning.settings")
sys.modules[module.__name__] = module
exec(compile(text, str(path), "exec"), vars(module))
import apsl_rules
from apsl_rules.cli.main import apsl
from apsl_rules.learning.sklearn import PartSelector
from apsl_rules.server import Limits
from apsl_rules.server.protocol import make_server
sys.path.append(sys.argv[2])
import settings_page
learn = apsl.get_command(click.Context(apsl), "learn")
tools = anyio.run(make_server(Limits((path.parent,))).list_tools)
try:
    apsl_rules.learn(apsl_rules.network("cancer"), "Cancer", probe=0)
except ValueError as error:
    refused = str(error)
print(json.dumps({
    "signature": signature(apsl_rules.learn).parameters["probe"].default,
    "help": "Look closer." in apsl_rules.learn.__doc__,
    "option": [one.help for one in learn.params if "--probe" in one.opts],
    "tool": {one.name: one.input_schema["properties"].get("probe", {}).get("description") for one in tools}["learn"],
    "selector": PartSelector(probe=3).get_params()["probe"],
    "page": "| `probe` | – | `--probe` | Look closer. |" in settings_page.page(),
    "refused": refused,
}))
"""


def test_a_new_setting_is_one_declaration() -> None:
    """Signature, help, check, option, tool, selector and page follow from a field in one file."""
    file = ROOT / "apsl_rules" / "learning" / "settings.py"
    done = subprocess.run(
        [sys.executable, "-c", NEW, str(file), str(ROOT / "tools")], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "signature": None,
        "help": True,
        "option": ["Look closer."],
        "tool": "Look closer.",
        "selector": 3,
        "page": True,
        "refused": "probe is 0; give at least 1",
    }
