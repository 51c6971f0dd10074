"""The pages of the documentation as tests: their examples, run one after the other."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import attrs

from support.terminal import Done, apsl_here

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


@attrs.frozen
class Ran:
    """How many examples of a page were run: Python blocks, those of them that print, and commands."""

    python: int
    printing: int
    commands: int


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page as (language, text)."""
    return _BLOCK.findall(page.read_text("utf-8"))


def run_page(page: Path, folder: Path, command: Callable[..., Done] = apsl_here) -> Ran:
    """Run all examples of a page from above to below, in one folder; ``command`` runs those of the command line.

    Python blocks share one scope; one that prints must be followed by a block with exactly what it prints. Lines that
    begin with ``apsl`` in blocks without a language are commands and must succeed, with no word on standard error but
    on what was written; a block that begins with "$ " is a recording and is not run. A TOML block that begins with
    ``# NAME`` is a file of that name.
    """
    scope: dict[str, object] = {"__name__": "__page__"}
    python = printing = commands = 0
    found = blocks(page)
    for (language, text), (_, shown) in zip(found, [*found, ("", "")][1:], strict=True):
        if language == "python":
            printed = io.StringIO()
            with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
                exec(compile(text, page.name, "exec"), scope)  # noqa: S102 - the page's own examples
            if printed.getvalue():
                assert printed.getvalue().strip() == shown.strip(), f"{page.name}: this prints something else:\n{text}"
                printing += 1
            python += 1
        elif language == "toml" and text.startswith("# "):
            (folder / text.splitlines()[0].removeprefix("# ")).write_text(text, "utf-8")
        elif not language and not text.startswith("$ "):
            for line in text.splitlines():
                if line.startswith("apsl "):
                    done = command(*shlex.split(line)[1:], folder=folder)
                    said = [one for one in done.err.splitlines() if not one.startswith("wrote ")]
                    assert (done.code, said) == (0, []), f"{page.name}: {line}"
                    commands += 1
    return Ran(python, printing, commands)
