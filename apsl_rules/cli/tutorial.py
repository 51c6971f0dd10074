"""``apsl tutorial``: a guided walk on a table that comes with the package; every command is run."""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

import attrs
import click

from apsl_rules.cli.output import print_text
from apsl_rules.errors import ApslError, InvalidArgumentError

_EXAMPLES = """\b
Examples:
  apsl tutorial
  apsl tutorial --list
  apsl tutorial --step 3
  apsl tutorial --folder trial
"""
_WIDTH = 100


@attrs.frozen
class Step:
    """A step of the walk: a title, what is about to be done, the command, and what to see in its output."""

    title: str
    before: str
    line: str
    after: str


STEPS = (
    Step(
        "Look at the table",
        "clinic.csv has 2,000 visitors of a clinic: a journey to Asia (asia), smoking (smoke), tuberculosis (tub), "
        "lung cancer (lung), bronchitis (bronc), an X-ray (xray), short breath (dysp), and whether one of the two lung "
        "diseases is there (either). Before learning, look at what the columns are taken for.",
        "apsl describe clinic.csv",
        "Every column is a category with two levels, nothing is missing, and nothing is set aside. In your own table "
        "this is where you see an identifier, a date or a column with too many levels.",
    ),
    Step(
        "Learn around one column",
        "Name the column of interest with --target. Only its surroundings are learned, not the whole graph.",
        "apsl learn clinic.csv --target either --out part.json",
        "An arrow that points inwards comes from a likely cause, one that points outwards leads to a likely effect. "
        "Notes say what the arrows assume. The part is saved, and the next commands read it.",
    ),
    Step(
        "Ask why",
        "Every arrow has a proof. Ask for the one from lung to either.",
        "apsl why part.json lung either",
        "Read it from above: the arrow follows from a V-structure, and that from figures of tests and scores. The last "
        "line says how often such an edge, and such a direction, is right.",
    ),
    Step(
        "Go further",
        "--depth 2 also learns the neighbours of the neighbours.",
        "apsl learn clinic.csv --target either --depth 2 --out part.json",
        "A line without an arrowhead is an edge whose direction the data leave open: either direction fits them "
        "equally well.",
    ),
    Step(
        "Say what you know",
        "You know more than the table: journeys and smoking come before diseases, and these before what is measured. "
        "Tiers say so, earliest first.",
        "apsl learn clinic.csv --target either --depth 2 --tier asia,smoke --tier tub,lung,bronc,either "
        "--tier xray,dysp --out part.json",
        "Lines between tiers are arrows now, and their proofs name your knowledge as the reason.",
    ),
    Step(
        "Ask how much",
        "How much does smoking raise the risk of bronchitis? The edges at the cause are learned, and the effect is "
        "estimated for every graph that is left open.",
        "apsl effect clinic.csv smoke bronc --tier asia,smoke --tier tub,lung,bronc,either --tier xray,dysp",
        "The figure is the change of a probability, with its interval. apsl effect --why says on which arrows and "
        "assumptions it rests.",
    ),
    Step(
        "See how stable it is",
        "Learn again on resampled rows, and count how often each mark comes back.",
        "apsl stability clinic.csv --target either --resamples 20 --seed 1",
        "A support near 1 means that nearly every resample shows the same mark. The arrow from either to dysp comes "
        "back in fewer than half of them: it is not to be relied on.",
    ),
    Step(
        "Make a mistake",
        "A wrong word does no harm. Misspell the target.",
        "apsl learn clinic.csv --target eiter",
        "One sentence says what is wrong and what to do, and the exit code is 1. That is so for every mistake.",
    ),
    Step(
        "Show it to others",
        "A report is one HTML file with the drawing, the proofs and the rows behind each edge.",
        "apsl report part.json --data clinic.csv --out part.html",
        "apsl tutorial --folder trial keeps the page, to be opened in a browser. Now take your own table: "
        "apsl describe TABLE, then apsl learn TABLE --target COLUMN. apsl --help lists all commands.",
    ),
)


@click.command(epilog=_EXAMPLES, short_help="Take a guided walk on a table that comes with the package.")
@click.option("--step", "number", type=int, help="Show this step only; those before it are run without a word.")
@click.option("--list", "listed", is_flag=True, help="List the steps and their commands.")
@click.option("--folder", type=click.Path(file_okay=False), help="Keep the table and all results in this folder.")
def tutorial(*, number: int | None, listed: bool, folder: str | None) -> None:
    """Walk from a table to a report in nine steps: each explains a command, runs it, and says what to see.

    On a terminal Enter goes on and q leaves; without one all steps are printed. Nothing is left behind unless --folder
    is given.
    """
    if listed:
        for place, step in enumerate(STEPS, start=1):
            click.echo(f"{place}  {step.title}\n   {step.line}")
        return
    if number is not None and not 1 <= number <= len(STEPS):
        message = f"--step is {number}; give a number from 1 to {len(STEPS)}"
        raise InvalidArgumentError(message)
    asks = number is None and sys.stdin.isatty() and sys.stdout.isatty()
    with _place(folder):
        for place, step in enumerate(STEPS, start=1):
            if number is not None and place < number:
                _run_silently(step.line)
            elif number in (None, place) and not _show(place, step, asks=asks):
                return


@contextlib.contextmanager
def _place(folder: str | None) -> Iterator[None]:
    """Work in a folder that has the table: one of the user's, or one that is gone afterwards."""
    from apsl_rules.data import example_table

    with contextlib.ExitStack() as stack:
        if folder is None:
            path = Path(stack.enter_context(TemporaryDirectory(prefix="apsl-")))
        else:
            path = Path(folder)
            if path.is_dir() and any(path.iterdir()):
                message = f"the folder {folder!r} is not empty; give --folder a new one, so that nothing is overwritten"
                raise InvalidArgumentError(message)
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"cannot make the folder {folder!r}: {error.strerror or error}; give one that can be written"
                raise InvalidArgumentError(message) from error
        shutil.copyfile(example_table(), path / "clinic.csv")
        stack.enter_context(contextlib.chdir(path))
        yield


def _show(place: int, step: Step, *, asks: bool) -> bool:
    """Explain a step, run its command and say what to see; return whether to go on."""
    print_text(f"{place}/{len(STEPS)}  {step.title}\n")
    print_text(f"{fill(step.before, _WIDTH)}\n\n$ {step.line}")
    if asks and not _goes_on():
        return False
    _run(step.line)
    print_text(f"\n{fill(step.after, _WIDTH)}\n")
    return True


def _goes_on() -> bool:
    """Wait for Enter; q leaves, and so does the end of the input."""
    click.echo("  Enter runs it, q leaves ", nl=False, err=True)
    answer = sys.stdin.readline()
    return bool(answer) and answer.strip().casefold() not in ("q", "quit", "exit")


def _run(line: str) -> None:
    """Run a command as it is typed; a mistake is answered as on the command line."""
    from apsl_rules.cli.main import apsl

    try:
        apsl.main(shlex.split(line)[1:], standalone_mode=False)
    except ApslError as error:
        click.echo(f"apsl: {error}", err=True)


def _run_silently(line: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _run(line)
