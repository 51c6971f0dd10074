"""The engine: rules are compiled to loops over the log, which fire in rounds until nothing is new.

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
from functools import lru_cache
from keyword import iskeyword
from operator import itemgetter
from typing import Any, TypeAlias

import attrs

from apsl_rules.deadline import check
from apsl_rules.errors import RuleError
from apsl_rules.names import Node
from apsl_rules.rules.log import NOBODY, Log, Names, Numbers, Row, Told, instances
from apsl_rules.rules.marks import MarkStore
from apsl_rules.rules.vocabulary import Atom, Fact, Finding, Firing, Relation, Rule, Rulebook, Variable, by_name

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
