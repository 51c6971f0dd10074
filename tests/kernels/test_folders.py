"""The folders of the C sources: what they may include, how their symbols are named, and what a reader finds there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apsl_backends.kernels import build

#: Each folder includes from itself and from those before it.
FOLDERS = ("base", "counts", "tests", "moments", "scores", "search")
FILES = [*build.sources(), *sorted(build.FOLDER.glob("*/*.h"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_file_includes_only_from_its_folder_and_those_before_it(file: Path) -> None:
    """A reader who goes through the folders in order meets nothing before it is defined."""
    included = re.findall(r'^#include "(\w+)/\w+\.h"$', file.read_text("utf-8"), re.MULTILINE)

    assert file.parent.name in FOLDERS
    assert {FOLDERS.index(folder) for folder in included} <= set(range(FOLDERS.index(file.parent.name) + 1))
    assert len(included) == file.read_text("utf-8").count('#include "')


@pytest.mark.parametrize("folder", FOLDERS)
def test_symbols_that_other_files_see_carry_the_name_of_their_folder(folder: str) -> None:
    """A function of a header is exported by ``apsl_``, or has the prefix of its folder, or is inline."""
    headers = "\n".join(file.read_text("utf-8") for file in sorted((build.FOLDER / folder).glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
    declared = re.findall(r"^(?!static|ALWAYS|typedef|#| |\})[\w \*]*?\b(\w+)\([^;{]*\);", text, re.MULTILINE)

    assert declared
    assert not [name for name in declared if not name.startswith(("apsl_", f"{folder}_"))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_explains_every_file(folder: str) -> None:
    """The README of a folder names each of its files, and each source begins with a comment on what it does."""
    readme = (build.FOLDER / folder / "README.md").read_text("utf-8")
    files = sorted((build.FOLDER / folder).glob("*.[ch]"))

    assert not [file.name for file in files if f"`{file.stem}`" not in readme]
    assert not [file.name for file in files if not file.read_text("utf-8").startswith("/* ")]
