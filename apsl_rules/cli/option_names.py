"""Messages of the library in the words of the command line: ``max_seconds`` becomes ``--max-seconds``.

The library writes an argument as a call has it, ``missing='level'`` or ``kinds={'id': 'number'}``. What stands in
quotation marks elsewhere is a name of the user's and stays as it is.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

#: Arguments of the library that options have other names for, or that belong to other commands than the one that runs.
OPTIONS: Mapping[str, str] = {
    **{name: f"--{name}" for name in ("adjust", "counts", "data", "depth", "discretize", "drop", "empty", "keep")},
    **{name: f"--{name}" for name in ("certified", "hidden", "learner", "missing", "only", "scored", "weights")},
    "max_conditioning": "--max-conditioning",
    "memory_limit": "--memory-limit",
    "open_edges": "--directed",
}
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_QUOTED = re.compile(rf"(?<!\w)(?:{_TEXT})(?!\w)")
_ARGUMENT = re.compile(r"(?<![\w'./-])(?P<name>[a-z_]+)=(?![=\s]*=)")
_NAMED = re.compile(r"(?<!\w)option '(?P<name>[a-z_]+)'")
_CALL = re.compile(r"(?<![\w'.])(?P<call>part\.why|do)(?=\()")
_OUTER = {"[": "]", "{": "}", "(": ")"}
_INNER = re.compile(rf"{_TEXT}|[\[\]{{}}()]")
_PLAIN = re.compile(rf"{_TEXT}|-?\d+(?:\.\d+)?|\w*")
#: Sentences that read wrongly when only their argument is replaced.
_SENTENCES = (
    ("with hidden='excluded'", "without --hidden"),
    ("learn_many(..., journal=path) writes one", "apsl many ... --journal FILE writes one"),
    ("; use verify", "; use apsl verify"),
    (", or a source of counts itself as the source to learn from", ""),
    ("part.save() or 'apsl learn ... --out part.json'", "apsl learn ... --out part.json"),
    ("graph.directed() gives all edges a direction", "give each edge an arrow"),
)


def with_option_names(message: str, command: click.Command) -> str:
    """Return a message that names options where it named arguments of the library.

    An argument is recognised before a value (``missing='level'``, ``drop=['id']``, "discretize is 'none'"), at the
    start of the message ("depth is 0", "levels are 3 to 2"), and anywhere if its name has an underscore.

    >>> option = click.Option(["--max-seconds"])
    >>> with_option_names("max_seconds is -1.0; give a number above 0", click.Command("learn", params=[option]))
    '--max-seconds is -1.0; give a number above 0'
    """
    for sentence, spoken in _SENTENCES:
        message = message.replace(sentence, spoken)
    names = _names(command)
    pieces = list(_replaced(message, names, _flags(command)))
    if pieces and pieces[0][1]:
        pieces[0] = (_begun(pieces[0][0], names), True)
    return "".join(_spoken(text, names) if is_prose else text for text, is_prose in pieces)


def _names(command: click.Command) -> dict[str, str]:
    """Return the option for each argument; a command that takes several learners has --learners for learner."""
    spelt = {str(one.name): _spelling(one) for one in command.params}
    own = {name: option for name, option in spelt.items() if option.lower().lstrip("-").replace("-", "_") == name}
    several = {name: own[f"{name}s"] for name in OPTIONS if f"{name}s" in own}
    return {**OPTIONS, **several, **own}


def _flags(command: click.Command) -> frozenset[str]:
    named = (str(one.name) for one in command.params if isinstance(one, click.Option) and one.is_flag)
    return frozenset(["certified", "hidden", "open_edges", *named])


def _replaced(message: str, names: Mapping[str, str], flags: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Cut a message into prose and what stays as it is: names in quotation marks, and options with their values."""
    begin = at = 0
    while at < len(message):
        if quoted := _QUOTED.match(message, at):
            yield message[begin:at], True
            yield quoted[0], False
            begin = at = quoted.end()
        elif (found := _ARGUMENT.match(message, at)) and (found["name"] in names or found["name"] in _SPELLINGS):
            value, end = _value_at(message, found.end())
            yield message[begin:at], True
            yield _option(found["name"], value, names, flags), False
            begin = at = end
        elif (named := _NAMED.match(message, at)) and named["name"] in names:
            yield message[begin:at], True
            yield f"option {names[named['name']]}", False
            begin = at = named.end()
        elif call := _CALL.match(message, at):
            value, end = _value_at(message, call.end())
            yield message[begin:at], True
            yield _command(call["call"], value), False
            begin = at = end
        else:
            at += 1
    yield message[begin:], True


