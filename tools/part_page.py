"""Write the page of all methods of a part, from its docstrings; with ``--check`` only compare it with the page."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs

from apsl_rules import Part

PAGE = Path(__file__).parents[1] / "docs" / "part.md"
INTRODUCTION = """\
# All methods of a part

<!-- Written by tools/part_page.py from the docstrings of Part; do not edit. -->

`learn` returns a `Part`. This page has every method and every property of it, in the order in which questions come.
[Parts and proofs](reference/parts.md) has them argument by argument, and `help(part.why)` says the same.
"""
#: The methods and properties by the question that they answer, and the page that has examples.
GROUPS = {
    "What is the answer?": ("reading.md", ("summary", "picture", "rows", "to_frame", "neighbours_of", "labels")),
    "Which edges are there?": (
        "reading.md",
        ("edges", "arrows", "lines", "suggested", "conflicts", "gaps", "mark", "parents_of", "children_of"),
    ),
    "How sure is it?": (
        "directions.md",
        ("edge_probability", "direction_probability", "edge_p", "doubtful", "fragile", "alternatives", "disputed"),
    ),
    "Why is it so?": ("reading.md", ("why", "findings", "proofs", "trace", "states", "history", "store")),
    "How much?": ("effects.md", ("effects", "fit")),
    "What do people know?": ("asking.md", ("questions", "answer", "relearn", "difference")),
    "May a cause be hidden?": (
        "hidden-causes.md",
        ("allows_hidden", "bidirected", "partial", "end", "hidden_causes_at", "is_visible"),
    ),
    "How does it look?": ("report.md", ("report", "figure", "svg", "plot", "widget")),
    "Where can it go?": ("exports.md", ("save", "to", "to_networkx", "graph")),
    "How far does it reach?": (
        "reading.md",
        (
            *("members", "layers", "visited", "is_inner", "outside", "all_arrows", "all_lines", "all_suggested"),
            *("earlier", "is_from_data"),
        ),
    ),
}
HEAD = "| `part.` | gives |\n| --- | --- |"
_ATTRIBUTE = re.compile(r"^(\w[\w, ]*)\n +(\S.*(?:\n +\S.*)*)", re.MULTILINE)


def page() -> str:
    """Return the page; a method without a place on it is an error."""
    fields = {field.name for field in attrs.fields(Part)}
    public = {name for name in dir(Part) if not name.startswith("_")} - fields
    placed = [name for _, names in GROUPS.values() for name in names]
    if sorted(placed) != sorted(public):
        sys.exit(f"GROUPS has no place, or two, for {sorted(public.symmetric_difference(placed)) or placed}")
    pieces = [INTRODUCTION]
    for question, (link, names) in GROUPS.items():
        rows = "\n".join(f"| `{call(name)}` | {about(name)} |" for name in names)
        pieces.append(
            f"## {question}\n\n| `part.` | gives |\n| --- | --- |\n{rows}\n\nExamples: [{title(link)}]({link}).\n"
        )
    told = inspect.getdoc(Part) or ""
    rows = "\n".join(
        f"| {_code(names)} | {_plain(text)} |" for names, text in _ATTRIBUTE.findall(told.partition("-\n")[2])
    )
    pieces.append(f"## What was asked for, and what was found\n\n| `part.` | gives |\n| --- | --- |\n{rows}\n")
    return "\n".join(pieces)


def call(name: str) -> str:
    """Return how a method is called, or the name of a property."""
    found = inspect.getattr_static(Part, name)
    if not inspect.isfunction(found):
        return name
    given = [one for one in inspect.signature(found).parameters.values() if one.name != "self"]
    return f"{name}({', '.join(map(_argument, given))})"


def _argument(one: inspect.Parameter) -> str:
    if one.kind is inspect.Parameter.VAR_KEYWORD:
        return f"**{one.name}"
    return one.name if one.default is inspect.Parameter.empty else f"{one.name}={one.default!r}"


def about(name: str) -> str:
    """Return the first paragraph of what is said of a method or a property."""
    told = _plain((inspect.getdoc(getattr(Part, name)) or "").partition("\n\n")[0]).removeprefix("Return ")
    return told[:1].upper() + told[1:]


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def title(link: str) -> str:
    """Return the title of a page."""
    return (PAGE.parent / link).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def main(words: Sequence[str]) -> int:
    """Write the page, or compare it with what is committed."""
    if "--check" in words:
        return 0 if PAGE.read_text("utf-8") == page() else 1
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
