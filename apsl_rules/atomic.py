"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from apsl_rules.errors import InvalidArgumentError


def write_text(path: str | Path, text: str) -> None:
    """Write a file beside its final place and move it there, so that nobody ever sees half of it."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot write {str(target)!r}: {error.strerror}; give a path in a folder that exists and is writable"
        raise InvalidArgumentError(message) from error
