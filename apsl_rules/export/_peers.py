"""Other packages, imported only where a graph is given to them."""

from __future__ import annotations

import importlib
from typing import Any

from apsl_rules.errors import MissingPackageError


def peer(module: str, package: str) -> Any:
    """Import a module of another package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        message = f"{package} is not installed; install it with: pip install {package}"
        raise MissingPackageError(message) from error
