"""The words of the rules: relations, facts, and rules as patterns of facts; and how a rule is written as a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, nearest, order_key, shown

Nodes: TypeAlias = tuple[Node, ...]


class Fact(NamedTuple):
    """A relation that holds between nodes."""

    relation: str
    nodes: Nodes


@attrs.frozen
class Variable:
    """A place in a rule that stands for any node, by its ``name``."""

    name: str


@attrs.frozen
class Atom:
    """A ``relation`` between ``variables``: a premise, a guard or a conclusion of a rule."""

    relation: Relation
    variables: tuple[Variable, ...]

    def __str__(self) -> str:
        return self.relation.reads.format(*(one.name for one in self.variables)).replace(" is ", " ")


@attrs.frozen
class Relation:
    """A kind of fact: its ``name``, how many nodes it relates, how it reads, and whether it reads the same backwards.

    ``arity`` is the number of nodes; ``reads`` has a place for each node; a ``symmetric`` one reads the same backwards.
    """

    name: str
    arity: int
    reads: str
    symmetric: bool = False

    def __call__(self, *variables: Variable) -> Atom:
        """Make an atom of a rule from variables."""
        if len(variables) != self.arity:
            message = f"the relation {self.name!r} relates {self.arity} nodes, not {len(variables)}"
            raise RuleError(message)
        strangers = [term for term in variables if not isinstance(term, Variable)]
        if strangers:
            message = f"a rule speaks of variables, but {self.name!r} was given {strangers[0]!r}; use .fact() for nodes"
            raise RuleError(message)
        twice = [variable for variable in variables if variables.count(variable) > 1]
        if twice:
            message = f"the relation {self.name!r} relates different nodes, but {twice[0].name} stands in two places"
            raise RuleError(message)
        return Atom(self, variables)

    def fact(self, *nodes: Node) -> Fact:
        """Make a fact from different nodes; both readings of a symmetric relation give the same fact."""
        if len(nodes) != self.arity or (self.arity > 1 and len(set(nodes)) != self.arity):
            message = f"the relation {self.name!r} relates {self.arity} different nodes, not {nodes!r}"
            raise RuleError(message)
        if self.symmetric:
            first, last = nodes[0], nodes[-1]
            both_text = type(first) is str and type(last) is str
            if last < first if both_text else order_key(last) < order_key(first):  # type: ignore[operator]  # text, by then
                nodes = nodes[::-1]
        return Fact(self.name, nodes)

    def readings(self, nodes: Nodes) -> tuple[Nodes, ...]:
        """Return every order of the nodes in which the fact can be read."""
        return (nodes, nodes[::-1]) if self.symmetric and self.arity > 1 else (nodes,)

    def text(self, nodes: Nodes) -> str:
        """Say the fact in words."""
        return self.reads.format(*map(shown, nodes))


adjacent = Relation("adjacent", 2, "{0} -- {1}", symmetric=True)
gap = Relation("gap", 2, "{0} and {1} are not adjacent", symmetric=True)
settled = Relation("settled", 1, "all neighbours of {0} are known")
untested = Relation("untested", 2, "whether {0} and {1} are adjacent could not be tested", symmetric=True)
left_open = Relation("open", 2, "whether {0} and {1} are adjacent is left open", symmetric=True)
instead = Relation("instead", 3, "{2} may be adjacent to {0} in the place of {1}")
duplicate = Relation("duplicate", 2, "{0} and {1} are duplicate columns", symmetric=True)
arrow = Relation("arrow", 2, "{0} -> {1}")
collider = Relation("collider", 3, "{1} is a collider between {0} and {2}", symmetric=True)
chain = Relation("chain", 3, "{1} is no collider between {0} and {2}", symmetric=True)
spouse = Relation("spouse", 3, "{0} and {2} share the child {1}", symmetric=True)
barred = Relation("barred", 2, "no arrow goes from {0} to {1}")
conflict = Relation("conflict", 2, "{0} and {1} are in conflict", symmetric=True)
#: ``head(B, A)`` names the node with the arrowhead first: on the edge of A and B there is one at B, whatever is at A.
#: ``arrow(A, B)`` is written as it is drawn, from tail to head: A is a cause of B, and B none of A.
head = Relation("head", 2, "{1} *-> {0}")
noncause = Relation("noncause", 2, "{0} is no cause of {1}")
within = Relation("within", 3, "{1} is in a set that separates {0} from {2}", symmetric=True)
without = Relation("without", 3, "{1} is not in a set that separates {0} from {2}", symmetric=True)

RELATIONS = (
    *(adjacent, gap, settled, untested, left_open, instead, duplicate),
    *(arrow, collider, chain, spouse, barred, conflict),
)
WORDS = (*RELATIONS, head, noncause, within, without)


@attrs.frozen
class Finding:
    """A ``fact`` told from outside the rules, with its ``evidence``."""

    fact: Fact
    evidence: Evidence


@attrs.frozen
class Firing:
    """One use of a ``rule``: the ``bindings`` of its variables, its ``premises`` and the ``fact`` that it concludes."""

    rule: str
    bindings: Nodes
    premises: tuple[Fact, ...]
    fact: Fact


Reason: TypeAlias = Finding | Firing


@attrs.frozen
class Drop:
    """The end of a ``fact``, ``because`` the given reason overwrote it."""

    fact: Fact
    because: Reason


Entry: TypeAlias = Reason | Drop


def fact_key(fact: Fact) -> tuple[object, ...]:
    """Return a sort key for facts of any nodes."""
    return (fact.relation, tuple(order_key(node) for node in fact.nodes))


def by_name(relations: Iterable[Relation]) -> dict[str, Relation]:
    """Index relations by name, refusing two meanings of one name."""
    known: dict[str, Relation] = {}
    for relation in relations:
        if known.setdefault(relation.name, relation) != relation:
            message = f"two relations share the name {relation.name!r}; rename one"
            raise RuleError(message)
    return known


def _atoms(atoms: Iterable[object]) -> tuple[Atom, ...]:
    """Take relations over variables only."""
    taken = []
    for atom in atoms:
        if not isinstance(atom, Atom):
            message = f"a rule is made of relations over variables, such as arrow(X, Y), not of {atom!r}"
            raise RuleError(message)
        taken.append(atom)
    return tuple(taken)


@attrs.frozen(cache_hash=True)
class Rule:
    """If every premise in ``when`` holds, and nothing in ``unless``, then every conclusion in ``then`` holds.

    ``name`` and ``reason`` say which rule it is and why it holds. Different ``variables`` stand for different nodes;
    they are in the order in which the premises name them. A rule without guards is positive: what it concludes stays
    concluded, so a rulebook of positive rules has one least fixpoint whatever the order. Guards (``unless``) exist for
    the literal reading of published algorithms only; a rulebook with guards is order-dependent.
    """

    name: str
    reason: str
    when: tuple[Atom, ...] = attrs.field(converter=_atoms)
    then: tuple[Atom, ...] = attrs.field(converter=_atoms)
    unless: tuple[Atom, ...] = attrs.field(converter=_atoms, default=())
    variables: tuple[Variable, ...] = attrs.field(init=False, eq=False, repr=False)

    @variables.default
    def _order_variables(self) -> tuple[Variable, ...]:
        return tuple(dict.fromkeys(variable for atom in self.when for variable in atom.variables))

    def __attrs_post_init__(self) -> None:
        if not self.when or not self.then:
            message = f"rule {self.name!r} needs at least one premise and one conclusion"
            raise RuleError(message)
        bound = set(self.variables)
        for part, atoms in (("conclusion", self.then), ("guard", self.unless)):
            for atom in atoms:
                for variable in atom.variables:
                    if variable not in bound:
                        message = (
                            f"variable {variable.name!r} in a {part} of rule {self.name!r} is bound by no premise; "
                            f"the premises bind {', '.join(one.name for one in self.variables)}"
                        )
                        raise RuleError(message)

    @classmethod
    def parse(cls, text: str, *, name: str = "rule", reason: str = "", relations: Iterable[Relation] = WORDS) -> Rule:
        """Read a rule as it prints, or with relations by name: ``X -> Y, chain(X, Y, Z), Y -- Z => Y -> Z``."""
        return parse_rule(text, name, reason, relations)

    def __str__(self) -> str:
        guards = f"  unless  {_texts(self.unless)}" if self.unless else ""
        return f"{_texts(self.when)}{guards}  =>  {_texts(self.then)}"


def _texts(atoms: Iterable[Atom]) -> str:
    return ", ".join(map(str, atoms))


_LINE = re.compile(r"(?P<name>.+?): (?P<when>.+?)( unless (?P<unless>.+?))? => (?P<then>.+?)  # (?P<reason>.*)")
_ATOM = re.compile(r"(?P<relation>[^(), ]+)\((?P<variables>[^()]+)\)")


def rule_line(rule: Rule) -> str:
    """Write a rule as a line: its name, premises, guards if there are any, conclusions and reason.

    >>> X, Y, Z = map(Variable, "XYZ")
    >>> rule_line(Rule("Meek-R2", "no cycle", [arrow(X, Y), arrow(Y, Z), adjacent(X, Z)], [arrow(X, Z)]))
    'Meek-R2: arrow(X, Y), arrow(Y, Z), adjacent(X, Z) => arrow(X, Z)  # no cycle'
    """
    when, then, unless = (
        ", ".join(f"{one.relation.name}({', '.join(term.name for term in one.variables)})" for one in atoms)
        for atoms in (rule.when, rule.then, rule.unless)
    )
    return f"{rule.name}: {when}{f' unless {unless}' if unless else ''} => {then}  # {rule.reason}"


def read_rules(text: str, relations: Iterable[Relation]) -> tuple[Rule, ...]:
    """Read rules from lines over some relations."""
    known = by_name(relations)
    return tuple(read_rule(line, known) for line in text.strip().splitlines())


def read_rule(line: str, relations: Mapping[str, Relation]) -> Rule:
    """Read a rule from its line."""
    found = _LINE.fullmatch(line)
    if found is None:
        message = f"{line!r} is no rule"
        raise RuleError(message)
    when, unless, then = (_read_atoms(found[key] or "", relations) for key in ("when", "unless", "then"))
    return Rule(found["name"], found["reason"], when, then, unless)


def _read_atoms(text: str, relations: Mapping[str, Relation]) -> tuple[Atom, ...]:
    atoms = [(one["relation"], one["variables"].split(", ")) for one in _ATOM.finditer(text)]
    if ", ".join(f"{name}({', '.join(terms)})" for name, terms in atoms) != text:
        message = f"{text!r} is no list of relations over variables"
        raise RuleError(message)
    unknown = next((name for name, _ in atoms if name not in relations), None)
    if unknown is not None:
        message = f"a rule has the unknown relation {unknown!r}"
        raise RuleError(message)
    return tuple(relations[name](*map(Variable, terms)) for name, terms in atoms)


@attrs.frozen(cache_hash=True)
class Rulebook:
    """A set of ``rules`` over known ``relations``, with a ``name``; ``further`` are those for background knowledge."""

    name: str
    rules: tuple[Rule, ...]
    relations: tuple[Relation, ...] = RELATIONS
    further: tuple[Rule, ...] | None = None

    def __attrs_post_init__(self) -> None:
        known = by_name(self.relations)
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                message = f"rulebook {self.name!r} has two rules named {name!r}; rename one"
                raise RuleError(message)
        for rule in self.rules:
            for atom in (*rule.when, *rule.then, *rule.unless):
                relation = atom.relation
                if known.get(relation.name) != relation:
                    message = (
                        f"rule {rule.name!r} uses the unknown relation {relation.name!r}"
                        f"{nearest(relation.name, known)}; rulebook {self.name!r} must list it among its relations"
                    )
                    raise RuleError(message)

    @property
    def positive(self) -> bool:
        """Return whether no rule has a guard, so that the result cannot depend on any order."""
        return not any(rule.unless for rule in self.rules)

    def with_rules(self, *rules: Rule, name: str | None = None) -> Rulebook:
        """Return a rulebook with further rules."""
        return attrs.evolve(self, name=name or self.name, rules=(*self.rules, *rules))


_NAMED = re.compile(r"(?P<relation>\w+)\s*\((?P<variables>[^()]*)\)")
_VARIABLE = re.compile(r"[^\W\d]\w*")
_PLACE = re.compile(r"\{(\d)\}")
_PARTS = re.compile(r"(?P<when>.*?)(?P<unless>\bunless\b.*?)?=>(?P<then>.*)", re.DOTALL)


def parse_rule(text: str, name: str, reason: str, relations: Iterable[Relation]) -> Rule:
    """Read a rule: premises, perhaps ``unless`` and guards, ``=>`` and conclusions, each set off by commas."""
    reader = _Reader(text, by_name(relations))
    found = _PARTS.fullmatch(text)
    if found is None:
        raise reader.error(len(text), "has no '=>'; write the premises, '=>' and the conclusions")
    guards = found["unless"]
    when, then = (tuple(reader.atoms(*found.span(part))) for part in ("when", "then"))
    unless = tuple(reader.atoms(found.start("unless") + len("unless"), found.end("unless"))) if guards else ()
    return Rule(name, reason, when, then, unless)


class _Reader:
    """The text of a rule, and how each relation reads in it."""

    def __init__(self, text: str, relations: Mapping[str, Relation]) -> None:
        self._text, self._relations = text, relations
        self._spellings = [(_spelling(one), one) for one in relations.values()]

    def error(self, at: int, trouble: str) -> RuleError:
        """Return a sentence that names the place."""
        return RuleError(f"the rule {self._text!r} {trouble} (at character {at + 1})")

    def atoms(self, begin: int, end: int) -> Iterator[Atom]:
        """Yield what stands between two places, set off by commas that are in no brackets."""
        low, depth = begin, 0
        for at in range(begin, end + 1):
            sign = self._text[at] if at < end else ","
            depth += (sign == "(") - (sign == ")")
            if at == end or (sign == "," and not depth):
                yield self._atom(low, at)
                low = at + 1

    def _atom(self, low: int, high: int) -> Atom:
        said = self._text[low:high]
        at, said = low + len(said) - len(said.lstrip()), said.strip()
        if not said:
            raise self.error(low, "lacks a relation; write one such as 'X -> Y' or 'chain(X, Y, Z)'")
        named = _NAMED.fullmatch(said)
        if named is not None:
            return self._by_name(named, at)
        for spelling, relation in self._spellings:
            found = spelling.fullmatch(said)
            if found is not None:
                terms = [found[f"v{place}"] for place in range(relation.arity)]
                return self._made(relation, terms, at)
        raise self.error(
            at,
            f"has {said!r}, which is no relation; write 'X -> Y', 'X -- Y', or a name with variables: chain(X, Y, Z)",
        )

    def _by_name(self, named: re.Match[str], at: int) -> Atom:
        name, terms = named["relation"], [one.strip() for one in named["variables"].split(",")]
        if name not in self._relations:
            hint = nearest(name, self._relations) or f"; there are {', '.join(self._relations)}"
            raise self.error(at, f"has the unknown relation {name!r}{hint}")
        odd = next((one for one in terms if not _VARIABLE.fullmatch(one)), None)
        if odd is not None:
            raise self.error(at, f"has {odd!r} for a variable in {named[0]!r}; variables are words such as X")
        return self._made(self._relations[name], terms, at)

    def _made(self, relation: Relation, terms: Iterable[str], at: int) -> Atom:
        try:
            return relation(*map(Variable, terms))
        except RuleError as error:
            raise self.error(at, f"is wrong: {error}") from error


def _spelling(relation: Relation) -> re.Pattern[str]:
    """Return how a relation between variables is printed, with blanks as they come."""
    met: set[str] = set()
    signs = []
    for number, piece in enumerate(_PLACE.split(relation.reads)):
        if number % 2:
            signs.append(f"(?P=v{piece})" if piece in met else rf"(?P<v{piece}>[^\W\d]\w*)")
            met.add(piece)
        else:
            signs.append(r"\s+".join(map(re.escape, piece.replace(" is ", " ").split(" "))))
    return re.compile("".join(signs))
