"""Mistakes in typing, in one line: what is wrong, the nearest word that would be right, and which help to read."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from apsl_rules.names import nearest

_NUMBERS = {"float": "a number", "integer": "a whole number"}
#: A file is named first by who forgets the command; these are the endings of tables.
_TABLE = re.compile(r"\.(csv|tsv|parquet|feather|xlsx|jsonl)(\.gz)?$", re.IGNORECASE)


def sentence(error: click.ClickException) -> str:
    """Return the message of a click error as one line, with the command that prints help."""
    text = " ".join(error.format_message().split()).rstrip(".")
    context: click.Context | None = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "apsl"
    plain = _plain(f"{text[:1].lower()}{text[1:]}", error, context)
    return plain if plain.endswith("?") else f"{plain}; see {path} --help"


def _plain(text: str, error: click.ClickException, context: click.Context | None) -> str:
    """Return a message of click in our words, or as it is."""
    option, wrong = _spelling(getattr(error, "param", None)), " ".join(error.message.split())
    if found := re.match(r"no such command '(.*?)'", text):
        return f"no such command {found[1]!r}{_command_hint(found[1], context)}"
    if found := re.match(r"no such option:? '?(-[\w-]*)'?", text):
        known = [] if context is None else [opt for one in context.command.params for opt in one.opts]
        return f"no such option {found[1]!r}{nearest(found[1], (opt for opt in known if opt.startswith('--')))}"
    if found := re.match(r"got unexpected extra arguments? \((.*)\)", text):
        return f"got unexpected extra argument ({found[1]}){_target_hint(found[1], context)}"
    if option and (found := re.match(r"'(.*)' is not one of (.*)$", wrong)):
        choices = re.findall(r"'(.*?)'", found[2])
        return f"{option} is {found[1]!r}{nearest(found[1], choices) or f'; give {_either(choices)}'}"
    if option and (found := re.match(r"'(.*)' is not a valid (float|integer)\.?$", wrong)):
        return f"{option} is {found[1]!r}; give {_NUMBERS[found[2]]}"
    return text


def _spelling(parameter: click.Parameter | None) -> str:
    """Return how a parameter is typed: its long option, or an argument in capitals."""
    if parameter is None:
        return ""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else longest.upper()


def _command_hint(word: str, context: click.Context | None) -> str:
    """Return what may have been meant in the place of a command: one that is spelt alike, or a file to learn from."""
    if _TABLE.search(word) or Path(word).is_file():
        return f"; to learn from a file: apsl learn {word} --target COLUMN"
    if context is None or not isinstance(context.command, click.Group):
        return ""
    return nearest(word, context.command.list_commands(context))


def _target_hint(words: str, context: click.Context | None) -> str:
    """Return that the target is an option, where one was left out and a word is too many."""
    takes_target = context is not None and any("--target" in one.opts for one in context.command.params)
    if not takes_target or " " in words or not {"-t", "--target"}.isdisjoint(sys.argv):
        return ""
    return f"; the target is an option: --target {words}"


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
