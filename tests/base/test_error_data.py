"""Errors are data: what an error about an argument says is there to be worded anew."""

from __future__ import annotations

import pickle

import pytest

from apsl_rules import ApslError, Dag, learn
from apsl_rules.cli.learn import learn as learn_command
from apsl_rules.cli.spelling import in_options
from apsl_rules.errors import InvalidArgumentError


def test_an_error_has_its_argument_its_value_and_advice() -> None:
    """The sentence is made of them, and the command line words the same with its option."""
    with pytest.raises(InvalidArgumentError, match="max_seconds is -1; give at least 0") as caught:
        learn(Dag({"a": []}), "a", max_seconds=-1)
    error = caught.value

    assert (error.argument, error.value, error.advice) == ("max_seconds", -1, "give at least 0")
    assert in_options(error.sentence, learn_command) == "--max-seconds is -1; give at least 0"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


def test_secrets_are_in_no_advice() -> None:
    """An address in a value or in advice is shown without its password."""
    address = "postgres://ann:sesame@host/db"
    error = ApslError(argument="counts", value=address, advice=f"give another than {address}")
    assert "sesame" not in str(error) + error.advice
