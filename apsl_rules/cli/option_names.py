"""Messages of the library in the words of the command line: ``max_seconds`` becomes ``--max-seconds``."""

from __future__ import annotations

import re
from collections.abc import Callable

import click


def with_option_names(message: str, command: click.Command) -> str:
    """Return a message that names the options of a command where it named arguments of the library.

    An argument is recognised at the start of the message ("depth is 0", "levels are 3 to 2"), before a value
    ("missing='level'", "discretize is 'none'"), and anywhere if its name has an underscore.

    >>> option = click.Option(["--max-seconds"])
    >>> with_option_names("max_seconds is -1.0; give a number above 0", click.Command("learn", params=[option]))
    '--max-seconds is -1.0; give a number above 0'
    """
    names = {str(one.name): _spelling(one) for one in command.params}
    for name, option in sorted(names.items(), key=lambda one: -len(one[0])):
        word = re.escape(name)
        message = re.sub(rf"^(?:the (?:number of )?)?{word} (is|are) ", rf"{option} \1 ", message)
        message = message.replace(f"option '{name}'", f"option {option}")
        message = re.sub(rf"(?<![\w'./-]){word}=(?:'([^']*)'|\"([^\"]*)\"|(\w*))", _with_value(option), message)
        message = re.sub(rf"(?<![\w'./-])(?<!the )(?<!of ){word} is (?=['\d-])", f"{option} is ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w'./-]){word}(?![\w'])", option, message)
    return message


def _spelling(parameter: click.Parameter) -> str:
    """Return how a parameter is written on the command line: its long option, or an argument in capitals."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()


def _with_value(option: str) -> Callable[[re.Match[str]], str]:
    """Return what replaces ``name=value``: the option, and after it the value if there is one."""
    return lambda match: " ".join([option, *(value for value in match.groups() if value)])
