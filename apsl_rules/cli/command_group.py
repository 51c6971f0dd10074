"""The group of all commands: listed by purpose, imported when they are used, mistakes explained in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from apsl_rules.cli.option_names import with_option_names
from apsl_rules.cli.standard_input import name_standard_input
from apsl_rules.errors import ApslError


class CommandGroup(click.Group):
    """A group whose help lists its commands in sections, each given as ``module.command`` of this package."""

    def __init__(self, *, sections: Mapping[str, Sequence[str]], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own settings, passed on
        self._sections = {title: [path.partition(".")[2] for path in paths] for title, paths in sections.items()}
        self._modules = {path.partition(".")[2]: path.partition(".")[0] for one in sections.values() for path in one}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands in the order of the sections."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a command by its name; where there is none, click looks for names that are alike among all."""
        if cmd_name in self._modules:
            return self.command_named(cmd_name)
        self.commands = {name: self.command_named(name) for name in self._modules}
        return None

    def command_named(self, name: str) -> click.Command:
        """Return a command that there is, importing its module."""
        command = getattr(import_module(f"{__package__}.{self._modules[name]}"), name)
        if not isinstance(command, click.Command):
            raise TypeError(name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of the library names the options of the command instead of its own arguments."""
        try:
            return super().invoke(ctx)
        except ApslError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            spoken = str(error) if command is None else with_option_names(str(error), command, error.argument)
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
