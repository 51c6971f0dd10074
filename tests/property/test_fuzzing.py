"""Whatever a file or a plugin says, what reaches the user is a result or an ApslError with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apsl_backends.dseparation import DSeparation
from apsl_rules import hookimpl, known_dag, learn, network
from apsl_rules.bif import parse_bif, write_bif
from apsl_rules.data import table
from apsl_rules.errors import ApslError
from apsl_rules.oracle import BaseOracle, Verdict
from apsl_rules.part import Part
from apsl_rules.partfile import parse_part, part_json
from apsl_rules.plugins import installed
from apsl_rules.spec import parse_spec
from graphs import MICRO
from mutation import as_text, spoilt_json, spoilt_text

MOST = max(150, settings.default.max_examples)
MANY = settings(max_examples=MOST, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def refused_or(use: Callable[[], None]) -> None:
    """Let something succeed or be refused; any other exception fails the test, and so does an empty sentence."""
    said = "done"
    try:
        use()
    except ApslError as error:
        said = str(error)
    assert said.strip()
    assert len(said.splitlines()) == 1, said


# --- files ---------------------------------------------------------------------------------------------------------

BIFS = [write_bif(network("cancer")), write_bif(network("asia"))]


@MANY
@given(spoilt_text(BIFS))
def test_spoilt_networks(text: str) -> None:
    """A damaged BIF file is read as something that can be written again, or refused."""

    def use() -> None:
        write_bif(parse_bif(text))

    refused_or(use)


SPECS = [one.read_text("utf-8") for one in (files("apsl_specs") / "learners").iterdir() if one.name.endswith(".toml")]


@MANY
@given(spoilt_text(SPECS))
def test_spoilt_specs(text: str) -> None:
    """A damaged spec is refused, or is a spec that a run can be started with."""

    def use() -> None:
        spec = parse_spec(text, "spoilt")
        learn(MICRO["N1"], "t", learner=spec)

    refused_or(use)


CSVS = [
    "a,b,c\n0,1,x\n1,0,y\n0,0,x\n1,1,y\n" * 3,
    'smoker,"lung, left",age\nyes,no,41\nno,no,33\nyes,yes,60\n"n""o",,12\n',
]


@MANY
@given(text=spoilt_text(CSVS))
def test_spoilt_tables(text: str, tmp_path: Path) -> None:
    """A damaged CSV file is read as a table, or refused."""
    file = tmp_path / "spoilt.csv"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    refused_or(lambda: _encoded(file))


def _encoded(file: Path) -> None:
    assert table(file, missing="level").rows >= 1


PARTS = [
    json.loads(part_json(part))
    for part in (
        learn(network("cancer"), "Cancer"),
        learn(MICRO["N1"], "t", learner="apsl-paper"),
        learn(DSeparation(network("asia").dag), "either", depth=2),
    )
]


def looked_at(part: Part) -> None:
    """Use a part in every way in which the viewing commands use it."""
    part.picture()
    part.rows()
    part_json(part)
    list(part.states())
    for pair in part.edges:
        str(part.why(*pair))


@MANY
@given(spoilt_json(PARTS))
def test_spoilt_parts(data: Any) -> None:
    """A damaged part file is refused at once, or everything that can be seen of it can be seen."""
    refused_or(lambda: looked_at(parse_part(as_text(data), "spoilt.json")))


@MANY
@given(spoilt_text([as_text(PARTS[0])]))
def test_cut_parts(text: str) -> None:
    """A part file cut or scribbled over is refused, or can still be seen."""
    refused_or(lambda: looked_at(parse_part(text, "spoilt.json")))


# --- plugins -------------------------------------------------------------------------------------------------------

ANSWERS = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=3),
    st.builds(
        Verdict,
        st.sampled_from(["a", "b", "c", 1, None]),
        st.sampled_from(["a", "b", "c", 1, None]),
        st.sampled_from([(), ("a",), ("c",), None, 3]),
        st.sampled_from(["independent", "dependent", "unreliable", "maybe", None]),
        st.sampled_from(["odd", None]),
        st.sampled_from([None, 1.0, float("nan"), "x"]),
        st.sampled_from([None, 0.5, -1.0, float("nan"), "x"]),
    ),
)


class Odd(BaseOracle):
    """An oracle that answers as it was told, one answer after the other, and errs where it was told to."""

    name = "odd"

    def __init__(self, answers: Sequence[object]) -> None:
        self.nodes = ("a", "b", "c")
        self._answers = list(answers)

    def verdict(self, x: Any, y: Any, given: Sequence[Any] = ()) -> Verdict:
        """Give the next answer; after the last one, a proper one."""
        answer = self._answers.pop(0) if self._answers else Verdict(x, y, tuple(given), "dependent", self.name)
        if answer == "raise":
            raise ZeroDivisionError
        return answer  # type: ignore[return-value] # odd on purpose


@MANY
@given(st.lists(st.one_of(ANSWERS, st.just("raise")), min_size=1, max_size=6))
def test_odd_oracles(answers: list[object]) -> None:
    """An oracle that breaks its contract is named in one sentence."""
    refused_or(lambda: looked_at(learn(Odd(answers), "a", learner="apsl")))


@MANY
@given(st.sampled_from(["apsl_oracles", "apsl_finders", "apsl_learners", "apsl_rulebooks", "apsl_exporters"]), ANSWERS)
def test_odd_offers(hook: str, answer: object) -> None:
    """A plugin that offers what is no offer is named in one sentence."""

    class Plugin:
        """Offers the drawn value."""

    offered = [answer] if not isinstance(answer, list) else answer
    setattr(Plugin, hook, hookimpl(lambda self: offered))  # noqa: ARG005 - a hook is a method
    manager = installed().copy()
    refused_or(lambda: manager.register(Plugin()))
    refused_or(lambda: looked_at(learn(known_dag({"a": [], "b": ["a"]}), "a", plugins=manager)))


# --- found by fuzzing, kept ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\ufeff", "network", "network x {", "variable a { type discrete [2] { x, y }; }"])
def test_short_networks(text: str) -> None:
    """The beginnings of a network file are refused."""
    with pytest.raises(ApslError):
        parse_bif(text)
