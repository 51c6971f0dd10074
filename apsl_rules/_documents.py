"""JSON and TOML read such that whatever is wrong with a text is one reason in words."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from apsl_rules._arguments import path_text
from apsl_rules.names import near_file

_DEEPEST = 100
_TOO_DEEP = "it is nested too deeply"
_MANY_DOTS = re.compile(r"(?:\.[A-Za-z0-9_-]+){1000}")


class DocumentError(ValueError):
    """A text is not what it should be; the message is the reason alone, without the name of the file."""


def json_data(text: str) -> Any:
    """Read JSON text.

    >>> json_data('{"a": [1, null]}')
    {'a': [1, None]}
    """
    return _read(json.loads, text)


def toml_data(text: str) -> dict[str, Any]:
    """Read TOML text.

    >>> toml_data("a = [1, 2]")
    {'a': [1, 2]}
    """
    if _MANY_DOTS.search(text):  # the parser would take minutes over it
        raise DocumentError(_TOO_DEEP)
    data: dict[str, Any] = _read(tomllib.loads, text)
    level: list[Any] = [data]
    for _ in range(_DEEPEST):
        level = [one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer)]
        level = [one for one in level if isinstance(one, dict | list)]
    if level:  # keys with many dots nest without end
        raise DocumentError(_TOO_DEEP)
    return data


def file_text(path: str | Path) -> str:
    """Read a file of UTF-8 text."""
    try:
        return Path(path_text(path, "the file to read")).read_text("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is not UTF-8 text; save the file as UTF-8"
        raise DocumentError(message) from error
    except FileNotFoundError as error:
        message = f"{error.strerror}{near_file(Path(path))}"
        raise DocumentError(message) from error
    except OSError as error:
        raise DocumentError(error.strerror or str(error)) from error


def _read(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP) from error
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise DocumentError(str(error)) from error
    except ValueError as error:  # the only other one is that of Python's limit on digits
        message = f"a whole number has more than {sys.get_int_max_str_digits():,} digits"
        raise DocumentError(message) from error
