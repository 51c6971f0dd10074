"""The parts around several targets, and the one graph that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from apsl_rules.names import Depth, Node, require_known
from apsl_rules.notebook_view import NotebookView
from apsl_rules.parts.learned_graph import LearnedGraph
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.reach import Distances
from apsl_rules.rules import Fact, Finding, Policy, Rulebook, adjacent, knowing, ledger


@attrs.frozen(slots=False, repr=False)
class Parts(NotebookView, Mapping[Node, Part]):
    """Parts by target; ``asked`` tests would have been computed one by one, ``computed`` were.

    ``rulebook`` and ``conflicts`` say how their union is made. ``incomplete`` says which targets a limit or an
    interrupt kept from being learned.

    Attributes
    ----------
    depth, learner
        What was asked for.
    parts
        The parts by target, as a plain mapping.
    nodes
        All nodes of the source.
    """

    depth: Depth
    learner: str
    parts: Mapping[Node, Part]
    asked: int
    computed: int
    nodes: tuple[Node, ...]
    rulebook: Rulebook
    conflicts: Policy
    incomplete: str | None = None

    def __hash__(self) -> int:
        return hash((Parts, self.depth, self.learner, *self.parts))

    def __getitem__(self, target: Node) -> Part:
        require_known(target, self.parts, "target")
        return self.parts[target]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        figures = f"asked={self.asked}, computed={self.computed}"
        return f"Parts(targets={len(self)}, depth={self.depth!r}, learner={self.learner!r}, {figures}{state})"

    @cached_property
    def union(self) -> LearnedGraph:
        """Return one graph of the edges of all parts: the rules fired once more from everything that any of them found.

        Edges that were met beyond the asked depth of every part are left out, as they are from the parts themselves.
        """
        asked = frozenset(pair for part in self.parts.values() for pair in part.edges)
        return LearnedGraph(self.learner, self.nodes, (_union(self),), self.incomplete, asked)


def _union(parts: Parts) -> Part:
    """Apply the rules to all findings, visit by visit, each fact of a visit once."""
    first = next(iter(parts.values()))
    book = ledger(knowing(parts.rulebook) if first.knowledge else parts.rulebook, parts.conflicts)
    distances = Distances(first.target)
    visits: list[Visit] = []
    for node, (neighbours, findings) in _findings_by_node(parts.values()).items():
        begin = len(book.history)
        book, _ = book.with_findings(findings)
        visits.append(Visit(node, neighbours, begin, len(book.history)))
        for finding in findings:
            if finding.fact.relation == adjacent.name:
                distances.add(*finding.fact.nodes)
    settled = book.settled
    return attrs.evolve(
        first,
        depth="max",
        visits=tuple(visits),
        distances=dict(distances.of),
        all_conflicts=settled.conflicts,
        store=settled.store,
        history=book.history,
        make_proofs=book.proofs,
        rule_use=book.rule_use(),
        incomplete=parts.incomplete,
        notes=tuple(dict.fromkeys(note for part in parts.values() for note in part.notes)),
        support={},
    )


def _findings_by_node(parts: Iterable[Part]) -> dict[Node, tuple[tuple[Node, ...], list[Finding]]]:
    """Gather the findings of each visited node over all parts."""
    found: dict[Node, dict[Fact, Finding]] = {}
    neighbours: dict[Node, tuple[Node, ...]] = {}
    for part in parts:
        for visit in part.visits:
            neighbours.setdefault(visit.node, visit.neighbours)
            facts = found.setdefault(visit.node, {})
            for entry in part.history.entries[visit.begin : visit.end]:
                if isinstance(entry, Finding):
                    facts.setdefault(entry.fact, entry)
    return {node: (neighbours[node], list(facts.values())) for node, facts in found.items()}
