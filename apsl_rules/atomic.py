"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apsl_rules.errors import InvalidArgumentError


def write_text(path: str | Path, text: str) -> None:
    """Write a file beside its final place and move it there, so that nobody ever sees half of it."""
    with in_place_of(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


@contextmanager
def in_place_of(path: str | Path) -> Iterator[Path]:
    """Give an empty file beside a path, which takes the path's place once all is written and vanishes on an error."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        os.close(handle)
        draft = Path(name)
        try:
            yield draft
            draft.chmod(0o644)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or error
        message = f"cannot write {str(target)!r}: {reason}; give a path in a folder that exists and is writable"
        raise InvalidArgumentError(message) from error
