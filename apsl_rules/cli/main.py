"""The command line: commands by name, mistakes in typing, one sentence for every error."""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apsl_rules.cli.spelling import in_options, spelling
from apsl_rules.cli.streams import name_standard_input, prepare_streams
from apsl_rules.errors import ApslError
from apsl_rules.masking import masked, secrets_of
from apsl_rules.names import nearest

if TYPE_CHECKING:
    from apsl_rules.plugins import Plugins

#: Commands that have another name now, and the advice for those that are gone.
_RENAMED = {"repairs": ("why", "--repairs")}
_GONE = {
    "completion": "; your shell takes words from _APSL_COMPLETE=bash_source apsl (or zsh_source, fish_source)",
    "tile": "; tools/reproduce/tiling.py of the repository makes tiled networks",
    "tutorial": "; docs/quick-start.md walks through the commands",
}


class CommandGroup(click.Group):
    """A group whose help lists its commands in sections, each given as ``module.command`` of this package."""

    def __init__(self, *, sections: Mapping[str, Sequence[str]], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own settings, passed on
        self._sections = {title: [path.partition(".")[2] for path in paths] for title, paths in sections.items()}
        self._modules = {path.partition(".")[2]: path.partition(".")[0] for one in sections.values() for path in one}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands in the order of the sections."""
        return list(self._modules)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is typed; an old name still leads to the new one, with a warning."""
        if args[0] in _RENAMED:
            name, option = _RENAMED[args[0]]
            click.echo(f"apsl: 'apsl {args[0]}' is now 'apsl {name} {option}'; the old name goes with 0.3", err=True)
            args = [name, *args[1:], option]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a command by its name; where there is none, click looks for names that are alike among all."""
        if cmd_name in self._modules:
            return self.command_named(cmd_name)
        self.commands = {name: self.command_named(name) for name in self._modules}
        return None

    def command_named(self, name: str) -> click.Command:
        """Return a command that there is, importing its module."""
        module = import_module(f"{__package__}.{self._modules[name]}")
        command = getattr(module, name, None) or getattr(module, f"{name}_")  # a name that Python has already
        if not isinstance(command, click.Command):
            raise TypeError(name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of the library names the options of the command instead of its own arguments."""
        try:
            return super().invoke(ctx)
        except ApslError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            spoken = str(error) if command is None else in_options(error.sentence, command)
            message = name_standard_input(spoken, ctx)
            if message == str(error):
                raise
            raise ApslError(message) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the sections, all names in one column."""
        width = max(map(len, self._modules))
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), self.command_named(name).get_short_help_str(80)) for name in names]
                )


_NUMBERS = {"float": "a number", "integer": "a whole number"}
#: The endings of tables: a user who forgets the command names a file first.
_TABLE = re.compile(r"\.(csv|tsv|parquet|feather|xlsx|jsonl)(\.gz)?$", re.IGNORECASE)


def sentence(error: click.ClickException) -> str:
    """Return the message of a click error as one line, with the command that prints help."""
    text = " ".join(error.format_message().split()).rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "apsl"
    plain = _plain(f"{text[:1].lower()}{text[1:]}", error, context)
    return plain if plain.endswith("?") else f"{plain}; see {path} --help"


def _plain(text: str, error: click.ClickException, context: click.Context | None) -> str:
    """Return a message of click in our words, or as it is."""
    parameter = error.param if isinstance(error, click.BadParameter) else None
    option, wrong = "" if parameter is None else spelling(parameter), " ".join(error.message.split())
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


def _command_hint(word: str, context: click.Context | None) -> str:
    """Return what may have been meant in the place of a command: one that is spelt alike, or a file to learn from."""
    if _TABLE.search(word) or Path(word).is_file():
        return f"; to learn from a file: apsl learn {word} --target COLUMN"
    if context is None or not isinstance(context.command, click.Group):
        return ""
    if word in _GONE:
        return _GONE[word]
    return nearest(word, context.command.list_commands(context))


def _target_hint(words: str, context: click.Context | None) -> str:
    """Return that the target is an option, where one was left out and a word is too many."""
    takes_target = context is not None and any("--target" in one.opts for one in context.command.params)
    if not takes_target or " " in words or not {"-t", "--target"}.isdisjoint(sys.argv):
        return ""
    return f"; the target is an option: --target {words}"


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


_EXAMPLES = """\b
Examples:
  apsl describe patients.csv
  apsl learn patients.csv --target cost --out part.json
  apsl why part.json smoker cost
  apsl report part.json --data patients.csv
  apsl learn alarm --target HREKG --depth 2

Exit codes: 0 done, 1 a mistake that you can correct, 2 ended early by a limit or an interrupt.
"""


_SECTIONS = {
    "Look at a table, and learn from it": (
        *("describe.describe", "learn.learn", "learn.many", "learn.stability", "evaluate.compare"),
    ),
    "Look at what was learned": ("show.show", "show.why", "show.report", "show.trace", "evaluate.score"),
    "Ask how much": ("effect.effect", "effect.causes", "effect.fit"),
    "Ask people, and check their graphs": ("ask.ask", "check.check"),
    "Ask why a number moved": ("moved.moved",),
    "Work in the browser, or with an assistant": ("open_page.open", "serve.serve"),
    "Find something to try it on": ("catalogue.networks", "simulate.simulate", "simulate.random"),
    "See what there is to choose from": (
        *("catalogue.learners", "catalogue.oracles", "catalogue.finders", "catalogue.formats", "catalogue.rules"),
        "catalogue.plugins",
    ),
    "Check the installation, a part or a learner": ("describe.doctor", "verify.verify"),
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
    """Learn any part of a Bayesian-network structure, every arrow with its evidence."""
    if context.invoked_subcommand != "open":  # the process that works for the page loads them itself
        context.obj = _plugins(plugin_modules)
    if not gc.isenabled():
        gc.freeze()  # what was loaded stays; no collection need look at it
        gc.enable()


def _plugins(modules: Sequence[str]) -> Plugins:
    """Return the plugins that are installed, and those of modules that are named."""
    from apsl_rules.plugins import installed

    manager = installed().copy() if modules else installed()
    if modules:
        sys.path.append(str(Path.cwd()))  # a plugin may lie in the current folder, but replaces nothing installed
    for module in modules:
        manager.register_module(module)
    return manager


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
    except Exception as error:  # noqa: BLE001 - reported in one sentence
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
    except click.UsageError as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # click has it since 8.2
            raise
        click.echo(error.format_message())
        code = 0
    sys.stdout.flush()
    return code
