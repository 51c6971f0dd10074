"""What one clicks on the page: controls of settings, and the changes that sentences of the library speak of.

A sentence of the library names arguments. On the page each is a button that makes the change where one click can, and
otherwise the words that the page has for it.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from apsl_rules.app.study import FURTHER
from apsl_rules.learning import SETTINGS, Request, setting
from apsl_rules.names import Node
from apsl_rules.notes import Argument, Sentence

#: What is said of a setting on the page where its own help speaks of how it is typed.
_HELP: Mapping[str, str] = {
    "groups": "The column that says which rows belong together, such as a school; none treats rows as independent.",
    "keep": "Columns to keep although the target defines them, or they define it.",
    "missing": (
        "Rows with missing values: left out test by test (testwise), all of them left out (complete), counted as a "
        "level of their own (level), or refused."
    ),
    "discretize": "Cut all numbers into categories: quantile:3 has as many rows in each, width:4 is equally wide.",
}


def controls() -> list[dict[str, Any]]:
    """Return the settings that the page takes beside those with a place of their own, from their declarations."""
    return [_control(name) for name in FURTHER]


def _control(name: str) -> dict[str, Any]:
    """Return a setting with what is chosen among for it: columns, words, a number or a text."""
    hint = get_type_hints(Request)[name]
    kinds = [one for one in (get_args(hint) or (hint,)) if one is not type(None)]
    literal = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    typed = [word for word in (setting(name).metavar or "").split("|") if word and word != word.upper()]
    several = any(get_origin(one) is abc.Iterable for one in kinds)
    if several or Node in kinds:
        what = "columns" if several else "column"
    elif literal:
        what = "words"
    else:
        what = "number" if int in kinds else "text"
    default = SETTINGS[name].default
    return {
        "name": name,
        "title": _TITLES.get(name, name.replace("_", " ").capitalize()),
        "help": _HELP.get(name, setting(name).help),
        "what": what,
        "words": [word for word in (*typed, *literal) if word not in (default, "*")],
        "default": default if isinstance(default, str) else None,
    }


#: What a setting is called on the page where its name says too little.
_TITLES: Mapping[str, str] = {"missing": "Missing values", "discretize": "Cut numbers", "keep": "Keep anyway"}

Piece = str | dict[str, Any]


def clickable(text: str) -> list[Piece] | str:
    """Return a sentence as the page says it: its text, or pieces of which some are changes with their words.

    >>> from apsl_rules.notes import argument
    >>> clickable(Sentence(f"take it back with {argument('kinds', {'id': 'category'})}"))
    ['take it back with ', {'words': 'id: category', 'change': {'what': 'kind', 'column': 'id', 'kind': 'category'}}]
    """
    if not isinstance(text, Sentence) or not any(isinstance(one, Argument) for one in text.pieces):
        return str(text)
    found: list[Piece] = []
    for one in text.pieces:
        for piece in [one] if isinstance(one, str) else _ways(one):
            if isinstance(piece, str) and found and isinstance(found[-1], str):
                found[-1] += piece
            elif piece:
                found.append(piece)
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def in_words(text: str) -> str:
    """Return a sentence as the page says it where nothing can be clicked.

    >>> from apsl_rules.notes import argument
    >>> in_words(Sentence(f"leave it out with {argument('drop', ['id'])}"))
    'leave it out with “leave out id”'
    """
    said = clickable(text)
    if isinstance(said, str):
        return said
    return "".join(one if isinstance(one, str) else f"“{one['words']}”" for one in said)


def _ways(one: Argument) -> Iterator[Piece]:
    """Return the changes that an argument stands for, with words between them; without any the words for it."""
    made = _CHANGES[one.name](one.value) if one.name in _CHANGES and one.value is not None else []
    for number, (words, change) in enumerate(made):
        if number:
            yield ", "
        yield {"words": words, "change": change}
    if one.name == "knowledge":
        tiers = one.value.get("tiers", []) if isinstance(one.value, abc.Mapping) else []
        order = ", then ".join(" and ".join(map(str, tier)) for tier in tiers)
        yield {"words": f"What I know: {order}" if order else "What I know", "step": "know"}
    elif not made:
        yield _WORDS.get(one.name) or one.name.replace("_", " ")


Changes = list[tuple[str, dict[str, Any]]]


def _kinds(given: Any) -> Changes:
    named = given.items() if isinstance(given, abc.Mapping) else ()
    return [(f"{name}: {kind}", {"what": "kind", "column": str(name), "kind": kind}) for name, kind in named]


def _drop(given: Any) -> Changes:
    return [(f"leave out {name}", {"what": "drop", "column": str(name), "out": True}) for name in _several(given)]


def _na(given: Any) -> Changes:
    named = given.items() if isinstance(given, abc.Mapping) else [("*", given)]
    return [
        (
            f"missing = {', '.join(map(str, _several(codes)))}{'' if name == '*' else f' in {name}'}",
            {"what": "missing", "column": str(name), "codes": [*map(str, _several(codes))]},
        )
        for name, codes in named
    ]


def _hidden(given: Any) -> Changes:
    return [(_WORLDS[given], {"what": "hidden", "hidden": given})] if given in _WORLDS else []


def _further(name: str) -> Callable[[Any], Changes]:
    def change(given: Any) -> Changes:
        if isinstance(given, abc.Mapping):
            return []
        words = f"{name.replace('_', ' ')}: {', '.join(map(str, _several(given)))}"
        return [(words, {"what": "setting", "name": name, "value": given})]

    return change


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


#: How the page calls the three things that can be said of hidden causes.
_WORLDS = {
    "possible": "Some common cause may be missing",
    "excluded": "No common cause is missing",
    "allowed": "Mark where one may hide",
}
_CHANGES: Mapping[str, Callable[[Any], Changes]] = {
    **{name: _further(name) for name in FURTHER},
    "kinds": _kinds,
    "drop": _drop,
    "na": _na,
    "hidden": _hidden,
}
#: The words for arguments that no click gives at once.
_WORDS: Mapping[str, str] = {
    "adjust": "what is held",
    "data": "the table",
    "depth": "how far",
    "drop": "what is left out",
    "hidden": "what is said of hidden causes",
    "kinds": "the kinds of the columns",
    "na": "what stands for a missing value",
    "only": "the columns that are read",
    "source": "the table",
    "part": "the part",
    "roots": "what is said under What I know",
    "table": "the table",
    "target": "the target",
}
