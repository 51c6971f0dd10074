"""Write the page of settings from their declarations; with ``--check`` only compare it with what is committed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from apsl_rules.cli.options import settings_options
from apsl_rules.learning import SETTINGS, setting, settings_on

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
INTRODUCTION = """\
# Settings

<!-- Written by tools/settings_page.py from apsl_rules/learning/settings.py; do not edit. -->

Each setting is a keyword of `learn`, `learn_many`, `learn_graph`, `stability`, `compare`, `effect` and `causes`. Its
key in a config file is the option without the leading dashes. `help(learn)` has the same text.
[Choosing the settings](choosing.md) says when to change a setting.

| setting | default | option | what it does | for |
| --- | --- | --- | --- | --- |
"""
END = """
The tools of `apsl serve` take {tools}; `PartSelector` takes all but {not_selector}.
"""


def page() -> str:
    """Return the page."""
    rows = []
    for name, field in SETTINGS.items():
        said = setting(name)
        option = ", ".join(f"`{max(one.opts, key=len)}`" for one in options_of(name)) or "–"
        default = "–" if field.default in (None, ()) else f"`{field.default!r}`".replace("'", '"')
        text = f"{said.help} {said.more}".strip().replace("``", "`").replace("|", "\\|")
        rows.append(f"| `{name}` | {default} | {option} | {text} | {said.honoured} |")
    tools = ", ".join(f"`{name}`" for name in settings_on("tool"))
    further = ", ".join(f"`{name}`" for name in SETTINGS if name not in settings_on("selector"))
    return INTRODUCTION + "\n".join(rows) + "\n" + END.format(tools=tools, not_selector=further)


def options_of(name: str) -> list[click.Parameter]:
    """Return the options of a setting."""
    if "option" not in setting(name).surfaces:
        return []
    return click.command()(settings_options(name)(lambda **_settings: None)).params


def main(words: Sequence[str]) -> int:
    """Write the page, or compare it with what is committed."""
    if "--check" in words:
        return 0 if PAGE.read_text("utf-8") == page() else 1
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
