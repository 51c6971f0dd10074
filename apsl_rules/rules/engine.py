"""The engine: rules are compiled to loops over the log, which fire in rounds until nothing is new; and marks on pairs.

A new arrow can be the first premise of ``arrow(X, Y), adjacent(Y, Z), chain(X, Y, Z) => arrow(Y, Z)``. The loops that
find the other two are plain Python::

    for (X, Y) in fresh:
        for Z in chain_01.get((X, Y), ()):
            if (Y, Z) not in arrow:
                if (Y, Z) in adjacent:
                    found((('arrow', (Y, Z)), 0, (X, Y, Z)))

``print(compile_rulebook(SOUND).source)`` shows those of all rules.

What one round concludes the next one uses, so the first proof of a fact is one of least depth; ties go by the names of
rules and premises. So the result depends on the set of facts alone, not on the order in which they come.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from keyword import iskeyword
from operator import itemgetter
from typing import Any, TypeAlias

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.memory import check
from apsl_rules.names import Node, Pair
from apsl_rules.rules.log import NOBODY, Log, Names, Numbers, Row, State, Told, instances
from apsl_rules.rules.vocabulary import (
    Atom,
    Fact,
    Finding,
    Firing,
    Relation,
    Rule,
    Rulebook,
    Variable,
    adjacent,
    arrow,
    by_name,
    conflict,
    gap,
    head,
    left_open,
    settled,
    untested,
)


class Mark(StrEnum):
    """All that a pair of nodes can be: drawings, files and words go by it, and ``docs/reading.md`` lists it."""

    ARROW = "arrow"  #: an edge with this direction
    PARTIAL = "partial"  #: with hidden causes: an arrowhead at one end, nothing known of the other
    BIDIRECTED = "bidirected"  #: with hidden causes: an arrowhead at both ends
    SUGGESTED = "suggested"  #: an edge with too little evidence for its direction; it is drawn as a line
    LINE = "line"  #: an edge of whose direction nothing is known
    CONFLICT = "conflict"  #: findings contradict each other
    GAP = "gap"  #: absent: something shows that there is no edge
    OPEN = "open"  #: no set separates the two, and yet the score does not pay for an edge
    UNKNOWN = "unknown"  #: not looked at, or not testable

    @property
    def is_edge(self) -> bool:
        """Return whether the pair is joined by an edge, whatever its direction."""
        return self not in (Mark.GAP, Mark.OPEN, Mark.UNKNOWN)

    @property
    def is_open(self) -> bool:
        """Return whether it is the mark of an edge with an end of which nothing is known."""
        return self in (Mark.LINE, Mark.SUGGESTED, Mark.PARTIAL)

    @property
    def drawn(self) -> Mark:
        """Return the mark that formats know: a suggested direction is drawn on a line."""
        return Mark.LINE if self is Mark.SUGGESTED else self


class End(StrEnum):
    """What is known of one end of an edge; nothing is proved of a circle."""

    ARROW = "arrow"
    TAIL = "tail"
    CIRCLE = "circle"


@attrs.frozen(repr=False, eq=False)
class MarkStore(State):
    """An immutable set of facts with a reason for each, read as marks on pairs of nodes.

    It is the first ``length`` rows of a ``log``.
    """

    def __repr__(self) -> str:
        return f"MarkStore(arrows={len(self.arrows)}, lines={len(self.lines)}, entries={len(self)})"

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair; ``has_arrow`` tells the direction of an arrow.

        A node whose neighbours are all known is apart from every other node, except from those it could not be tested
        against, and from those that were left open.
        """
        if self.relates(conflict, x, y):
            return Mark.CONFLICT
        if self.relates(arrow, x, y) or self.relates(arrow, y, x):
            return Mark.ARROW
        if heads := self.relates(head, x, y) + self.relates(head, y, x):
            return Mark.PARTIAL if heads == 1 else Mark.BIDIRECTED
        if self.relates(adjacent, x, y):
            return Mark.LINE
        return self._mark_without_edge(x, y)

    def _mark_without_edge(self, x: Node, y: Node) -> Mark:
        if self.relates(gap, x, y):
            return Mark.GAP
        if self.relates(left_open, x, y):
            return Mark.OPEN
        is_settled = self.relates(settled, x) or self.relates(settled, y)
        return Mark.GAP if is_settled and not self.relates(untested, x, y) else Mark.UNKNOWN

    def relates(self, relation: Relation, *nodes: Node) -> bool:
        """Return whether a fact about nodes is held here."""
        if not self.log.held.get(relation.name):
            return False
        number = self.log.names.number
        return self.holds(relation.name, tuple([number.get(node, NOBODY) for node in nodes]))

    def has_arrow(self, x: Node, y: Node) -> bool:
        """Return whether x -> y is held."""
        return self.relates(arrow, x, y)

    def has_mark(self, x: Node, y: Node) -> bool:
        """Return whether something is held of an end of an edge."""
        return any(self.relates(one, *pair) for one in (arrow, head) for pair in ((x, y), (y, x)))

    def end(self, x: Node, y: Node) -> End:
        """Return the mark at x on the edge of x and y."""
        if self.relates(conflict, x, y):
            return End.CIRCLE
        if self.relates(arrow, x, y):
            return End.TAIL
        return End.ARROW if self.relates(head, x, y) or self.relates(arrow, y, x) else End.CIRCLE

    @property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow as (from, to), except on pairs in conflict."""
        blocked, labels = self.conflicts, self.log.names.labels
        pairs = [(labels[x], labels[y]) for x, y in self.rows(arrow)]
        return frozenset([pair for pair in pairs if not blocked or frozenset(pair) not in blocked])

    @property
    def lines(self) -> frozenset[Pair]:
        """Return every adjacent pair whose direction is open: nothing is known of either end."""
        return self._pairs(adjacent).difference(self._pairs(arrow), self._pairs(head), self.conflicts)

    @property
    def partial(self) -> frozenset[tuple[Node, Node]]:
        """Return every pair with an arrowhead at the second node and nothing known of the first: (x, y) for x o-> y."""
        ends = [fact.nodes for fact in self.facts(head)]
        return frozenset([(x, y) for y, x in ends if self.mark(x, y) is Mark.PARTIAL])

    @property
    def bidirected(self) -> frozenset[Pair]:
        """Return every pair with arrowheads at both ends."""
        return frozenset([pair for pair in self._pairs(head) if self.mark(*pair) is Mark.BIDIRECTED])

    @property
    def conflicts(self) -> frozenset[Pair]:
        """Return every pair on which findings contradict each other."""
        return self._pairs(conflict)

    def _pairs(self, relation: Relation) -> frozenset[Pair]:
        labels = self.log.names.labels
        return frozenset([frozenset((labels[x], labels[y])) for x, y in self.rows(relation)])

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes known to be adjacent to a node, whatever the direction, by name."""
        labels, number = self.log.names.labels, self.log.names.number.get(node, NOBODY)
        held = [numbers for fact, numbers in self.log.edges.get(number, ()) if self.holds(fact, numbers)]
        return tuple([labels[one] for one in sorted({one for numbers in held for one in numbers} - {number})])


