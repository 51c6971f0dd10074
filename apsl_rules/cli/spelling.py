"""How the command line spells what sentences of the library name: ``max_seconds`` is ``--max-seconds``."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

import click

from apsl_rules.notes import Argument, Sentence

#: Arguments whose options have other names.
_OPTIONS: Mapping[str, str] = {"open_edges": "--directed"}
#: Arguments of other commands that stand without a value there.
_FLAGS: Mapping[str, object] = {"certified": True, "hidden": "allowed", "open_edges": "direct"}
_KINDS = ("number", "ordered", "category")


def in_options(text: str, command: click.Command) -> str:
    """Return a sentence with options in the place of the arguments that it names.

    >>> from apsl_rules.notes import named
    >>> command = click.Command("learn", params=[click.Option(["--max-seconds"])])
    >>> in_options(Sentence(f"{named('max_seconds')} is -1.0; give a number above 0"), command)
    '--max-seconds is -1.0; give a number above 0'
    """
    return text.spoken(lambda one: _spelt(one, command)) if isinstance(text, Sentence) else text


def _spelt(one: Argument, command: click.Command) -> str:
    """Return what is typed for an argument and its value."""
    if one.name in _CALLS:
        return _CALLS[one.name](one.value)
    parameters = {str(parameter.name): parameter for parameter in command.params}
    if one.name in _SPELLINGS:
        return _SPELLINGS[one.name](one.value)
    option = _option(one.name, parameters)
    return option if _stands_alone(one, parameters.get(one.name)) else f"{option} {_typed(one.value)}"


def _option(name: str, parameters: Mapping[str, click.Parameter]) -> str:
    """Return the option of an argument: of the command itself, or, where that has none, of the commands that do."""
    for called in (name, f"{name}s"):  # a command that takes several learners has --learners
        if called in parameters and _is_of(parameters[called], called):
            return spelling(parameters[called])
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def _is_of(parameter: click.Parameter, name: str) -> bool:
    """Return whether a parameter is called like an argument of the library, so that it is one."""
    return spelling(parameter).lower().lstrip("-").replace("-", "_") == name


def _stands_alone(one: Argument, parameter: click.Parameter | None) -> bool:
    """Return whether an option is given without a value."""
    if one.value is None or (isinstance(parameter, click.Option) and parameter.is_flag):
        return True
    alone = parameter.flag_value if isinstance(parameter, click.Option) else _FLAGS.get(one.name)
    return bool(one.value == alone)


def spelling(parameter: click.Parameter) -> str:
    """Return how a parameter is typed: its long option, or an argument in capitals."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()


def _columns(option: str) -> Callable[[Any], str]:
    return lambda given: " ".join(f"{option} {_typed(one)}" for one in given) if given else option


def _kinds(given: Mapping[str, str] | None) -> str:
    """Return the options that say for which kinds columns are taken."""
    spoken = [
        f"--{kind} {_typed(name)}" if kind in _KINDS else f"--part {_typed(f'{name}={kind}')}"
        for name, kind in (given or {}).items()
        if kind != "set aside"
    ]
    return " ".join(spoken) or "--number or --category"


def _discretize(given: Any) -> str:
    if isinstance(given, Mapping):
        return " ".join(f"--discretize {_typed(f'{name}={cut}')}" for name, cut in given.items())
    return f"--discretize {_typed(given)}" if given else "--discretize"


def _na(given: Any) -> str:
    """Return the options that name codes for missing values, of all columns or by column."""
    if isinstance(given, Mapping):
        pairs = [(name, code) for name, codes in given.items() for code in _several(codes)]
        return " ".join(f"--na {_typed(f'{name}={code}')}" for name, code in pairs)
    return "--na" if given is None else " ".join(f"--na {_typed(code)}" for code in _several(given))


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _knowledge(given: Mapping[str, Any] | None) -> str:
    """Return the options for tiers, of which the first are named."""
    tiers = [f"--tier {_typed(','.join(map(str, tier)))}" for tier in (given or {}).get("tiers", ())]
    return " ".join([*tiers, "--tier ..."]) if tiers else "--knowledge"


_SPELLINGS: Mapping[str, Callable[[Any], str]] = {
    "discretize": _discretize,
    "drop": _columns("--drop"),
    "keep": _columns("--keep"),
    "kinds": _kinds,
    "knowledge": _knowledge,
    "na": _na,
    "only": _columns("--only"),
}
#: What is typed for calls.
_CALLS: Mapping[str, Callable[[Any], str]] = {
    "part.why": lambda nodes: f"apsl why PART {' '.join(map(_typed, nodes))}",
    "do": lambda levels: " ".join(["--do", *(_typed(f"{node}={level}") for node, level in levels.items())]),
}


def _typed(value: Any) -> str:
    """Return a value as it is typed in a shell; names of several columns have commas between them."""
    if isinstance(value, list | tuple):
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        value = line.getvalue()
    return shlex.quote(str(value))
