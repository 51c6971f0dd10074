"""The part: the structure around the target, every arrow with its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import GIVEN
from apsl_rules.names import Depth, Node, Pair, in_order, order_key, require_known
from apsl_rules.oracles import Counts
from apsl_rules.parts.edge_probability import probability_of
from apsl_rules.parts.reach import inside
from apsl_rules.parts.shortcuts import Exportable, Viewable, export_as
from apsl_rules.rules import (
    NOTHING,
    Conflict,
    Finding,
    Firing,
    Knowledge,
    Mark,
    MarkStore,
    Proof,
    Reason,
    adjacent,
    arrow,
    conflict,
    gap,
    proof_of,
    proof_of_reason,
    settled,
    untested,
)

if TYPE_CHECKING:
    import pandas as pd

#: The columns of the table of edges that ``Part.rows`` gives.
ROW = ("source", "target", "mark", "rule", "p", "distance", "support", "probability")


@attrs.frozen
class Visit:
    """A visited node, its neighbours, and how long the history was before and after the visit."""

    node: Node
    neighbours: tuple[Node, ...]
    begin: int
    end: int


@attrs.frozen
class KnownProofs:
    """Proofs that are made already, instead of a function that makes them."""

    store: MarkStore

    def __call__(self) -> MarkStore:
        """Return the store of the proofs."""
        return self.store


@attrs.frozen(slots=False, repr=False)
class Part(Exportable, Viewable):
    """What was learned around a target: every edge with an end at distance at most depth - 1 from it.

    ``store`` holds all marks, also those beyond the asked depth; ``history`` the run as it went; ``proofs`` the
    shortest proofs of the facts in ``store``. ``knowledge`` is what was given beforehand. ``support`` has, for each
    edge of a part that ``stability`` gave, the share of resamples that show the same mark in the same direction.

    A part is a value: it can be copied and pickled, and parts that were learned alike are equal, whatever time it took.
    """

    target: Node
    depth: Depth
    learner: str
    oracle: str
    nodes: tuple[Node, ...]
    visits: tuple[Visit, ...]
    distances: Mapping[Node, int]
    counts: Counts
    all_conflicts: tuple[Conflict, ...]
    store: MarkStore
    history: MarkStore
    make_proofs: Callable[[], MarkStore] = attrs.field(eq=False)
    rule_use: Mapping[str, int]
    order_dependent: bool
    settings: Mapping[str, Any]
    incomplete: str | None = None
    notes: tuple[str, ...] = ()
    support: Mapping[Pair, float] = attrs.field(factory=dict)
    knowledge: Knowledge = NOTHING

    def __hash__(self) -> int:
        return hash((Part, self.target, self.depth, self.learner, self.nodes, self.store))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of: the fields, with the proofs made, since a function may not be copied."""
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(Part)}
        return {**fields, "make_proofs": KnownProofs(self.proofs)}

    # --- the structure ---------------------------------------------------------------------------------------------

    @cached_property
    def _inner(self) -> frozenset[Node]:
        return frozenset(node for node, distance in self.distances.items() if inside(self.depth, distance))

    def is_inner(self, node: Node) -> bool:
        """Whether all edges of a node belong to the part: it is at most depth - 1 steps from the target."""
        return node in self._inner

    def _touches(self, pair: tuple[Node, Node] | Pair) -> bool:
        return not self._inner.isdisjoint(pair)

    @cached_property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow of the part as (from, to)."""
        return frozenset(pair for pair in self.store.arrows if self._touches(pair))

    @cached_property
    def lines(self) -> frozenset[Pair]:
        """Return every undirected edge of the part."""
        return frozenset(pair for pair in self.store.lines if self._touches(pair))

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the contradictions on pairs of the part."""
        return tuple(one for one in self.all_conflicts if self._touches(one.pair))

    @cached_property
    def outside(self) -> tuple[frozenset[tuple[Node, Node]], frozenset[Pair]]:
        """Return the arrows and lines that were learned but lie beyond the asked depth."""
        return self.store.arrows - self.arrows, self.store.lines - self.lines

    @cached_property
    def edges(self) -> frozenset[Pair]:
        """Return every adjacent pair of the part, whatever its mark."""
        conflicts = (
            pair for pair in self.store.conflicts if self._touches(pair) and adjacent.fact(*pair) in self.store
        )
        return frozenset({*map(frozenset, self.arrows), *self.lines, *conflicts})

    @cached_property
    def members(self) -> tuple[Node, ...]:
        """Return the nodes of the part by name: the target and every end of an edge."""
        return in_order({self.target, *(node for pair in self.edges for node in pair)})

    @cached_property
    def gaps(self) -> frozenset[Pair]:
        """Return the pairs of nodes of the part that are known to be not adjacent."""
        members = self.members
        return frozenset(
            frozenset((x, y))
            for at, x in enumerate(members)
            for y in members[at + 1 :]
            if self.store.mark(x, y) is Mark.GAP
        )

    @cached_property
    def layers(self) -> tuple[tuple[Node, ...], ...]:
        """Return the nodes of the part by distance from the target: layer 0 is the target itself."""
        by_distance: dict[int, list[Node]] = {}
        for node in self.members:
            by_distance.setdefault(self.distances[node], []).append(node)
        return tuple(tuple(by_distance[distance]) for distance in sorted(by_distance))

    @property
    def visited(self) -> tuple[Node, ...]:
        """Return the visited nodes in the order of the visits."""
        return tuple(visit.node for visit in self.visits)

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair: unknown, gap, line, arrow or conflict."""
        self._know(x, y)
        if x == y:
            message = f"{x!r} is named twice; name two different nodes"
            raise InvalidArgumentError(message)
        return self.store.mark(x, y)

    def parents_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes with an arrow to a node of the part, by name."""
        self._know(node)
        return in_order(x for x, y in self.arrows if y == node)

    def children_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that a node of the part has an arrow to, by name."""
        self._know(node)
        return in_order(y for x, y in self.arrows if x == node)

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes joined to a node by an edge of the part, by name."""
        self._know(node)
        return in_order(other for pair in self.edges if node in pair for other in pair if other != node)

    def _know(self, *nodes: Node) -> None:
        for node in nodes:
            require_known(node, self.nodes, "node")

    # --- the reasons -----------------------------------------------------------------------------------------------

    @cached_property
    def proofs(self) -> MarkStore:
        """Return the store of the shortest proofs."""
        return self.make_proofs()

    def why(self, x: Node, y: Node) -> Proof:
        """Prove what is known of a pair: a conflict with all its sides, an arrow in either direction, a line or a gap.

        Of a pair that could not be tested it says so, and what would help. The proof prints as a tree down to findings
        and their verdicts, and ``to_json()`` gives it as data. Where scores were asked it says how often an edge with
        so much evidence is right.
        """
        self._know(x, y)
        if x == y:
            message = f"{x!r} is named twice; name two different nodes"
            raise InvalidArgumentError(message)
        if conflict.fact(x, y) in self.proofs:
            sides = next(one.proofs for one in self.all_conflicts if {*one.pair} == {x, y})
            return attrs.evolve(proof_of(self.proofs, conflict.fact(x, y)), sides=sides)
        possible = (arrow.fact(x, y), arrow.fact(y, x), adjacent.fact(x, y), gap.fact(x, y), untested.fact(x, y))
        for fact in possible:
            if fact in self.proofs:
                proof = proof_of(self.proofs, fact)
                return attrs.evolve(proof, probability=probability_of(self.store.mark(x, y), proof))
        for fact in (settled.fact(x), settled.fact(y)):
            if fact in self.proofs:
                apart = Firing("not among the neighbours", fact.nodes, (fact,), gap.fact(x, y))
                return proof_of_reason(self.proofs, apart)
        advice = "allow more tests or seconds" if self.incomplete else "ask for a larger depth"
        why = f"neither was visited; {advice}"
        if not {x, y}.isdisjoint(self.visited):
            why = "the search around them ended early; the notes of the part say why"
        message = f"nothing is known of {x!r} and {y!r}: {why}"
        raise InvalidArgumentError(message)

    @cached_property
    def trace(self) -> tuple[Firing, ...]:
        """Return the firings in the order in which they happened."""
        return tuple(entry for entry in self.history.entries if isinstance(entry, Firing))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings in the order in which they came."""
        return tuple(entry for entry in self.history.entries if isinstance(entry, Finding))

    def states(self) -> Iterator[MarkStore]:
        """Replay the run: give every state of the store, from empty to the last."""
        return self.history.states()

    # --- views -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        return (
            f"Part(target={self.target!r}, depth={self.depth!r}, nodes={len(self.members)}, "
            f"arrows={len(self.arrows)}, undirected={len(self.lines)}, conflicts={len(self.conflicts)}, "
            f"tests={self.counts.asked}{state})"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the edges as plain rows: source, target, mark, rule, weakest p, distance, support, probability.

        ``support`` is the share of resamples that show the same mark, where ``stability`` learned the part, else None.
        ``probability`` says how often a mark with this much evidence is right, where scores were asked, else None.
        """
        rows = []
        for pair in sorted(self.edges, key=lambda one: tuple(order_key(node) for node in in_order(one))):
            x, y = in_order(pair)
            if (y, x) in self.arrows:
                x, y = y, x
            proof = self.why(x, y)
            reason = proof.steps[-1].reason
            verdicts = [verdict for finding in proof.findings for verdict in finding.evidence.verdicts]
            p_values = [verdict.p for verdict in verdicts if verdict.p is not None and verdict.dependent]
            rows.append(
                {
                    "source": x,
                    "target": y,
                    "mark": str(self.store.mark(x, y)),
                    "rule": _basis(reason),
                    "p": max(p_values, default=None),
                    "distance": min(self.distances[node] for node in pair),
                    "support": self.support.get(pair),
                    "probability": proof.probability,
                }
            )
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """Return the edges as a data frame, one row for each, with named marks."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=[*ROW])

    def export(self, name: str) -> str:
        """Write the part in a format by its name, such as "dot"; ``apsl formats`` lists them."""
        return export_as(self, name)

    def save(self, path: str | Path) -> None:
        """Write the part to a JSON file, whole or not at all; ``load_part`` and the command line read it."""
        from apsl_rules.parts.file import save_part

        save_part(self, path)

    def picture(self) -> str:
        """Draw the part as text: a tree of layers around the target."""
        from apsl_rules.parts.text import draw

        return draw(self)


def _basis(reason: Reason) -> str:
    """Name what an edge rests on: the rule that oriented it, or that it was found or given."""
    if isinstance(reason, Firing):
        return reason.rule
    return GIVEN if reason.evidence.is_given else "found"
