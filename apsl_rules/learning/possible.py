"""What is drawn where hidden causes are possible: given and named directions, and those that shapes of columns tell.

The search and its findings stay as they are. Of the rules only those for what is given fire, since arrows that follow
from independence alone were right on real tables in little more than half of the cases.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from apsl_rules.data import Dataset
from apsl_rules.directions import SUGGESTED, Arrow, NameList, Shapes, draw, read_names, shipped_names, stages
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning.settings import Request
from apsl_rules.names import Node, in_order, listing, order_key, shown
from apsl_rules.notes import Note, argument
from apsl_rules.oracles import Oracle
from apsl_rules.parts import Grounds, Part, Visit
from apsl_rules.rules import POSSIBLE, Finding, MarkStore, adjacent, arrow, collider, conflict, found_distances, ledger


@attrs.frozen
class TableColumns:
    """What the shapes of columns are asked for, from a table."""

    data: Dataset

    def distinct(self, node: Node) -> int | None:
        """Return how many distinct values a column has; None where nobody can tell."""
        return self.data.distinct(node)

    def missing_share(self, node: Node) -> float:
        """Return the share of the rows in which a column has no value."""
        return float(self.data.missing[self.data.place[node]]) / max(1, self.data.rows)


def names_of(request: Request) -> NameList:
    """Return the list of names that a request goes by."""
    roots = str(request.roots)
    return read_names(roots) if roots.endswith(".toml") else shipped_names()


def with_roots(request: Request, known: Knowledge, data: Dataset) -> tuple[Knowledge, tuple[Note, ...]]:
    """Return knowledge with the columns that come first because of their names, and a note that lists them."""
    if request.roots == "ignore":
        return known, ()
    names = names_of(request)
    spoken = frozenset((*known.nodes, *(node for node, _ in known.assumed)))
    groups = {
        node: names.group_of(node, data.distinct(node) if data.is_category(node) else None)
        for node in in_order(data.names)
        if node not in spoken
    }
    found = [(node, group.reason) for node, group in groups.items() if group is not None]
    order = [pair for pair in stages(data.names) if spoken.isdisjoint(pair)]
    if not found and not order:
        return known, ()
    columns = [node for node, _ in found]
    said = [f"nothing in a table causes {listing(columns)}"] if columns else []
    said += [", ".join(f"{shown(one)} before {shown(other)}" for one, other in order)] if order else []
    is_note = request.roots == "note"
    undo = f"{argument('roots', 'assume' if is_note else 'ignore')} takes that {'as given' if is_note else 'back'}"
    note = Note(
        f"{'by their names' if is_note else 'assumed by name:'} {' and '.join(said)}; {undo}", "roots", columns=columns
    )
    return (known if is_note else attrs.evolve(known, assumed=(*known.assumed, *found), stages=order)), (note,)


def draw_possible(
    part: Part, oracle: Oracle | None, data: Dataset, request: Request, proved: Sequence[Finding] = ()
) -> Part:
    """Return a part as it is drawn where hidden causes are possible; without an oracle only what is given is drawn.

    ``proved`` are arrows that hold although causes may be hidden.
    """
    store = part.store
    edges = [frozenset(fact.nodes) for fact in store.facts(adjacent)]
    edges = [pair for pair in edges if conflict.fact(*pair) not in store or store.has_mark(*pair)]
    decided = _given(store) | {(one.fact.nodes[0], one.fact.nodes[1]) for one in proved}
    if oracle is None:
        return _told_again(part, proved)
    shapes = Shapes(TableColumns(data), oracle, store, names_of(request))
    support = {}
    for pair in edges:
        x, y = in_order(pair)
        if (x, y) not in decided and (y, x) not in decided:
            one = shapes.support(x, y)
            way = (x, y) if one.probability >= 1 - one.probability else (y, x)
            support[way] = one if way == (x, y) else shapes.support(y, x)
    likely = {way: one.probability for way, one in support.items()}
    found = [(x, middle, y) for x, middle, y in (fact.nodes for fact in store.facts(collider))]
    drawing = draw(edges, decided, likely, found, least=SUGGESTED)
    drawn = sorted(drawing.arrows.keys() - decided, key=lambda way: tuple(map(order_key, way)))
    return _told_again(part, [Finding(arrow.fact(*way), support[way].evidence(*way)) for way in drawn] + [*proved])


def _given(store: MarkStore) -> frozenset[Arrow]:
    """Return the arrows that rest on what was given, but for their edges."""
    if not (arrows := store.arrows):
        return frozenset()
    grounds = Grounds(store)
    return frozenset(pair for pair in arrows if all(one.evidence.is_given for one in grounds.of_direction(*pair)))


def _told_again(part: Part, arrows: Sequence[Finding]) -> Part:
    """Return a part whose findings are told to no rules but those for what is given, and arrows after them."""
    book = ledger(POSSIBLE, part.ledger.policy)
    visits = []
    for place, visit in enumerate(part.visits):
        entries = part.history.entries[visit.begin : visit.end]
        fresh = [one for one in entries if isinstance(one, Finding)]
        begin = len(book.history)
        is_last = place == len(part.visits) - 1
        book = book.with_findings([*fresh, *arrows] if is_last else fresh)
        visits.append(Visit(visit.node, visit.neighbours, begin, len(book.history)))
    distances = found_distances(book, part.target, part.knowledge)
    return attrs.evolve(part, ledger=book, visits=tuple(visits), distances=distances)
