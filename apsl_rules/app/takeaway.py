"""What one takes away of a study: a file, a script and a command line that learn the same part, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.answers import Answer, spelt_label
from apsl_rules.app.study import ALL, FURTHER, KINDS, Study
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks import network_names
from apsl_rules.knowledge import NOTHING, Knowledge, knowledge_text, parse_knowledge
from apsl_rules.learning import AUTO
from apsl_rules.names import nearest

#: How the files are called that are taken away.
STUDY, SCRIPT, PART = "study.toml", "study.py", "part.json"
#: The files that can be taken away.
FILES = (
    *(STUDY, SCRIPT, PART, "report.html", "figure.pdf", "figure.svg", "figure.png", "figure.tex"),
    *("table.md", "table.tex", "edges.csv", "effects.csv", "part.dot"),
)
_KEYS = ("source", "target", "depth", "hidden", *KINDS, "drop", "na", "knowledge", *FURTHER)


def study_text(study: Study) -> str:
    """Return a study as TOML, which ``apsl open`` and ``apsl learn --config`` read."""
    lines = ["# 'apsl open' goes on with this study, and 'apsl learn --config' learns its part."]
    lines += [
        f"{key} = {spelt_label(value)}" for key, value in (("source", study.source), ("target", study.target)) if value
    ]
    lines.append(f"depth = {spelt_label(study.depth)}")
    lines += [f"hidden = {spelt_label(study.hidden)}"] if study.hidden != AUTO else []
    for kind in KINDS:
        names = [name for name, own in study.kinds.items() if own == kind]
        lines += [f"{kind} = {_list(names)}"] if names else []
    lines += [f"drop = {_list(study.drop)}"] if study.drop else []
    if study.na:
        codes = (f"{{ {spelt_label(name)} = {_list(said)} }}" for name, said in study.na.items())
        lines.append(f"na = [{', '.join(codes)}]")
    lines += [
        f"{name} = {_list(said) if isinstance(said, list) else spelt_label(said)}"
        for name, said in study.further.items()
    ]
    if study.knowledge != NOTHING:
        text = knowledge_text(study.knowledge).splitlines()
        lines += ["", "[knowledge]", *("[[knowledge.answers]]" if one == "[[answers]]" else one for one in text)]
    return "\n".join([*lines, ""])


def _list(names: Any) -> str:
    return f"[{', '.join(map(spelt_label, names))}]"


def read_study(path: str | Path) -> Study:
    """Read a study from its file."""
    origin = f"the study {str(path)!r}"
    try:
        data = toml_data(file_text(path))
    except DocumentError as error:
        message = f"{origin} cannot be read: {error}"
        raise InvalidArgumentError(message) from error
    for key in data:
        if key not in _KEYS:
            message = f"{origin} has the unknown key {key!r}{nearest(key, _KEYS)}; known are {', '.join(_KEYS)}"
            raise InvalidArgumentError(message)
    kinds: dict[str, Any] = {name: kind for kind in KINDS for name in _names(data.get(kind, []), kind, origin)}
    na: dict[str, tuple[str, ...]] = {}
    for one in data.get("na", []):
        pairs = one.items() if isinstance(one, Mapping) else [(ALL, one)]
        for name, codes in pairs:
            na[name] = tuple(map(str, codes if isinstance(codes, list) else [codes]))
    known = parse_knowledge(file_text(path), origin) if "knowledge" in data else Knowledge()
    return Study(
        data.get("source"),
        kinds,
        _names(data.get("drop", []), "drop", origin),
        na,
        data.get("target"),
        data.get("depth", 1),
        data.get("hidden", AUTO),
        known,
        {name: data[name] for name in FURTHER if name in data},
    )


def _names(value: Any, key: str, origin: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        message = f"{key} in {origin} is {value!r}; give a list of names, such as ['age']"
        raise InvalidArgumentError(message)
    return tuple(value)


def script_text(study: Study) -> str:
    """Return a Python script that learns the part of a study and saves it."""
    known = study.knowledge
    is_network = study.source in network_names()
    names = [*(["Knowledge"] if known != NOTHING else []), "learn", *(["network"] if is_network else [])]
    imports = [f"from apsl_rules import {', '.join(names)}"]
    imports += ["from apsl_rules.answers import Answer"] if known.answers else []
    settings = {**study.settings}
    if known != NOTHING:
        settings["knowledge"] = _Code(_knowledge_code(known))
    given = "".join(f"    {name}={value!r},\n" for name, value in settings.items())
    source = f"network({study.source!r})" if is_network else repr(study.source)
    call = f"part = learn(\n    {source},\n    {study.target!r},\n{given})"
    return "\n".join([*imports, "", call, "print(part)", f"part.save({PART!r})", ""])


class _Code(str):
    """Text that is code already."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _knowledge_code(known: Knowledge) -> str:
    lines = [
        f"        {name}={list(getattr(known, name))!r},\n"
        for name in ("required", "forbidden")
        if getattr(known, name)
    ]
    if known.answers:
        answers = "".join(f"            {_answer_code(one)},\n" for one in known.answers)
        lines.append(f"        answers=[\n{answers}        ],\n")
    return f"Knowledge(\n{''.join(lines)}    )"


def _answer_code(one: Answer) -> str:
    about = "" if one.target is None else f", target={one.target!r}"
    return f"Answer({one.id!r}, {dict(one.reply)!r}, by={one.by!r}, date={one.date!r}{about})"


#: The command line that learns the part of a study from its file and saves it.
COMMAND = f"apsl learn --config {STUDY} --out {PART}"
