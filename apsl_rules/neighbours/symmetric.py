"""Neighbours of nodes by a finder, symmetric where asked, each asked once; and Markov blankets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Literal, Protocol

import attrs

from apsl_rules.errors import ApslError, LimitReachedError, PluginError
from apsl_rules.evidence import Verdict
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.oracles import Oracle, Search, Separation, Sweep
from apsl_rules.showing import NotebookView
from apsl_rules.stopping import Workers, name_interrupt


@attrs.frozen(eq=False)
class Candidates:
    """The outcome of a finder for one node: its neighbours, and a separating set for every other node.

    ``weakest`` holds the weakest dependence met for each member, ``separations`` the separators found by search;
    ``sweep`` answers for the nodes that were independent with nothing given. ``claim`` says what a member is one for.
    """

    node: Node
    members: tuple[Node, ...]
    sweep: Sweep | None = None
    separations: Mapping[Node, Separation] = attrs.field(factory=dict)
    weakest: Mapping[Node, Verdict] = attrs.field(factory=dict)
    claim: str = "no set tried separates them"
    _known: dict[Node, Separation | None] = attrs.field(factory=dict, init=False, repr=False)

    def separation(self, other: Node) -> Separation | None:
        """Return the separating set of a rejected node, if known; a test with too few rows separates nothing."""
        if other not in self._known:
            self._known[other] = self._separation(other)
        return self._known[other]

    def _separation(self, other: Node) -> Separation | None:
        if other in self.separations:
            return self.separations[other]
        if other in self.members or self.sweep is None:
            return None
        verdict = self.sweep.verdict_on(other)
        return Separation(self.node, other, (), verdict, 1) if verdict.independent else None


class Finder(Protocol):
    """Finds the parents-and-children candidates of a node."""

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node.

        A finder may also have ``foresee(nodes)``, which is called before the candidates of several nodes are asked for.
        """


