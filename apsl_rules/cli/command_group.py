"""The group of all commands: listed by purpose, mistakes explained in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from apsl_rules.cli.option_names import with_option_names
from apsl_rules.errors import ApslError


class CommandGroup(click.Group):
    """A group whose help lists its commands in sections."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own settings, passed on
        self._sections: Mapping[str, Sequence[click.Command]] = {}

    def add_sections(self, sections: Mapping[str, Sequence[click.Command]]) -> None:
        """Add commands, each under the title of a section."""
        self._sections = sections
        for commands in sections.values():
            for command in commands:
                self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands in the order of the sections."""
        return [str(command.name) for commands in self._sections.values() for command in commands]

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of the library names the options of the command instead of its own arguments."""
        try:
            return super().invoke(ctx)
        except ApslError as error:
            command = self.commands.get(ctx.invoked_subcommand or "")
            message = str(error) if command is None else with_option_names(str(error), command)
            if message == str(error):
                raise
            raise ApslError(message) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the sections, all names in one column."""
        width = max(map(len, self.commands))
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(str(command.name).ljust(width), command.get_short_help_str(80)) for command in commands]
                )


def sentence(error: click.ClickException) -> str:
    """Return the message of a click error as one line, with the command that prints help."""
    text = " ".join(error.format_message().split()).rstrip(".")
    text = f"{text[:1].lower()}{text[1:]}".replace(". (Did you mean", " (did you mean")
    context = getattr(error, "ctx", None)
    return f"{text}; see {context.command_path} --help" if context is not None else f"{text}; see apsl --help"
