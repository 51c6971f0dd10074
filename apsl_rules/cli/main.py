"""The command ``apsl``: results on standard output, progress and errors on standard error.

Exit codes: 0 done, 1 a mistake that the user can correct (one sentence says how), 2 ended early, by a limit or an
interrupt (Ctrl-C); what was learned by then is written, marked as incomplete.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from pathlib import Path

import click

from apsl_rules.cli.command_group import CommandGroup
from apsl_rules.cli.streams import prepare_streams
from apsl_rules.cli.typing_mistakes import sentence
from apsl_rules.errors import ApslError
from apsl_rules.masking import masked, secrets_of

_EXAMPLES = """\b
Examples:
  apsl learn alarm --target HREKG --depth 2 --out part.json
  apsl why part.json CATECHOL HR
  apsl report part.json -o part.html

Exit codes: 0 done, 1 a mistake that you can correct, 2 ended early, by a limit or an interrupt.
"""


_SECTIONS = {
    "Begin": ("tutorial.tutorial",),
    "Learn": ("learn.learn", "many.many", "stability.stability", "compare.compare"),
    "Ask how much": ("effect.effect", "effect.causes", "fit.fit"),
    "Look at a saved part": (
        *("show.show", "explain.why", "explain.trace", "repairs.repairs", "show.report", "score.score"),
    ),
    "Look at a table": ("describe.describe",),
    "Find what to try it on": ("catalogue.networks", "simulate.simulate", "tile.tile", "tile.random"),
    "See what there is to choose from": (
        *("catalogue.learners", "catalogue.oracles", "catalogue.finders", "catalogue.formats", "catalogue.plugins"),
    ),
    "Work with assistants": ("serve.serve",),
    "Check": ("verify.verify", "doctor.doctor", "completion.completion"),
}


@click.group(
    cls=CommandGroup,
    sections=_SECTIONS,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="apsl_rules")
@click.option(
    "--plugin", "plugin_modules", metavar="MODULE", multiple=True, help="Import and register a plugin module."
)
@click.pass_context
def apsl(context: click.Context, plugin_modules: tuple[str, ...]) -> None:
    """Learn any part of a Bayesian-network structure, every arrow with its proof."""
    from apsl_rules.plugins import installed

    manager = installed().copy() if plugin_modules else installed()
    if plugin_modules:
        sys.path.append(str(Path.cwd()))  # a plugin may lie in the current folder, but replaces nothing installed
    for module in plugin_modules:
        manager.register_module(module)
    context.obj = manager


def run() -> int:
    """Run the command line and return its exit code; a user's mistake ends in one sentence, never in a traceback."""
    logger = logging.getLogger("apsl_rules")
    handler = logging.StreamHandler()
    handler.setFormatter(_Masked())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    prepare_streams()
    try:
        code = _main()
    except ApslError as error:
        _say(f"apsl: {error}")
        code = 1
    except click.ClickException as error:
        _say(f"apsl: {sentence(error)}")
        code = 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("apsl: interrupted", err=True)
        code = 2
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except MemoryError as error:
        click.echo(f"apsl: not enough memory ({error}); ask for less, or for fewer levels or rows", err=True)
        code = 1
    except Exception as error:  # noqa: BLE001 - told in one sentence
        if "APSL_DEBUG" in os.environ:
            _say("".join(traceback.format_exception(error)).rstrip())
            return 1
        kind = type(error).__name__
        first = (str(error).splitlines() or [""])[0]
        advice = "please report it; APSL_DEBUG=1 shows the traceback"
        _say(f"apsl: internal error ({kind}: {first}); {advice}")
        code = 1
    return code or 0


def _say(text: str) -> None:
    """Print what is wrong, without the secrets of the addresses of databases that were typed."""
    secrets = (secret for word in sys.argv[1:] if ":" in word for secret in secrets_of(word))
    click.echo(masked(text, secrets), err=True)


class _Masked(logging.Formatter):
    """Lines of the log without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


def _main() -> int | None:
    """Run a command and flush what it prints."""
    try:
        code: int | None = apsl.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    sys.stdout.flush()
    return code
