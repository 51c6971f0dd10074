"""The numbers that Python and the kernels share are those of the C headers."""

# ruff: noqa: SLF001 - what is private to the bindings is compared too

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apsl_backends.kernels import library as fields
from apsl_backends.kernels.bindings import MOST_NUMBERS, MOST_PARENTS, MOST_PLACES, checks, searches
from apsl_backends.kernels.bindings import tables as tester

HEADERS = "\n".join(file.read_text("utf-8") for file in sorted(Path(fields.__file__).parent.glob("*/*.h")))


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
    assert getattr(fields, name) == enumerators()[name]


def test_limits_of_searches_are_those_of_the_kernels() -> None:
    """The most nodes and parents of a search are those that the keys of known scores have bits for."""
    found = enumerators()
    assert (found["MOST_PARENTS"], found["MOST_NODES"]) == (MOST_PARENTS, MOST_PLACES)
    assert (1 << found["NUMBER_BITS"]) - 1 == MOST_NUMBERS
    assert (found["MOST_PACKED"] + 1) * found["NUMBER_BITS"] <= 64 * found["KEY_WORDS"]


def test_statuses_are_those_of_the_kernels() -> None:
    """How a call can end is told by the same numbers."""
    found = enumerators()

    statuses = checks._DONE, checks._NO_MEMORY, checks._STOPPED, checks._WRONG_INPUT
    assert tuple(found[name] for name in ("DONE", "NO_MEMORY", "STOPPED", "WRONG_INPUT")) == statuses
    assert found["NO_TEST"] == tester._NO_TEST


def test_fields_are_in_the_order_of_the_structs() -> None:
    """The rows of the arrays of sums, outcomes and searches are the structs that the kernels write."""
    names = "joint", "of_x", "of_y", "of_all", "dof", "rows"
    assert [members("sums_t").index(name) for name in names] == list(range(fields.SUM_FIELDS))
    assert tuple(range(6)) == (fields.JOINT, fields.OF_X, fields.OF_Y, fields.OF_ALL, fields.DOF, fields.ROWS)
    assert members("outcome_t") == ["state", "dof", "rows", "size"]
    assert tuple(range(fields.OUTCOME_FIELDS)) == (fields.STATE, fields.DOF_MET, fields.ROWS_MET, fields.SIZE)
    assert members("order_outcome_t") == ["score", "given_score", "starts", "agreeing"]
    assert len(members("order_outcome_t")) == searches._ORDER_FIELDS
    assert members("found_t") == [name for name, _ in tester._Found._fields_]


def test_all_that_is_exported_is_called_by_the_bindings() -> None:
    """Each exported function has its types written down."""
    declared = re.findall(r"\b(apsl_\w+)\(", without_comments(HEADERS))

    assert sorted({*declared} - {"apsl_cpu_level"}) == sorted(checks._SIGNATURES)
