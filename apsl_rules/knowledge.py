"""Background knowledge: required and forbidden arrows, tiers and pairs apart, in Python and in TOML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from apsl_rules._documents import DocumentError, file_text, node_of, toml_data
from apsl_rules.answers import Answer, answer_of, answer_text, spelt_label
from apsl_rules.cycles import cyclic_groups, shortest_path
from apsl_rules.errors import InvalidArgumentError, KnowledgeError, PartFileError
from apsl_rules.names import (
    Node,
    Pair,
    check_labels,
    in_order,
    is_number,
    nearest,
    order_key,
    require_known,
    shown,
    spelt,
)

Arrow: TypeAlias = tuple[Node, Node]
Groups: TypeAlias = Iterable[Iterable[Node]]


def _listed(value: Any, what: str, of: str) -> list[Any]:
    """Take a list of something, and no text, which would fall into its letters."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        message = f"{what} is {spelt(value)}; give a list of {of}"
        raise KnowledgeError(message)
    return list(value)


def _nodes(value: Any, what: str) -> list[Node]:
    """Take a list of nodes, which can be looked up."""
    nodes = _listed(value, what, "nodes")
    for node in nodes:
        try:
            hash(node)
        except TypeError as error:
            message = f"{what} names {spelt(node)}, which is no node; give text, numbers, tuples or other hashables"
            raise KnowledgeError(message) from error
    check_labels(nodes)
    return nodes


def _pairs(value: Any, what: str) -> set[Arrow]:
    """Take pairs of different nodes."""
    pairs: set[Arrow] = set()
    for one in _listed(value, what, "pairs of nodes, such as [('a', 'b')]"):
        if isinstance(one, set | frozenset) and what != "apart":
            message = f"an entry of {what} is the set {one!r}, which has no order; give a pair, such as ('a', 'b')"
            raise KnowledgeError(message)
        pair = _nodes(one, f"an entry of {what}")
        if len(pair) != 2 or pair[0] == pair[1]:  # noqa: PLR2004 - a pair
            message = f"an entry of {what} is {spelt(one)}; give two different nodes, such as ('a', 'b')"
            raise KnowledgeError(message)
        pairs.add((pair[0], pair[1]))
    return pairs


def _by_name(pairs: Iterable[Arrow]) -> tuple[Arrow, ...]:
    return tuple(sorted(pairs, key=lambda pair: (order_key(pair[0]), order_key(pair[1]))))


def _required(value: Groups) -> tuple[Arrow, ...]:
    return _by_name(_pairs(value, "required"))


def _forbidden(value: Groups) -> tuple[Arrow, ...]:
    return _by_name(_pairs(value, "forbidden"))


def _apart(value: Groups) -> tuple[Arrow, ...]:
    """Take pairs whose order means nothing."""
    ordered = (in_order(pair) for pair in _pairs(value, "apart"))
    return _by_name({(x, y) for x, y in ordered})


def _apart_within(value: Iterable[int]) -> tuple[int, ...]:
    numbers = _listed(value, "apart_within", "numbers of tiers")
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            message = f"apart_within names {spelt(number)}; give the numbers of tiers, from 1 on"
            raise KnowledgeError(message)
    return tuple(sorted(set(numbers)))


def _assumed(value: Iterable[tuple[Node, str]]) -> tuple[tuple[Node, str], ...]:
    return tuple(value)


def _stages(value: Groups) -> tuple[Arrow, ...]:
    return _by_name(_pairs(value, "stages"))


def _tiers(value: Groups) -> tuple[tuple[Node, ...], ...]:
    """Take lists of nodes, each node in one list only."""
    tiers = _listed(value, "tiers", "tiers, each a list of nodes")
    taken = []
    tier_of: dict[Node, int] = {}
    for number, tier in enumerate(tiers, start=1):
        nodes = _nodes(tier, f"tier {number}")
        for node in nodes:
            if tier_of.setdefault(node, number) != number:
                message = f"{node!r} is in tier {tier_of[node]} and in tier {number}; put it in one tier only"
                raise KnowledgeError(message)
        taken.append(in_order(set(nodes)))
    return tuple(taken)


