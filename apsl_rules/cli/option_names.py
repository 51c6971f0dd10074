"""Messages of the library in the words of the command line: ``max_seconds`` becomes ``--max-seconds``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import click

_NAME = r"(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")"
_PHRASE = re.compile(
    rf"(?:(?P<drop>drop|only)=\[|(?:kinds|discretize)=\{{){_NAME}(?:\]|: '(?P<kind>number|category|none|\w+:\d+)'\}})"
)
_QUOTED = r"'([^']*)'"


def with_option_names(message: str, command: click.Command) -> str:
    """Return a message that names the options of a command where it named arguments of the library.

    An argument is recognised at the start of the message ("depth is 0", "levels are 3 to 2"), before a value
    ("missing='level'", "discretize is 'none'"), and anywhere if its name has an underscore.

    >>> option = click.Option(["--max-seconds"])
    >>> with_option_names("max_seconds is -1.0; give a number above 0", click.Command("learn", params=[option]))
    '--max-seconds is -1.0; give a number above 0'
    """
    message = _PHRASE.sub(_option, with_tier_option(message))
    names = {str(one.name): _spelling(one) for one in command.params}
    flags = {str(one.name) for one in command.params if isinstance(one, click.Option) and one.is_flag}
    for name, option in sorted(names.items(), key=lambda one: -len(one[0])):
        word = re.escape(name)
        message = re.sub(rf"^(?:the (?:number of )?)?{word} (is|are) ", rf"{option} \1 ", message)
        message = message.replace(f"option '{name}'", f"option {option}")
        message = re.sub(
            rf"(?<![\w'./-]){word}=(?:'([^']*)'|\"([^\"]*)\"|(\w*))", _with_value(option, flag=name in flags), message
        )
        message = re.sub(rf"(?<![\w'./-])(?<!the )(?<!of ){word} is (?=['\d-])", f"{option} is ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w'./-]){word}(?![\w'])", option, message)
    return message


def with_tier_option(message: str) -> str:
    """Return a message that offers ``--tier`` where it offered tiers as an argument of the library.

    >>> with_tier_option("say so with tiers (knowledge=Knowledge(tiers=[['age', 'sex'], ...]))")
    'say so with tiers (--tier age,sex --tier ...)'
    """
    return re.sub(
        r"knowledge=Knowledge\(tiers=\[\[(.*?)\], \.\.\.\]\)",
        lambda match: f"--tier {','.join(re.findall(_QUOTED, match[1]))} --tier ...",
        message,
    )


def _option(match: re.Match[str]) -> str:
    """Return the option for an argument whose value is a list or a dict of one column."""
    name = shlex.quote(next(value for value in (match["one"], match["two"]) if value is not None))
    if match["drop"]:
        return f"--{match['drop']} {name}"
    kind = match["kind"]
    return f"--discretize {name}={kind}" if ":" in kind or kind == "none" else f"--{kind} {name}"


def _spelling(parameter: click.Parameter) -> str:
    """Return how a parameter is written on the command line: its long option, or an argument in capitals."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()


def _with_value(option: str, *, flag: bool) -> Callable[[re.Match[str]], str]:
    """Return what replaces ``name=value``: the option, and after it the value if there is one; a flag has none."""
    return lambda match: option if flag else " ".join([option, *(value for value in match.groups() if value)])
