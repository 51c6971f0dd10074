"""Whatever a file or a plugin says, what reaches the user is a result or an ApslError with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apsl_rules import Dag, hookimpl, learn
from apsl_rules.errors import ApslError, PartFileError
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.graphs.networks.bif import parse_bif
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.parts.file import parse_part
from apsl_rules.plugins.manager import installed
from support.fuzzing import PARTS, READERS, looked_at, refused_or, spoilt_parts
from support.mutation import as_text

MOST = max(100, settings().max_examples)
MANY = settings(max_examples=MOST, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@MANY
@given(data=st.data())
def test_spoilt_documents(name: str, data: st.DataObject) -> None:
    """A damaged document of any kind is read as something usable, or refused."""
    reader = READERS[name]
    text = data.draw(reader.spoilt())
    refused_or(lambda: reader.use(text))


@pytest.mark.slow
@MANY
@given(spoilt_parts())
def test_spoilt_parts(data: Any) -> None:
    """A part file with branches missing or moved is refused at once, or everything of it can be seen."""
    refused_or(lambda: looked_at(parse_part(as_text(data), "spoilt.json")))


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


#: Told to an odd oracle to have it err.
RAISE: Any = "raise"


class Odd(Oracle):
    """An oracle that answers as it was told, one answer after the other, and errs where it was told to."""

    name = "odd"

    def __init__(self, answers: Sequence[Any]) -> None:
        self.nodes = ("a", "b", "c")
        self._answers = list(answers)

    def verdict(self, x: Any, y: Any, given: Sequence[Any] = ()) -> Verdict:
        """Return the next answer; after the last one, a proper one."""
        proper = Verdict(x, y, tuple(given), "dependent", self.name)
        answer: Verdict = self._answers.pop(0) if self._answers else proper
        if answer is RAISE:
            raise ZeroDivisionError
        return answer


@MANY
@given(st.lists(st.one_of(ANSWERS, st.just(RAISE)), min_size=1, max_size=6))
def test_odd_oracles(answers: list[object]) -> None:
    """An oracle that breaks its contract is named in one sentence."""
    refused_or(lambda: looked_at(learn(Odd(answers), "a", learner="apsl")))


@pytest.mark.slow
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
    refused_or(lambda: looked_at(learn(Dag({"a": [], "b": ["a"]}), "a", plugins=manager)))


# --- found by fuzzing, kept ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\ufeff", "network", "network x {", "variable a { type discrete [2] { x, y }; }"])
def test_short_networks(text: str) -> None:
    """The beginnings of a network file are refused."""
    with pytest.raises(ApslError):
        parse_bif(text)


def found(data: Any) -> Any:
    """Return an edge that the file of a part has among its findings."""
    return data["visits"][0]["findings"][1]


STRANGE = {"name": "strange", "arity": 1, "reads": "{0.__class__}", "symmetric": False}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data["relations"][0].update(reads=None), "relations.0.reads is None, not a string"),
        (lambda data: data["relations"].append(STRANGE), "reads as '{0.__class__}'"),
        (lambda data: data["conclusions"]["facts"].clear(), "follows from the findings, but is not there"),
        (lambda data: found(data)["fact"].append(0), "relates 2 different nodes"),
        (lambda data: found(data).update(fact=["adjacent", 1, 0]), "in another order"),
        (lambda data: data["conclusions"]["distances"].clear(), "the distances are not those that the findings give"),
        (lambda data: data["visits"][0].update(node=10**6), "there is no node number 1000000"),
        (lambda data: data.update(nodes=[data["nodes"][0]] * len(data["nodes"])), "two nodes have the same label"),
    ],
)
def test_parts_that_once_loaded_and_failed_later(spoil: Callable[[Any], None], said: str) -> None:
    """Found by fuzzing: each of these is refused when it is read, with what is wrong."""
    data = json.loads(as_text(PARTS[0]))
    spoil(data)
    with pytest.raises(PartFileError) as refused:
        parse_part(as_text(data), "spoilt.json")
    assert said in str(refused.value)
