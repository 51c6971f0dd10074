"""Messages of the library in the words of the command line: ``max_seconds`` becomes ``--max-seconds``.

The library writes an argument as a call has it, ``missing='level'`` or ``kinds={'id': 'number'}``. What stands in
quotation marks elsewhere is a name of the user's and stays as it is, and so does every word without an equals sign,
since a column may be called so.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from apsl_rules._arguments import spelt
from apsl_rules.errors import ApslError

#: Arguments of the library that options have other names for, or that belong to other commands than the one that runs.
OPTIONS: Mapping[str, str] = {
    **{name: f"--{name}" for name in ("adjust", "counts", "data", "depth", "discretize", "drop", "empty")},
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
    ("give the path of a file as text or Path", "give the path of a file"),
    (", or a source of counts itself as the source to learn from", ""),
    ("part.save() or 'apsl learn ... --out part.json'", "apsl learn ... --out part.json"),
    ("graph.directed() gives all edges a direction", "give each edge an arrow"),
)


def with_option_names(message: str, command: click.Command, argument: str | None = None) -> str:
    """Return a message that names options where it named arguments of the library.

    An argument is recognised where an equals sign follows (``missing='level'``, ``drop=['id']``, ``max_tests=``), and
    at the start of a message if it is the ``argument`` that an error says to be about ("depth is 0"). Any other word
    may be the name of a column, and stays.

    >>> command = click.Command("learn", params=[click.Option(["--max-seconds"])])
    >>> with_option_names("max_seconds is -1.0; give a number above 0", command, "max_seconds")
    '--max-seconds is -1.0; give a number above 0'
    >>> with_option_names("the best graph near max_seconds is 3 nats ahead", command)
    'the best graph near max_seconds is 3 nats ahead'
    """
    for sentence, spoken in _SENTENCES:
        message = message.replace(sentence, spoken)
    names = _names(command)
    if argument is not None:
        message = _begun(message, argument, names)
    return "".join(_replaced(message, names, _flags(command)))


def spoken_error(error: ApslError, command: click.Command) -> str:
    """Return the sentence of an error in the words of a command; one about an argument is worded from its data."""
    if not error.advice:
        return with_option_names(str(error), command, error.argument)
    option = _names(command).get(_bare(str(error.argument)), error.argument)
    return f"{option} is {spelt(error.value)}; {with_option_names(error.advice, command)}"


def _names(command: click.Command) -> dict[str, str]:
    """Return the option for each argument; a command that takes several learners has --learners for learner."""
    spelt = {str(one.name): _spelling(one) for one in command.params}
    own = {name: option for name, option in spelt.items() if option.lower().lstrip("-").replace("-", "_") == name}
    several = {name: own[f"{name}s"] for name in OPTIONS if f"{name}s" in own}
    return {**OPTIONS, **several, **own}


def _flags(command: click.Command) -> frozenset[str]:
    named = (str(one.name) for one in command.params if isinstance(one, click.Option) and one.is_flag)
    return frozenset(["certified", "hidden", "open_edges", *named])


def _replaced(message: str, names: Mapping[str, str], flags: frozenset[str]) -> Iterator[str]:
    """Cut a message into prose, names in quotation marks, and options with their values in the place of arguments."""
    begin = at = 0
    while at < len(message):
        if quoted := _QUOTED.match(message, at):
            yield message[begin:at]
            yield quoted[0]
            begin = at = quoted.end()
        elif (found := _ARGUMENT.match(message, at)) and (found["name"] in names or found["name"] in _SPELLINGS):
            value, end = _value_at(message, found.end())
            yield message[begin:at]
            yield _option(found["name"], value, names, flags)
            begin = at = end
        elif (named := _NAMED.match(message, at)) and named["name"] in names:
            yield message[begin:at]
            yield f"option {names[named['name']]}"
            begin = at = named.end()
        elif call := _CALL.match(message, at):
            value, end = _value_at(message, call.end())
            yield message[begin:at]
            yield _command(call["call"], value)
            begin = at = end
        else:
            at += 1
    yield message[begin:]


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
    spoken = [f"--{kind} {_typed(name)}" for name, kind in named if kind in ("number", "ordered", "category")]
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


def _begun(message: str, argument: str, names: Mapping[str, str]) -> str:
    """Return a message with an option in the place of the argument that it is about, where it begins with that."""
    name = _bare(argument)
    if name not in names:
        return message
    spoken = re.sub(rf"^(?:the (?:number of )?)?{re.escape(name)} (?=is |are )", f"{names[name]} ", message)
    return re.sub(rf"^(unknown (?:column|node) in ){re.escape(name)} ", rf"\1{names[name]} ", spoken)


def _bare(argument: str) -> str:
    """Return the name of an argument that is called "the seed" or "the number of rows"."""
    return argument.removeprefix("the ").removeprefix("number of ")


def _typed(value: Any) -> str:
    """Return a value as it is typed in a shell."""
    return shlex.quote(str(value))


def _spelling(parameter: click.Parameter) -> str:
    """Return how a parameter is written on the command line: its long option, or an argument in capitals."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()
