"""What results have, as a typed program uses it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, assert_type

import pandas as pd

from apsl_rules import Part, causes, effect
from apsl_rules.effects import Answer, Effect, Effects, Fitted, Grounds
from apsl_rules.parts import Edge, LearnedGraph, MarkedGraph, Parts, Stability
from apsl_rules.rules import Conflict, End, Finding, Firing, Mark, Proof
from apsl_rules.views.widget import PartWidget


def use_a_part(part: Part, frame: pd.DataFrame) -> None:
    """Use the attributes and methods of a part."""
    assert_type(part.arrows, frozenset[tuple[Hashable, Hashable]])
    assert_type(part.lines, frozenset[frozenset[Hashable]])
    assert_type(part.suggested, Mapping[tuple[Hashable, Hashable], float])
    assert_type(part.parents_of("a"), tuple[Hashable, ...])
    assert_type(part.mark("a", "b"), Mark)
    assert_type(part.end("a", "b"), End)
    assert_type(part.why("a", "b"), Proof)
    assert_type(part.edge_probability("a", "b"), float | None)
    assert_type(part.direction_probability("a", "b"), float | None)
    assert_type(part.to_frame(), pd.DataFrame)
    assert_type(part.rows(), list[dict[str, Any]])
    assert_type(part.conflicts, tuple[Conflict, ...])
    assert_type(part.trace, tuple[Firing, ...])
    assert_type(part.findings, tuple[Finding, ...])
    assert_type(part.graph(), MarkedGraph)
    assert_type(part.graph().edges, tuple[Edge, ...])
    assert_type(part.to_frame(), pd.DataFrame)
    assert_type(part.svg(), str)
    assert_type(part.effects(frame), Effects)
    assert_type(part.fit(frame), Fitted)
    assert_type(part.widget(data=frame), PartWidget)


def use_other_results(parts: Parts, found: Stability, graph: LearnedGraph, frame: pd.DataFrame) -> None:
    """Use the other results."""
    assert_type(parts["a"], Part)
    assert_type(parts.union, LearnedGraph)
    assert_type(found.of("a", "b").edge, float)
    assert_type(graph.to_frame(), pd.DataFrame)
    assert_type(graph.why("a", "b").to_json(), str)
    assert_type(effect(frame, "a", "b"), Effect)
    assert_type(effect(frame, "a", "b").why(), Grounds)
    assert_type(causes(frame, "a", "b"), Answer)
