"""``--config``: the options of a run in a TOML file, as on the command line."""

from __future__ import annotations

from typing import Any

import click

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import nearest


def _read(context: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make the settings of a file the defaults of a command, so that options on the command line still count."""
    if path is None:
        return
    origin = f"the config file {path!r}"
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"{origin} cannot be read: {error}"
        raise InvalidArgumentError(message) from error
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise InvalidArgumentError(message) from error
    known = {_key(one): one for one in context.command.params if one.name not in ("config", "help")}
    defaults: dict[str, Any] = {}
    for key, value in data.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None:
            command = context.command_path
            hint = nearest(key, known) or f"; {command} knows {', '.join(known)}"
            message = f"{origin} has the unknown key {key!r}{hint}"
            raise InvalidArgumentError(message)
        defaults[str(parameter.name)] = _command_line_value(value, parameter, f"{key} in {origin}")
    context.default_map = {**(context.default_map or {}), **defaults}


def _key(parameter: click.Parameter) -> str:
    """Return the key of a parameter: its long option without dashes in front, or the argument's name."""
    return max(parameter.opts, key=len).lstrip("-").lower()


def _command_line_value(value: Any, parameter: click.Parameter, what: str) -> Any:
    """Return a value as it would be typed, so that it is checked as an option is."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            message = f"{what} is {value!r}; give true or false"
            raise InvalidArgumentError(message)
        return value
    if getattr(parameter, "multiple", False) and parameter.type is click.UNPROCESSED:
        return value if isinstance(value, list) else [value]
    if getattr(parameter, "multiple", False):
        if not isinstance(value, list) or any(not isinstance(one, list) or len(one) != 2 for one in value):  # noqa: PLR2004 - a pair
            message = f"{what} is {value!r}; give a list of pairs, such as [['a', 'b']]"
            raise InvalidArgumentError(message)
        return [tuple(map(str, pair)) for pair in value]
    if isinstance(value, dict | list):
        if isinstance(value, list) and parameter.name == "learners":
            return ",".join(map(str, value))
        message = f"{what} is {value!r}; give one value"
        raise InvalidArgumentError(message)
    return str(value)


config_option = click.option(
    "--config",
    type=click.Path(dir_okay=False),
    callback=_read,
    is_eager=True,
    expose_value=False,
    help="Read options from a TOML file, such as depth = 2; those on the command line count more.",
)
