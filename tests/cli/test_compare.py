"""`apsl compare` as a user types it."""

from __future__ import annotations

import json

import pytest

from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def test_compare_prints_a_row_for_each_learner() -> None:
    """A table with a head, the learners in the order named, and nothing on standard error."""
    done = apsl_here("compare", "alarm", "-t", "HREKG", "-k", "2", "--learners", "apsl, pcd-by-pcd-paper,cmb")

    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == ["learner", "apsl", "pcd-by-pcd-paper", "cmb"]
    assert not done.err


def test_compare_gives_json() -> None:
    """`--json` gives the rows with numbers as numbers."""
    done = apsl_here("compare", "asia", "-t", "lung", "--learners", "apsl,cmb", "--json")
    rows = json.loads(done.out)

    assert [row["learner"] for row in rows] == ["apsl", "cmb"]
    assert all(row["same"] == row["shared"] == row["edges"] for row in rows)


def test_compare_has_learners_to_begin_with() -> None:
    """Without `--learners` some are compared; the option for a single one is not there."""
    done = apsl_here("compare", "asia", "-t", "lung")

    assert done.code == 0
    assert done.out.splitlines()[1].startswith("auto (apsl) ")
    assert "--learner " not in apsl_here("compare", "--help").out
    assert apsl_here("compare", "asia", "-t", "lung", "--learner", "apsl").code == 1


def test_a_limit_ends_with_exit_code_2() -> None:
    """If any learner met the limit the rows say so."""
    done = apsl_here("compare", "alarm", "-t", "HREKG", "-k", "max", "--learners", "apsl", "--max-tests", "100")

    assert done.code == 2
    assert done.out.splitlines()[1].endswith("no")


def test_mistakes_get_one_sentence() -> None:
    """No target, an unknown target, an unknown learner, no learner at all."""
    said = [
        apsl_here("compare", "asia").err,
        apsl_here("compare", "asia", "-t", "lng").err,
        apsl_here("compare", "asia", "-t", "lung", "--learners", "apsl,nobody").err,
        apsl_here("compare", "asia", "-t", "lung", "--learners", ",").err,
    ]

    assert said[0] == "apsl: learning from 'asia' needs a target; add --target NODE\n"
    assert said[1].startswith("apsl: unknown target 'lng'; did you mean 'lung'?")
    assert said[2].startswith("apsl: unknown learner 'nobody'")
    assert said[3].startswith("apsl: no learners to compare")