class Neighbours:
    """Candidates of all nodes, each computed once and only when something asks for it.

    With symmetry, u and v are neighbours only if each finds the other: the cure for the false descendants that
    every parents-and-children finder keeps (Peña et al. 2007). Knowledge has the last word: required neighbours are
    kept and nodes known to be apart left out, while ``as_found`` remembers what the finder says by itself.
    """

    def __init__(self, finder: Finder, *, symmetric: bool, threads: int = 1, knowledge: Knowledge = NOTHING) -> None:
        self._finder = finder
        self._symmetric = symmetric
        self._threads = threads
        self._knowledge = knowledge
        self._candidates: dict[Node, Candidates] = {}
        self._as_found: dict[Node, Candidates] = {}
        self._of: dict[Node, tuple[Node, ...]] = {}

    @property
    def computed(self) -> tuple[Node, ...]:
        """Return the nodes whose candidates have been computed, in that order."""
        return tuple(self._candidates)

    def candidates(self, node: Node) -> Candidates:
        """Return the candidates of a node: those that its finder found, corrected by what is known."""
        if node not in self._candidates:
            self._candidates[node] = self._ask_finder(node)
        return self._candidates[node]

    def _ask_finder(self, node: Node) -> Candidates:
        """Ask the finder, and name it when it breaks its contract."""
        name = type(self._finder).__name__
        try:
            found: object = self._finder.candidates(node)
        except (ApslError, LimitReachedError):
            raise
        except Exception as error:
            name_interrupt(error)
            message = f"the finder {name} raised {type(error).__name__} in candidates({node!r}): {error}"
            raise PluginError(message) from error
        if not isinstance(found, Candidates):
            message = f"the finder {name} answered candidates({node!r}) with {found!r}, which is no Candidates"
            raise PluginError(message)
        return self._apply_knowledge(found)

    def _apply_knowledge(self, found: Candidates) -> Candidates:
        """Keep the neighbours that knowledge requires and leave out those that it says are apart."""
        if not self._knowledge:
            return found
        self._as_found[found.node] = found
        node = found.node
        required = {one for pair in self._knowledge.required_at(node) for one in pair if one != node}
        kept = [one for one in found.members if self._knowledge.why_apart(node, one) is None]
        return attrs.evolve(
            found,
            members=(*kept, *in_order(required.difference(kept))),
            separations={other: one for other, one in found.separations.items() if other not in required},
        )

    def as_found(self, node: Node) -> Candidates:
        """Return the candidates of a node as its finder found them, regardless of background knowledge."""
        found = self.candidates(node)
        return self._as_found.get(node, found)

    def agreed(self, x: Node, y: Node) -> bool:
        """Return whether the finder makes neighbours of two nodes, regardless of background knowledge."""
        return y in self.as_found(x).members and (not self._symmetric or x in self.as_found(y).members)

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Compute the candidates of several nodes, in threads when there are some to use."""
        missing = [node for node in nodes if node not in self._candidates]
        if not missing:
            return
        if len(missing) > 1 and hasattr(self._finder, "foresee"):
            self._finder.foresee(missing)
        if self._threads > 1 and len(missing) > 1:
            with Workers(self._threads) as pool:
                self._candidates.update(zip(missing, pool.map(self._ask_finder, missing), strict=True))
        else:
            for node in missing:
                self.candidates(node)

    def of(self, node: Node) -> tuple[Node, ...]:
        """Return the neighbours of a node."""
        if node not in self._of:
            members = self.candidates(node).members
            if self._symmetric:
                self.prepare(members)
                members = tuple(other for other in members if node in self.candidates(other).members)
            self._of[node] = members
        return self._of[node]

    def linked(self, x: Node, y: Node) -> bool:
        """Return whether two nodes are neighbours."""
        return y in self.candidates(x).members and (not self._symmetric or x in self.candidates(y).members)

    def separation(self, x: Node, y: Node) -> Separation | None:
        """Return the separating set of two nodes, from the search of either."""
        return self.candidates(x).separation(y) or self.candidates(y).separation(x)

    def claim(self, x: Node, y: Node) -> str:
        """Return the evidence that two nodes are neighbours."""
        return self.candidates(x if x in self._candidates else y).claim

    def evidence(self, x: Node, y: Node) -> tuple[Verdict, ...]:
        """Return the weakest dependences met between two neighbours: from each computed side, by name, once."""
        found = [
            verdict
            for one, other in permutations(in_order((x, y)))
            if one in self._candidates and (verdict := self._candidates[one].weakest.get(other)) is not None
        ]
        if len(found) > 1 and frozenset(found[0].given) == frozenset(found[1].given):
            del found[1]
        return tuple(found)


@attrs.frozen(repr=False)
class Blanket(NotebookView):
    """The parents and children of a node, and for each child that is shared the spouses it is shared with.

    ``untested`` are nodes that may be neighbours as well: there were too few rows to tell. Only a blanket that is read
    from a part or scored knows them.

    Attributes
    ----------
    node
        The node whose blanket it is.
    neighbours
        Its parents and children, by name.
    spouses
        For each child that is shared, the nodes that it is shared with.
    """

    node: Node
    neighbours: tuple[Node, ...]
    spouses: Mapping[Node, tuple[Node, ...]]
    untested: tuple[Node, ...] = ()

    def __hash__(self) -> int:
        return hash((Blanket, self.node, self.neighbours))

    def __repr__(self) -> str:
        spouses = count_of(len({one for shared in self.spouses.values() for one in shared}), "spouse")
        return f"<Blanket of {shown(self.node)}: {count_of(len(self.neighbours), 'neighbour')}, {spouses}>"

    @property
    def members(self) -> tuple[Node, ...]:
        """Return the whole blanket by name."""
        return in_order({*self.neighbours, *(other for shared in self.spouses.values() for other in shared)})


class BlanketFinder(Protocol):
    """Finds the Markov blanket of a node."""

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node."""


class SpousesByChild:
    """HITON-MB and MMMB: spouses are sought among the neighbours of each neighbour (Aliferis et al. 2003).

    For X in PC(T) and Y in PC(X) outside PC(T): Y is a spouse through X if X is not in the separator of T and Y, and
    adding X makes them dependent. A test with too few rows is accepted or rejected as the setting says.
    """

    def __init__(
        self, oracle: Oracle, neighbours: Neighbours, *, unreliable: Literal["accept", "reject"] = "accept"
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._unreliable = unreliable
        self._known: dict[Node, Blanket] = {}

    def blanket(self, node: Node) -> Blanket:
        """Find the blanket of one node, once."""
        if node not in self._known:
            around = self._neighbours.of(node)
            self._neighbours.prepare(around)
            shared = {child: self._spouses(node, child, around) for child in around}
            self._known[node] = Blanket(node, around, {child: nodes for child, nodes in shared.items() if nodes})
        return self._known[node]

    def _spouses(self, node: Node, child: Node, around: tuple[Node, ...]) -> tuple[Node, ...]:
        far = [other for other in self._neighbours.of(child) if other != node and other not in around]
        apart = [(other, self._neighbours.separation(node, other)) for other in far]
        given = [(other, one.given) for other, one in apart if one is not None and one.given is not None]
        self._oracle.foresee([Search(node, other, (), (*by, child)) for other, by in given if child not in by])
        return in_order(other for other in far if self._share(node, child, other))

    def _share(self, node: Node, child: Node, other: Node) -> bool:
        separation = self._neighbours.separation(node, other)
        if separation is None or separation.given is None or child in separation.given:
            return False
        verdict = self._oracle.verdict(node, other, (*separation.given, child))
        return verdict.dependent or (verdict.decision == "unreliable" and self._unreliable == "accept")