#: All readings of new facts by relation.
Fresh: TypeAlias = Mapping[str, list[Numbers]]
#: What rules conclude from new facts: the fact, the number of the rule, and what stands for its variables.
Found: TypeAlias = tuple[Told, int, Numbers]
Stop: TypeAlias = Callable[[Log, Fresh], bool]

# --- from rules to loops ---------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Program:
    """A ``rulebook`` ready to run: its ``relations`` and ``rules`` by name, and the loops to run when facts are new.

    ``source`` is the text of the loops, ``loops`` the functions that it makes, by the relation of the new facts.
    """

    rulebook: Rulebook
    relations: Mapping[str, Relation]
    rules: tuple[Rule, ...]
    source: str
    loops: Mapping[str, Callable[[list[Numbers], Log, Callable[[Found], None]], None]]

    def start(self, labels: Iterable[Node] = ()) -> MarkStore:
        """Return an empty store for this rulebook; labels that are known beforehand need no renumbering later."""
        return MarkStore.newest(Log(self.relations, Names(labels)))

    def matches(self, log: Log, fresh: Fresh) -> list[Found]:
        """Join new facts with all that a log holds; return what rules conclude, as far as it is not held."""
        found: list[Found] = []
        for relation, readings in fresh.items():
            if relation in self.loops:
                self.loops[relation](readings, log, found.append)
        return found


