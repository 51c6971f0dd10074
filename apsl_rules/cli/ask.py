"""The command that asks a person what only they know of a part."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from apsl_rules.answers import UNSURE
from apsl_rules.asking import Question, difference, read_replies
from apsl_rules.cli.options import learn_part, learning_options
from apsl_rules.cli.output import (
    goes_to_stdout,
    json_option,
    out_option,
    print_json,
    print_text,
    quiet_option,
    refuse_overwriting,
    say_written,
    show_progress,
    terminal_width,
)
from apsl_rules.cli.show import is_part_file
from apsl_rules.cli.streams import source_argument
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, count_of, shown
from apsl_rules.parts import Part, draw
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl ask table.csv -t bwt
  apsl ask table.csv -t bwt --by "ward 3" --keep-answers answers.toml
  apsl ask table.csv -t bwt --json
  apsl ask part.json --answers answers.toml --out answered.json
"""
#: The keys of words: their first letters, and the numbers of tiers.
_ENTER, _BACK, _LEAVE = ("\r", "\n"), ("\x7f", "\b"), ("q", "\x04", "")


@click.command(epilog=_EXAMPLES, short_help="Answer what the data cannot tell, and see what that changes.")
@source_argument()
@learning_options
@click.option("--by", default="you", show_default=True, metavar="NAME", help="Who answers.")
@click.option("--date", default="", metavar="DATE", help="When, as the evidence is to say it.")
@click.option("--answers", type=click.Path(dir_okay=False), help="Take the answers from this file, without a terminal.")
@click.option("--keep-answers", type=click.Path(dir_okay=False), help="Write the answers to this TOML file.")
@out_option("Write the answered part to this file.")
@json_option
@quiet_option
@click.pass_obj
def ask(
    manager: Plugins,
    /,
    source: str,
    *,
    target: str | None,
    by: str,
    date: str,
    answers: str | None,
    keep_answers: str | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Ask which neighbours of the target come before it and which come after. One key answers for one column.

    SOURCE is a table or a saved part. Enter means "don't know". An answer decides the pairs that it names and nothing
    else. With --json the questions are printed and nothing is asked.
    """
    refuse_overwriting(source, out)
    if answers is None and not as_json and not sys.stdin.isatty():
        message = "this is no terminal; print the questions with --json, and give the answers in a file with --answers"
        raise InvalidArgumentError(message)
    replies = None if answers is None else read_replies(answers, "" if by == "you" else by)
    part = _part(source, manager, target, settings, quiet=quiet)
    answered = part if replies is None else replies.over(part)
    if replies is None and not as_json:
        answered = _dialogue(part, by, date)
    changed = difference(answered, part)
    if as_json:
        asked = [one.to_dict() for one in answered.questions()]
        print_json({"questions": asked, "changed": [str(one) for one in changed.changed]})
    else:
        print_text(str(changed), err=goes_to_stdout(out))
        if not goes_to_stdout(out):
            click.echo()
            print_text(draw(answered, terminal_width()))
    if keep_answers is not None:
        Knowledge(answers=answered.knowledge.answers).write(keep_answers)
        say_written(keep_answers, count_of(len(answered.knowledge.answers), "answer"))
    if out is not None:
        answered.save(out)
        say_written(out, f"the answered part around {shown(answered.target)}")


def _part(source: str, manager: Plugins, target: str | None, settings: dict[str, Any], *, quiet: bool) -> Part:
    """Read a saved part, or learn one."""
    if is_part_file(source) or source.endswith(".json"):
        from apsl_rules.parts import load_part

        part = load_part(source)
        if target is not None and target != str(part.target):
            message = f"{source!r} is the part around {part.target!r}; leave out --target {target}"
            raise InvalidArgumentError(message)
        return part
    with show_progress(manager, quiet=quiet) as plugins:
        return learn_part(source, plugins, target=target, **settings)


def _dialogue(part: Part, by: str, date: str) -> Part:
    """Ask question after question until nothing is left, or the person leaves."""
    asked: set[str] = set()
    while (question := next(_wanted(part, asked), None)) is not None:
        asked.add(question.kind)
        reply, is_over = _ask(question)
        told = {node: word for node, word in reply.items() if word != UNSURE}
        if told:
            part = part.answer(question.id, told, by=by, date=date)
        if is_over:
            break
    return part


def _wanted(part: Part, asked: set[str]) -> Iterator[Question]:
    """Give the questions that are worth a screen: whoever sorted the neighbours knows whether the target comes last."""
    for one in part.questions():
        is_told = one.kind == "pair" or (one.kind == "outcome" and "sort" in asked)
        if one.kind not in asked and not is_told:
            yield one


def _ask(question: Question) -> tuple[Mapping[Node, str], bool]:
    """Show a question and take a key for each of its nodes; return the words, and whether the person leaves."""
    keys = {word[0]: word for word in question.choices if word != UNSURE}
    told = ", ".join(f"{key} = {word}" for key, word in keys.items())
    with _by_key() as next_key:
        print_text(f"\n{question.text}\n{question.because}\n  {told}, Enter = {UNSURE}, Backspace = back, q = leave\n")
        return _read(question, keys, next_key)


def _read(question: Question, keys: Mapping[str, str], next_key: Callable[[], str]) -> tuple[Mapping[Node, str], bool]:
    known = {*keys, *_ENTER, *_BACK, *_LEAVE}
    width = max(len(shown(node)) for node in question.items)
    reply: dict[Node, str] = {}
    at = 0
    while at < len(question.items):
        node = question.items[at]
        guess = f" (by its name: {question.guess[node]})" if node in question.guess else ""
        click.echo(f"  {shown(node).ljust(width)}{guess} ? ", nl=False)
        key = next(one for one in iter(next_key, None) if one in known)
        if key in _LEAVE:
            click.echo("left")
            return reply, True
        if key in _BACK:
            click.echo("back")
            at = max(0, at - 1)
            continue
        reply[node] = keys.get(key, UNSURE)
        click.echo(reply[node])
        at += 1
    return reply, False


@contextmanager
def _by_key() -> Iterator[Callable[[], str]]:
    """Let a terminal give key by key, and keep what is typed ahead."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        yield lambda: click.getchar().lower()
        return
    place = sys.stdin.fileno()
    before = termios.tcgetattr(place)
    tty.setcbreak(place, termios.TCSADRAIN)
    try:
        yield lambda: os.read(place, 1).decode("latin-1").lower()
    finally:
        termios.tcsetattr(place, termios.TCSADRAIN, before)