#: Why a column that is constant in groups comes first: what varies inside a group cannot cause it.
SAME_IN_GROUP = "it is the same in all rows of a group"
#: How a reason begins that rests on names alone.
_ASSUMED = "assumed:"


def _answers(value: Any) -> tuple[Answer, ...]:
    return tuple(value)


def _likely(value: Any) -> tuple[tuple[Node, Node, float], ...]:
    """Take opinions on arrows: a mapping of each to how sure somebody is, or triples (from, to, share)."""
    rows = [(*way, share) for way, share in value.items()] if isinstance(value, Mapping) else value
    found: dict[Arrow, float] = {}
    for one in _listed(rows, "likely", "arrows with their shares, such as {('a', 'b'): 0.7}"):
        share = one[-1] if isinstance(one, list | tuple) and len(one) == 3 else None  # noqa: PLR2004 - from, to, share
        if not is_number(share) or not 0 < share < 1:
            message = f"an entry of likely is {spelt(one)}; give an arrow and a share, such as {{('a', 'b'): 0.7}}"
            raise KnowledgeError(message)
        (way,) = _pairs([one[:2]], "likely")
        if way[::-1] in found:
            message = f"likely names {way[0]!r} and {way[1]!r} twice; say once how sure you are"
            raise KnowledgeError(message)
        found[way] = float(share)
    return tuple((*way, found[way]) for way in _by_name(found))