@lru_cache(maxsize=64)
def compile_rulebook(rulebook: Rulebook) -> Program:
    """Return the program of a rulebook; equal rulebooks share one."""
    rules = tuple(sorted(rulebook.rules, key=lambda rule: rule.name))
    triggers: dict[str, list[tuple[int, int]]] = {}
    for number, rule in enumerate(rules):
        for at, atom in enumerate(rule.when):
            triggers.setdefault(atom.relation.name, []).append((number, at))
    words = _Words()
    functions = {relation: f"{words.of(relation)}_is_new" for relation in triggers}
    source = "\n\n".join(
        f"def {functions[relation]}(fresh, log, found):\n{_Loops(rules, words).text(premises)}"
        for relation, premises in triggers.items()
    )
    space: dict[str, Any] = {}
    exec(compile(source, "<rulebook>", "exec"), space)  # noqa: S102 - has no words but those of _Words
    loops = {relation: space[name] for relation, name in functions.items()}
    return Program(rulebook, by_name(rulebook.relations), rules, source, loops)


class _Words:
    """Words of Python for what a rulebook names: the same ones where these are plain and free, others elsewhere."""

    def __init__(self) -> None:
        self._word_of: dict[object, str] = {}
        self._taken = {"fresh", "log", "found"}

    def of(self, named: str | Variable, *further: int) -> str:
        """Return the word for a relation, for one of its tables or for a variable."""
        if (named, further) not in self._word_of:
            name = named if isinstance(named, str) else named.name
            word = f"{name}_{''.join(map(str, further))}" if further else name
            if not (word.isascii() and word.isidentifier()) or iskeyword(word) or word[0] == "_" or word in self._taken:
                word = f"{'table' if further else 'word'}_{len(self._word_of)}"
            self._word_of[named, further] = word
            self._taken.add(word)
        return self._word_of[named, further]


class _Loops:
    """The loops that complete new facts of a relation to firings, rule by rule."""

    def __init__(self, rules: Sequence[Rule], words: _Words) -> None:
        self._rules, self._words = rules, words
        self._uses: dict[str, str] = {}

    def text(self, premises: Iterable[tuple[int, int]]) -> str:
        """Return the body of a function for those premises of rules that new facts can be."""
        loops = [line for number, trigger in premises for line in self._loops(number, trigger)]
        opening = [f"{word} = {value}" for word, value in self._uses.items()]
        return "\n".join(f"    {line}" for line in (*opening, *loops))

    def _loops(self, number: int, trigger: int) -> list[str]:
        rule = self._rules[number]
        known = list(rule.when[trigger].variables)
        left = [atom for at, atom in enumerate(rule.when) if at != trigger]
        unasked = {one for head in rule.then for one in head.variables}
        lines = [f"if {' and '.join(dict.fromkeys(map(self._held, left))) or 'fresh'}:  # {repr(rule.name)[1:-1]}"]
        lines.append(f"for {self._row(known)} in fresh:")
        while True:
            if unasked and unasked.issubset(known):
                heads = [f"{self._row(head.variables)} not in {self._held(head)}" for head in rule.then]
                lines.append(f"if {' or '.join(heads)}:")
                unasked = set()
            if not left:
                break
            atom = min(left, key=lambda one: (len(_new(one, known)), -len(one.variables)))  # checks first
            left.remove(atom)
            lines += self._step(atom, known)
            known += _new(atom, known)
        bindings = self._row(rule.variables)
        heads = [f"found((({one.relation.name!r}, {self._kept(one)}), {number}, {bindings}))" for one in rule.then]
        return ["    " * depth + line for depth, line in enumerate((*lines, "; ".join(heads)))]

    def _step(self, atom: Atom, known: Sequence[Variable]) -> list[str]:
        """Return the lines that check a premise, or go through what fits it."""
        new, bound = _new(atom, known), [one for one in atom.variables if one in known]
        if not new:
            return [f"if {self._row(atom.variables)} in {self._held(atom)}:"]
        at = tuple(map(atom.variables.index, bound))
        table = self._words.of(atom.relation.name, *at) if at else self._words.of(atom.relation.name, -1)
        self._uses[table] = f"log.table({atom.relation.name!r}, {at})"
        lines = [f"for {self._one_or_row(new)} in {table}.get({self._one_or_row(bound)}, ()):"]
        others = [one for one in known if one not in bound]  # a fact relates different nodes
        pairs = [f"{self._words.of(one)} != {self._words.of(other)}" for one in new for other in others]
        return [*lines, f"if {' and '.join(pairs)}:"] if pairs else lines

    def _held(self, atom: Atom) -> str:
        word = self._words.of(atom.relation.name)
        self._uses[word] = f"log.held[{atom.relation.name!r}]"
        return word

    def _row(self, variables: Sequence[Variable]) -> str:
        return f"({', '.join(map(self._words.of, variables))}{',' * (len(variables) == 1)})"

    def _one_or_row(self, variables: Sequence[Variable]) -> str:
        return self._words.of(variables[0]) if len(variables) == 1 else self._row(variables)

    def _kept(self, atom: Atom) -> str:
        """Spell the reading that a log keeps: of a symmetric relation the one that begins with the first name."""
        row, back = self._row(atom.variables), self._row(atom.variables[::-1])
        first, last = self._words.of(atom.variables[0]), self._words.of(atom.variables[-1])
        return f"({row} if {first} < {last} else {back})" if atom.relation.symmetric and first != last else row


