"""What can be spoilt and how it is used: each reader of the package with valid documents for it.

Whatever a document says, what must come out is a result or an ApslError with one sentence.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
from design import parse_experiment
from hypothesis import strategies as st

from apsl_rules import Knowledge, export, learn, network
from apsl_rules.data import table
from apsl_rules.errors import ApslError
from apsl_rules.graphs.networks.bif import parse_bif, write_bif
from apsl_rules.knowledge import parse_knowledge
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.parts.marked_graph import MarkedGraph
from apsl_rules.parts.part import Part
from apsl_rules.plugins.offers import parse_spec
from support.graphs import MICRO
from support.mutation import as_text, spoilt_json, spoilt_text


@attrs.frozen
class Reader:
    """A way in: valid documents, and what a user would do with one."""

    documents: Sequence[str]
    use: Callable[[str], None]

    def spoilt(self) -> st.SearchStrategy[str]:
        """Draw a document that was damaged as text."""
        return spoilt_text(self.documents)


def refused_or(use: Callable[[], None]) -> None:
    """Let something succeed or be refused; any other exception fails the test, and so does an empty sentence."""
    said = "done"
    try:
        use()
    except ApslError as error:
        said = str(error)
    assert said.strip()
    assert len(said.splitlines()) == 1, said


def looked_at(part: Part) -> None:
    """Use a part in every way in which the viewing commands use it."""
    part.picture()
    part.rows()
    part_json(part)
    list(part.states())
    part.svg()
    part._repr_html_()
    for pair in part.edges:
        str(part.why(*pair))


def _network(text: str) -> None:
    write_bif(parse_bif(text))


def _spec(text: str) -> None:
    learn(MICRO["N1"], "t", learner=parse_spec(text, "spoilt"))


def _table(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "spoilt.csv")
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert table(file, missing="level").rows >= 1


def _part(text: str) -> None:
    looked_at(parse_part(text, "spoilt.json"))


def _knowledge(text: str) -> None:
    learn(MICRO["N1"], "t", knowledge=parse_knowledge(text, "spoilt"))


def _experiment(text: str) -> None:
    parse_experiment(text, "spoilt")


def _shipped(folder: str) -> list[str]:
    places = (files("apsl_specs") / folder).iterdir()
    return [one.read_text("utf-8") for one in sorted(places, key=lambda one: one.name) if one.name.endswith(".toml")]


PARTS = [
    json.loads(part_json(part))
    for part in (
        learn(network("cancer"), "Cancer"),
        learn(MICRO["N1"], "t", learner="apsl-paper"),
        learn(MICRO["N1"], "t", depth=2, knowledge=Knowledge(required=[("t", "a")])),
        learn(network("asia"), "either", depth=2),
    )
]

CSVS = [
    "a,b,c\n0,1,x\n1,0,y\n0,0,x\n1,1,y\n" * 3,
    'smoker,"lung, left",age\nyes,no,41\nno,no,33\nyes,yes,60\n"n""o",,12\n',
]

KNOWN = [
    Knowledge(
        required=[("a", "b")], forbidden=[("t", "c")], tiers=[["a"], ["b", "c"], ["t"]], apart=[("a", "c")]
    ).to_toml(),
    "",
]

_GRAPH = MarkedGraph(("a", "b b", 'c"', 1), {("a", "b b"), ("b b", 'c"')}, {frozenset(('c"', 1))})
_ARROWS = MarkedGraph(("a", "b", "c"), {("a", "b"), ("b", "c")})

READERS: dict[str, Reader] = {
    "bif": Reader([write_bif(network("cancer")), write_bif(network("asia"))], _network),
    "spec": Reader(_shipped("learners"), _spec),
    "csv": Reader(CSVS, _table),
    "part": Reader([as_text(PARTS[0])], _part),
    "knowledge": Reader(KNOWN, _knowledge),
    "experiment": Reader(_shipped("experiments"), _experiment),
    "dot": Reader([export.to_dot(_GRAPH)], lambda text: _again(export.from_dot, text)),
    "dagitty": Reader([export.to_dagitty(_GRAPH)], lambda text: _again(export.from_dagitty, text)),
    "tetrad": Reader([export.to_tetrad(_GRAPH)], lambda text: _again(export.from_tetrad, text)),
    "mermaid": Reader([export.to_mermaid(_GRAPH)], lambda text: _again(export.from_mermaid, text)),
    "graphml": Reader([export.to_graphml(_GRAPH)], lambda text: _again(export.from_graphml, text)),
    "graph-json": Reader([export.to_graph_json(_GRAPH)], lambda text: _again(export.from_graph_json, text)),
    "bnlearn": Reader([export.to_bnlearn(_ARROWS)], lambda text: _again(export.from_bnlearn, text)),
}


def _again(read: Callable[[str], MarkedGraph], text: str) -> None:
    """Read a graph and write it in another format."""
    export.to_dot(read(text))


def spoilt_parts() -> st.SearchStrategy[Any]:
    """Draw a saved part with branches replaced, dropped or moved."""
    return spoilt_json(PARTS)