def _value_at(message: str, at: int) -> tuple[str, int]:
    """Return the value that begins somewhere in a message, and where it ends; there may be none."""
    if call := re.compile(r"[A-Z]\w*(?=\()").match(message, at):
        inner, end = _value_at(message, call.end())
        return call[0] + inner, end
    if message[at : at + 1] not in _OUTER:
        found = _PLAIN.match(message, at)
        return (found[0], found.end()) if found else ("", at)
    depth = 0
    for one in _INNER.finditer(message, at):
        depth += (one[0] in _OUTER) - (one[0] in _OUTER.values())
        if not depth:
            return message[at : one.end()], one.end()
    return "", at


def _option(name: str, value: str, names: Mapping[str, str], flags: frozenset[str]) -> str:
    """Return the option that stands for an argument and its value."""
    if not value and name in names:
        return names[name]
    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        given = value
    if name in _SPELLINGS:
        return _SPELLINGS[name](given)
    if name in flags:
        return names[name]
    return f"{names[name]} {_typed(given)}"


def _columns(option: str) -> Callable[[Any], str]:
    def spell(given: Any) -> str:
        given = given if isinstance(given, list | tuple) else [given]
        return " ".join(f"{option} {_typed(one)}" for one in given)

    return spell


def _kinds(given: Any) -> str:
    """Return the options that say for which kinds columns are taken."""
    named = given.items() if isinstance(given, dict) else ()
    spoken = [f"--{kind} {_typed(name)}" for name, kind in named if kind in ("number", "category")]
    return " ".join(spoken) or "--number or --category"


def _discretize(given: Any) -> str:
    if isinstance(given, dict):
        return " ".join(f"--discretize {_typed(f'{name}={cut}')}" for name, cut in given.items())
    return f"--discretize {_typed(given)}" if given else "--discretize"


def _knowledge(given: Any) -> str:
    """Return the options for tiers, which are written as Python code that ends in three dots."""
    at = str(given).find("tiers=[")
    if at < 0:
        return "--knowledge"
    text, _ = _value_at(str(given), at + len("tiers="))
    spoken, place = [], 1
    while (place := text.find("[", place)) > 0:
        tier, place = _value_at(text, place)
        nodes = [str(ast.literal_eval(one)) for one in re.findall(rf"{_TEXT}|-?\d+(?:\.\d+)?", tier)]
        spoken.append(f"--tier {_typed(','.join(nodes))}")
    return " ".join([*spoken, "--tier ..."])


_SPELLINGS: Mapping[str, Callable[[Any], str]] = {
    "discretize": _discretize,
    "drop": _columns("--drop"),
    "kinds": _kinds,
    "knowledge": _knowledge,
    "only": _columns("--only"),
}


def _command(call: str, arguments: str) -> str:
    """Return what is typed for a call of a method."""
    inner = arguments[1:-1]
    if call == "part.why":
        nodes = [ast.literal_eval(one) for one in re.findall(rf"{_TEXT}|-?\d+(?:\.\d+)?", inner)]
        return f"apsl why PART {' '.join(map(_typed, nodes))}"
    levels = re.findall(rf"(\w+)=({_TEXT})", inner)
    return " ".join(["--do", *(_typed(f"{name}={ast.literal_eval(level)}") for name, level in levels)])


def _begun(text: str, names: Mapping[str, str]) -> str:
    """Return the start of a message with an option in the place of the argument that it is about."""
    for name, option in names.items():
        replaced = re.sub(rf"^(?:the (?:number of )?)?{re.escape(name)} (is|are) ", rf"{option} \1 ", text)
        if replaced != text:
            return replaced
    return text


def _spoken(text: str, names: Mapping[str, str]) -> str:
    """Return prose with options in the place of arguments: before "is" and a value, and of names with underscores."""
    for name, option in sorted(names.items(), key=lambda one: -len(one[0])):
        word = re.escape(name)
        text = re.sub(rf"(?<![\w'./-])(?<!the )(?<!of ){word} is (?=$|[\d-])", f"{option} is ", text)
        text = re.sub(rf"(?<![\w'./-])(column|node) in {word}(?![\w'])", rf"\1 in {option}", text)
        if "_" in name:
            text = re.sub(rf"(?<![\w'./-]){word}(?![\w'])", option, text)
    return text


def _typed(value: Any) -> str:
    """Return a value as it is typed in a shell."""
    return shlex.quote(str(value))


def _spelling(parameter: click.Parameter) -> str:
    """Return how a parameter is written on the command line: its long option, or an argument in capitals."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()