def _new(atom: Atom, known: Collection[Variable]) -> list[Variable]:
    return [one for one in atom.variables if one not in known]


# --- rounds ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class Extension:
    """What an extension brought: the new state, and the places at which its rounds begin, in ``begin`` the telling.

    One that was ``stopped`` ends before the fixpoint, with the round after which it was.
    """

    store: MarkStore
    begin: int
    rounds: tuple[int, ...]
    stopped: bool = False

    @property
    def firings(self) -> tuple[Firing, ...]:
        """Return the firings in order."""
        return self.store.firings(self.begin)

    def depth(self, place: int) -> int:
        """Return the round that concluded the fact of a place: 0 for what was told or held before."""
        return bisect_right(self.rounds, place)

    def depths(self) -> dict[Fact, int]:
        """Return the depth of the proof of each derived fact."""
        places = range(self.rounds[0] if self.rounds else len(self.store), len(self.store))
        return {self.store.log.fact(place): self.depth(place) for place in places}


def require_positive(rulebook: Rulebook) -> None:
    """Refuse a rulebook whose result would depend on the order of the findings."""
    if not rulebook.positive:
        message = (
            f"rulebook {rulebook.name!r} has guards and so no fixpoint that is free of order; "
            "use the conflict policy 'first' or 'last' with it"
        )
        raise RuleError(message)


def extend(
    program: Program,
    store: MarkStore,
    findings: Iterable[Finding],
    blocked: Collection[Fact] = (),
    stop: Stop | None = None,
) -> Extension:
    """Add findings and take the rules to their least fixpoint; facts in ``blocked`` are neither told nor concluded.

    Fed to an empty store, the depth of each proof is the smallest there is. ``stop`` is asked with the new facts of
    each round whether to go no further.
    """
    log, rows = store.continued([*findings])
    number = log.names.number
    barred = {(one.relation, tuple([number.get(node, NOBODY) for node in one.nodes])) for one in blocked}
    return extend_rows(program, log, rows, barred, stop)


def extend_rows(
    program: Program, log: Log, told: Iterable[Row], blocked: Collection[Told] = (), stop: Stop | None = None
) -> Extension:
    """Do the same with rows, on a log that nobody else writes to."""
    require_positive(program.rulebook)
    begin, rounds, stopped = len(log), list[int](), False
    if blocked:
        told = [row for row in told if row[:2] not in blocked]
    fresh = log.write(told)
    while fresh and not stopped:
        check()
        if stop is not None and stop(log, fresh):
            stopped = True
        else:
            rounds.append(len(log))
            fresh = log.write(_conclusions(program, log, fresh, blocked))
    return Extension(MarkStore.newest(log), begin, tuple(rounds), stopped)


def _conclusions(program: Program, log: Log, fresh: Fresh, blocked: Collection[Told]) -> list[Row]:
    """Return one firing for each fact that new facts lead to, by name; which one does not depend on any order."""
    best: dict[Told, tuple[int, Numbers]] = {}
    for fact, number, bindings in program.matches(log, fresh):
        rival, other = best.setdefault(fact, (number, bindings))
        if other is bindings or number > rival:
            continue
        rule = program.rules[number]
        if number < rival or instances(rule.when, rule, bindings) < instances(rule.when, rule, other):
            best[fact] = number, bindings
    rules = program.rules
    return [
        (*fact, rules[number], bindings)
        for fact, (number, bindings) in sorted(best.items(), key=itemgetter(0))
        if not blocked or fact not in blocked
    ]


def count_firings(rulebook: Rulebook, store: MarkStore) -> dict[str, int]:
    """Return how often each rule of a rulebook fired on the way to a store."""
    fired = Counter(firing.rule for firing in store.firings())
    return {rule.name: fired[rule.name] for rule in rulebook.rules}
