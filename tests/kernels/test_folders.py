"""The folders of the C sources: what they include, and the numbers that Python and the kernels share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apsl_backends.kernels import build, library
from apsl_backends.kernels.bindings import searches
from apsl_backends.kernels.bindings import tables as tester
from apsl_backends.kernels.bindings.scores import MOST_NUMBERS
from apsl_backends.kernels.bindings.searches import MOST_PARENTS, MOST_PLACES

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


# ruff: noqa: SLF001 - what is private to the bindings is compared too


HEADERS = "\n".join(file.read_text("utf-8") for file in sorted(Path(library.__file__).parent.glob("*/*.h")))


def without_comments(text: str) -> str:
    """Return C without its comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def enumerators() -> dict[str, int]:
    """Return the number of each name of an enumeration."""
    numbers: dict[str, int] = {"INT16_MAX": 2**15 - 1}
    for body in re.findall(r"enum \{(.*?)\}", without_comments(HEADERS), re.DOTALL):
        number = 0
        for entry in filter(None, map(str.strip, body.split(","))):
            name, _, value = map(str.strip, entry.partition("="))
            if value:
                shifted, _, by = value.partition("<<")
                number = numbers[value] if value in numbers else int(shifted) << int(by or 0)
            numbers[name] = number
            number += 1
    return numbers


def members(struct: str) -> list[str]:
    """Return the names of the members of a struct, in order."""
    found = re.search(rf"typedef struct \{{([^}}]*)\}} {struct};", without_comments(HEADERS))
    assert found is not None
    return [
        name.strip(" *")
        for line in found[1].split(";")
        for name in re.sub(r"^\s*\w+ ", "", line).split(",")
        if name.strip()
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("G_SQUARE", "CHI_SQUARE", "ANY_METHOD", "BY_ROWS", "BY_BITS", "BY_SORTING"),
        *("INDEPENDENT", "DEPENDENT", "UNRELIABLE", "TABLED_DOFS", "MOST_CELLS"),
    ],
)
def test_names_stand_for_the_same_numbers(name: str) -> None:
    """Kinds, methods, decisions and limits are those of the headers."""
    assert getattr(library, name) == enumerators()[name]


def test_limits_of_searches_are_those_of_the_kernels() -> None:
    """The most nodes and parents of a search are those that the keys of known scores have bits for."""
    found = enumerators()
    assert (found["MOST_PARENTS"], found["MOST_NODES"]) == (MOST_PARENTS, MOST_PLACES)
    assert (1 << found["NUMBER_BITS"]) - 1 == MOST_NUMBERS
    assert (found["MOST_PACKED"] + 1) * found["NUMBER_BITS"] <= 64 * found["KEY_WORDS"]


def test_statuses_are_those_of_the_kernels() -> None:
    """How a call can end is told by the same numbers."""
    found = enumerators()

    statuses = library._DONE, library._NO_MEMORY, library._STOPPED, library._WRONG_INPUT
    assert tuple(found[name] for name in ("DONE", "NO_MEMORY", "STOPPED", "WRONG_INPUT")) == statuses
    assert found["NO_TEST"] == tester._NO_TEST


def test_fields_are_in_the_order_of_the_structs() -> None:
    """The rows of the arrays of sums, outcomes and searches are the structs that the kernels write."""
    names = "joint", "of_x", "of_y", "of_all", "dof", "rows"
    assert [members("sums_t").index(name) for name in names] == list(range(library.SUM_FIELDS))
    assert tuple(range(6)) == (library.JOINT, library.OF_X, library.OF_Y, library.OF_ALL, library.DOF, library.ROWS)
    assert members("outcome_t") == ["state", "dof", "rows", "size"]
    assert tuple(range(library.OUTCOME_FIELDS)) == (library.STATE, library.DOF_MET, library.ROWS_MET, library.SIZE)
    assert members("order_outcome_t") == ["score", "given_score", "starts", "agreeing"]
    assert len(members("order_outcome_t")) == searches._ORDER_FIELDS
    assert members("found_t") == [name for name, _ in tester._Found._fields_]


def test_all_that_is_exported_is_called_by_the_bindings() -> None:
    """Each exported function has its types written down."""
    declared = re.findall(r"\b(apsl_\w+)\(", without_comments(HEADERS))

    assert sorted({*declared} - {"apsl_cpu_level"}) == sorted(library._SIGNATURES)