@attrs.frozen(slots=False)
class Knowledge:
    """What is known of the arrows before any test; checked to fit together when it is made.

    ``required`` and ``forbidden`` are arrows (from, to), ``apart`` pairs that are not adjacent, ``tiers`` lists of
    nodes, earliest first; ``apart_within`` numbers the tiers, from 1 on, inside which no two nodes are adjacent.
    Arrows forbidden both ways mean that the two are apart.

    Nodes in no tier cause none of the first tier; otherwise they stand outside the order. A tier may name nodes by a
    pattern, such as "occ*", and "*" is the place of all other nodes; ``resolved`` puts nodes in their place.
    Any of them may be named by a pattern in pairs, too.
    ``assumed`` has the nodes that nothing else causes because of their names, each with the reason, and ``stages`` has
    pairs (earlier, later) of nodes that are numbered by year.

    ``answers`` are those of people to questions; they are laid over what is learned. ``likely`` says how sure somebody,
    ``by`` name, is of an arrow, if there is an edge.
    """

    required: tuple[Arrow, ...] = attrs.field(default=(), converter=_required)
    forbidden: tuple[Arrow, ...] = attrs.field(default=(), converter=_forbidden)
    tiers: tuple[tuple[Node, ...], ...] = attrs.field(default=(), converter=_tiers)
    apart: tuple[Arrow, ...] = attrs.field(default=(), converter=_apart)
    apart_within: tuple[int, ...] = attrs.field(default=(), converter=_apart_within)
    assumed: tuple[tuple[Node, str], ...] = attrs.field(default=(), converter=_assumed)
    stages: tuple[Arrow, ...] = attrs.field(default=(), converter=_stages)
    answers: tuple[Answer, ...] = attrs.field(default=(), converter=_answers)
    likely: tuple[tuple[Node, Node, float], ...] = attrs.field(default=(), converter=_likely)
    by: str = ""

    def __attrs_post_init__(self) -> None:
        for number in self.apart_within:
            if not 1 <= number <= len(self.tiers):
                last = len(self.tiers)
                message = f"apart_within names tier {spelt(number)}, but the tiers are numbered from 1 to {last}"
                raise KnowledgeError(message)
        for tail, head in self.required:
            barred, apart = self.why_barred(tail, head), self.why_apart(tail, head)
            if apart is not None:
                said = f"{tail!r} -> {head!r} is required, but the two are said to be apart{_because(apart)}"
                message = f"{said}; take one of the two back"
                raise KnowledgeError(message)
            if barred is not None:
                said = f"{tail!r} -> {head!r} is both required and forbidden{_because(barred)}"
                message = f"{said}; take one of the two back"
                raise KnowledgeError(message)
        for group in cyclic_groups(self.required) if self.required else ():
            first = in_order(group)[0]
            back = next(tail for tail, head in self.required if head == first and tail in group)
            circle = [first, *(head for _, head in shortest_path(first, back, self.required)), first]
            message = f"the required arrows go in a circle: {' -> '.join(map(repr, circle))}; take one of them back"
            raise KnowledgeError(message)

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden or self.apart or self.tiers or self.assumed or self.stages)

    # --- what it says of a node and of a pair ------------------------------------------------------------------------

    def tier_of(self, node: Node) -> int | None:
        """Return the number of the tier that has a node, from 1 on; None if none has it."""
        return self._tier.get(node)

    def why_barred(self, tail: Node, head: Node) -> str | None:
        """Say why no arrow goes from one node to another: in words for tiers, "" if told outright, None if it may."""
        if (tail, head) in self._forbidden:
            return ""
        if head in self._assumed and tail not in self._assumed and self._tier.get(tail) != 1:
            same = f"{shown(head)} is the same in all rows of a group, and {shown(tail)} is not"
            named = f"{_ASSUMED} nothing in a table causes a column of this name, since {self._assumed[head]}"
            return same if self._assumed[head] == SAME_IN_GROUP else named
        if (head, tail) in self._stages:
            return f"{_ASSUMED} by their names {shown(head)} comes before {shown(tail)}"
        early, late = self._tier.get(head), self._tier.get(tail)
        if late is None and early == 1 and not any(_fits(tail, one) for one in self._patterns):
            return f"{shown(head)} is in tier 1, and {shown(tail)} in none"
        if early is None or late is None or late <= early:
            return None
        return f"{shown(tail)} is in tier {late} and {shown(head)} in tier {early}"

    def is_assumed(self, tail: Node, head: Node) -> bool:
        """Return whether names alone say that no arrow goes from one node to another."""
        return (self.why_barred(tail, head) or "").startswith(_ASSUMED)

    def why_apart(self, x: Node, y: Node, *, hidden: bool = False) -> str | None:
        """Say why two nodes are not adjacent, in words or "" if told outright; None if they may be.

        Where both directions are forbidden they are not, unless causes may be ``hidden``: effects of one may be.
        """
        if not self:
            return None
        if frozenset((x, y)) in self._apart:
            return ""
        tier = self._tier.get(x)
        if tier in self.apart_within and self._tier.get(y) == tier:
            return f"both are in tier {tier}"
        if not hidden and self.why_barred(x, y) is not None and self.why_barred(y, x) is not None:
            return "both directions are forbidden"
        return None

    def requires(self, x: Node, y: Node) -> bool:
        """Return whether an arrow between two nodes is required, in either direction."""
        return bool(self.required) and any(y in pair for pair in self.required_at(x))

    def required_at(self, node: Node) -> tuple[Arrow, ...]:
        """Return the required arrows from and to a node."""
        return self._required_at.get(node, ())

    def apart_from(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that are not adjacent to a node, by name."""
        told = {other for pair in self._apart if node in pair for other in pair}
        tier = self._tier.get(node)
        within = self.tiers[tier - 1] if tier is not None and tier in self.apart_within else ()
        barred = {tail if head == node else head for tail, head in self.forbidden if node in (tail, head)}
        both_ways = (other for other in barred if self.why_apart(node, other) is not None)
        return in_order({*told, *within, *both_ways} - {node})

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes and patterns that are named, in the order in which they are."""
        pairs = (*self.required, *self.forbidden, *self.apart, *self.tiers)
        return tuple(dict.fromkeys(node for pair in pairs for node in pair))

    def after(self, first: Collection[Node], nodes: Collection[Node], *, apart: bool = True) -> Knowledge:
        """Return what it says of nodes once others come before all of them, which no edges join if they are ``apart``.

        What is in no tier still causes nothing of what was the first one.
        """
        tiers = [[node for node in tier if node not in first] for tier in self.tiers]
        placed = {node for tier in tiers for node in tier}
        outside = [node for node in nodes if node not in placed and node not in first] if tiers else []
        barred = [(late, early) for late in outside for early in tiers[0]] if tiers else []
        within = (*((1,) if apart else ()), *(number + 1 for number in self.apart_within))
        forbidden = (*self.forbidden, *barred)
        return attrs.evolve(self, tiers=(in_order(first), *tiers), apart_within=within, forbidden=forbidden)

    def resolved(self, nodes: Collection[Node], aside: Collection[Node] = ()) -> Knowledge:
        """Return what it says of the nodes at hand; columns set ``aside`` are left out, and patterns filled in.

        A node that a tier names stands there, whatever patterns of other tiers it fits; "*" takes those that are left.
        Any other name is refused.
        """
        known = frozenset(nodes)
        left = frozenset(aside) - known
        said = self._said_of(known, left)
        if not self:
            return attrs.evolve(self, **said)
        named = {node for node in self.nodes if node in known}
        for node in self.nodes:
            if node not in known and node not in left and node not in self._patterns:
                require_known(node, known, "node in the knowledge")
        taken = {node for tier in self.tiers for node in tier if node in named}
        tiers = [[node for node in tier if node in known] for tier in self.tiers]
        for pattern_is_rest in (False, True):
            for place, tier in enumerate(self.tiers):
                for pattern in tier:
                    if pattern not in known and pattern not in left and (pattern == "*") is pattern_is_rest:
                        fitting = [node for node in in_order(known - taken) if _fits(node, pattern)]
                        if not fitting and not pattern_is_rest:
                            require_known(pattern, known, "node in the knowledge")
                        tiers[place] += fitting
                        taken.update(fitting)
        pairs: dict[str, Any] = {
            name: [one for pair in getattr(self, name) if left.isdisjoint(pair) for one in _filled(pair, known)]
            for name in ("required", "forbidden", "apart")
        }
        assumed = [(node, why) for node, why in self.assumed if node in known]
        stages = [pair for pair in self.stages if known.issuperset(pair)]
        return attrs.evolve(self, **pairs, tiers=tiers, assumed=assumed, stages=stages, **said)

    def _said_of(self, known: Collection[Node], left: frozenset[Node]) -> dict[str, Any]:
        """Return what answers and opinions say of the nodes at hand; columns set aside are left out."""
        spoken = [*(one.nodes for one in self.answers), *(way[:2] for way in self.likely)]
        for node in (node for one in spoken for node in one):
            if node not in left:
                require_known(node, known, "node in the knowledge")
        answers = (one.without(left) for one in self.answers if one.target not in left)
        return {"answers": answers, "likely": [way for way in self.likely if left.isdisjoint(way[:2])]}

    @cached_property
    def _patterns(self) -> frozenset[Node]:
        """Return the names that may stand for several nodes."""
        named = (node for group in (*self.tiers, *self.required, *self.forbidden, *self.apart) for node in group)
        return frozenset(node for node in named if isinstance(node, str) and not {"*", "?"}.isdisjoint(node))

    @cached_property
    def _tier(self) -> dict[Node, int]:
        return {node: number for number, tier in enumerate(self.tiers, start=1) for node in tier}

    @cached_property
    def _assumed(self) -> dict[Node, str]:
        return dict(self.assumed)

    @cached_property
    def _stages(self) -> frozenset[Arrow]:
        return frozenset(self.stages)

    @cached_property
    def _forbidden(self) -> frozenset[Arrow]:
        return frozenset(self.forbidden)

    @cached_property
    def _apart(self) -> frozenset[Pair]:
        return frozenset(frozenset(pair) for pair in self.apart)

    @cached_property
    def _required_at(self) -> dict[Node, tuple[Arrow, ...]]:
        nodes = {node for pair in self.required for node in pair}
        return {node: tuple(pair for pair in self.required if node in pair) for node in nodes}

    # --- files -------------------------------------------------------------------------------------------------------

    @staticmethod
    def read(path: str | Path) -> Knowledge:
        """Read knowledge from a TOML file."""
        return read_knowledge(path)

    def to_toml(self) -> str:
        """Return the knowledge as TOML text that ``read`` understands."""
        return knowledge_text(self)

    def write(self, path: str | Path) -> None:
        """Write the knowledge to a TOML file, whole or not at all."""
        from apsl_rules._files import write_text

        write_text(path, self.to_toml())


def _filled(pair: Arrow, known: frozenset[Node]) -> Iterator[Arrow]:
    """Yield the pairs of different nodes that two names or patterns stand for; a pattern that fits none is refused."""
    ends = []
    for name in pair:
        fitting = [name] if name in known else [node for node in in_order(known) if _fits(node, name)]
        if not fitting:
            require_known(name, known, "node in the knowledge")
        ends.append(fitting)
    yield from ((one, other) for one in ends[0] for other in ends[1] if one != other)


def _fits(node: Node, pattern: Node) -> bool:
    return isinstance(node, str) and isinstance(pattern, str) and fnmatchcase(node, pattern)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


#: No knowledge at all.
NOTHING = Knowledge()

#: The fields that name nodes, in lists of pairs or tiers.
NAMED = ("required", "forbidden", "tiers", "apart")


_KEYS = (*NAMED, "apart_within")
_FURTHER = ("answers", "likely", "by")


def read_knowledge(path: str | Path) -> Knowledge:
    """Read knowledge from a TOML file."""
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"the knowledge file {str(path)!r} cannot be read: {error}"
        raise KnowledgeError(message) from error
    return parse_knowledge(text, f"the knowledge file {str(path)!r}")


def parse_knowledge(text: str, origin: str) -> Knowledge:
    r"""Read knowledge from TOML text; ``origin`` names it in errors. A file of settings has it as a table of this name.

    >>> parse_knowledge('depth = 2\n[knowledge]\nforbidden = [["a", "b"]]', "a study").forbidden
    (('a', 'b'),)
    """
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise KnowledgeError(message) from error
    if isinstance(data.get("knowledge"), dict):
        data = data["knowledge"]
    for key in data:
        if key not in (*_KEYS, *_FURTHER):
            known = (*_KEYS, *_FURTHER)
            message = f"{origin} has the unknown key {key!r}{nearest(key, known)}; known are {', '.join(known)}"
            raise KnowledgeError(message)
    try:
        named: dict[str, Any] = {key: _node_lists(value, key) for key, value in data.items() if key in NAMED}
        further = {key: data[key] for key in ("apart_within", "by") if key in data}
        likely = [[*map(node_of, one[:2]), *one[2:]] for one in data.get("likely", ())]
        return Knowledge(**named, **further, likely=likely, answers=map(answer_of, data.get("answers", ())))
    except (KnowledgeError, PartFileError, InvalidArgumentError, TypeError) as error:
        message = f"{origin}: {error}"
        raise KnowledgeError(message) from error


def _node_lists(value: Any, key: str) -> list[list[Node]]:
    """Return the labels in a list of lists."""
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        message = f"{key} is {value!r}; give a list of lists, such as [['a', 'b']]"
        raise KnowledgeError(message)
    return [[node_of(one) for one in entry] for entry in value]


def knowledge_text(knowledge: Knowledge) -> str:
    """Return knowledge as TOML text, without the keys that have nothing to say."""
    lines = [f"{key} = [{', '.join(map(_value, getattr(knowledge, key)))}]" for key in _KEYS if getattr(knowledge, key)]
    if knowledge.likely:
        told = (f"{_value(way[:2])[:-1]}, {way[2]!r}]" for way in knowledge.likely)
        lines.append(f"likely = [{', '.join(told)}]")
    lines += [f"by = {spelt_label(knowledge.by)}"] if knowledge.by else []
    return "".join(f"{line}\n" for line in (*lines, *map(answer_text, knowledge.answers)))


def _value(entry: int | tuple[Node, ...]) -> str:
    if isinstance(entry, int):
        return str(entry)
    return f"[{', '.join(spelt_label(node) for node in entry)}]"


def load_knowledge(knowledge: object) -> Knowledge:
    """Return background knowledge, read from its file where a path was given."""
    if isinstance(knowledge, str | Path):
        return Knowledge.read(knowledge)
    if knowledge is None:
        return NOTHING
    if not isinstance(knowledge, Knowledge):
        raise KnowledgeError(
            argument="knowledge",
            value=knowledge,
            advice="give Knowledge(required=[...], ...) or the path of a TOML file",
        )
    return knowledge
