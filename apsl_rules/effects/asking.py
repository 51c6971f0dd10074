"""Questions: what to adjust for, how probable that is, and what decides it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import permutations
from typing import Any, Literal, TypeAlias, cast

import attrs

from apsl_rules.cycles import shortest_path
from apsl_rules.effects.adjustment import STRATEGIES, Adjusted, Adjustment, adjust, own_set, unknown_strategy
from apsl_rules.effects.figures import Figures
from apsl_rules.effects.orientations import Orientation, neighbourhood_of
from apsl_rules.effects.queries import Basis
from apsl_rules.effects.weighing import Weighing, weigh
from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.graphs import EndMark, Pag, hidden_adjustment
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.names import Node, in_order, listing, shown
from apsl_rules.notes import Note, argument
from apsl_rules.parts import Part

#: Whether the graphs on the columns near cause and target are weighed, or those that the drawn part leaves open are.
Graphs: TypeAlias = Literal["weighed", "drawn"]
#: How probable "none" is at least where nobody knows the hidden causes and the rows alone would put the cause first:
#: on real tables directions of that kind were right in six of ten cases.
UNDECIDED = 0.4
#: An effect is 0 for sure if the target is a cause of the cause with this probability, by a good V-structure.
SURE = 0.999
#: The rows speak against an order that was given if they would turn it round with this probability.
_AGAINST = 0.9
#: What is told with an effect of 0 that was worked out from rows.
MISSED = (
    "0 is no estimate: no arrow was found, and a weak effect may be missed; where you know of one, say that its arrow "
    "is required"
)


def is_weighable(part: Part, adjustment: Adjustment, graphs: Graphs) -> bool:
    """Return whether graphs are weighed: those of rows are, unless the drawn ones are asked for or needed."""
    return part.is_from_data and not part.allows_hidden and adjustment != "optimal" and graphs == "weighed"


@attrs.frozen
class Question:
    """An effect that is asked for: a part, a cause, a target, and what to adjust for in which graphs.

    ``basis`` says what decides which of the two comes first.
    """

    part: Part
    cause: Node
    target: Node
    adjust: str | tuple[Node, ...]
    adjusted: tuple[Adjusted, ...]
    basis: Basis = "graph"
    notes: tuple[str, ...] = ()

    @property
    def is_weighed(self) -> bool:
        """Return whether graphs were weighed."""
        return any(one.probability is not None for one in self.adjusted)


def is_whole_with_hidden(part: Part) -> bool:
    """Return whether a part has the whole graph, with hidden causes allowed."""
    return part.allows_hidden and part.depth == "max" and part.incomplete is None


def ask(part: Part, cause: Node, target: Node, adjustment: Adjustment) -> Question:
    """Work out what to adjust for under each orientation of the drawn edges at the cause."""
    held = _taken(adjustment)
    if held == "parents" and (past := _beside(part, cause)):
        return _of_set(part, cause, target, past, past)
    if is_whole_with_hidden(part):
        return ask_hidden(part, cause, target, held)
    if held == "earlier":
        return _of_set(part, cause, target, held, _earlier(part.knowledge, cause, target, part.nodes))
    found = adjust(part, neighbourhood_of(part, cause).orientations(), target, held)
    is_gap = any(one.no_effect is not None and target not in one.orientation.parents for one in found)
    notes = (MISSED,) if part.is_from_data and is_gap else ()
    return Question(part, cause, target, cast("str | tuple[Node, ...]", held), tuple(found), notes=notes)


def ask_weighed(
    part: Part, figures: Figures, cause: Node, target: Node, adjustment: Adjustment, *, randomised: bool = False
) -> Question:
    """Work out what to adjust for in all graphs that are possible near cause and target, and how probable each is.

    With an order given there is always an answer. A set of one's own, or all earlier columns, is the only one.
    """
    held = _taken(adjustment)
    if isinstance(held, str) and held not in STRATEGIES:
        raise unknown_strategy(held)
    if held == "parents":
        held = _beside(part, cause) or held
    known = part.knowledge
    if randomised:
        known = assigned(known, cause, figures.data.names)
    basis, first = _first(known, cause, target, randomised=randomised)
    if first is not None:
        none = Adjusted(Orientation(cause, (target,), ()), no_effect=first)
        return Question(part, cause, target, _named(held), (none,), basis)
    if held == "earlier":
        return _of_set(part, cause, target, held, _earlier(known, cause, target, figures.data.names))
    if not isinstance(held, str):
        own = own_set(figures.data.names, held, cause, target)
        _refuse_later(known, cause, own)
        _refuse_copies(own, figures.copies_of(cause, target))
        return _of_set(part, cause, target, own, own)
    found = weigh(figures, cause, target, known)
    notes = list(_notes(found))
    if basis != "rows" and not randomised:
        free = weigh(figures, cause, target, NOTHING)
        if free.reverse > _AGAINST:
            notes.append(_against(cause, target, free.reverse))
    elif basis == "rows" and (found.ahead or (found.behind and found.reverse >= SURE)):
        basis = "V-structure"
    is_possible = part.settings.get("hidden") == "possible"
    reverse = max(found.reverse, UNDECIDED) if is_possible and basis == "rows" else found.reverse
    adjusted = list(_adjusted(found, cause, target, reverse, basis))
    return Question(part, cause, target, "parents", tuple(adjusted), basis, tuple(notes))


def ask_hidden(part: Part, cause: Node, target: Node, adjustment: Adjustment) -> Question:
    """Work out what to adjust for where causes may be hidden: what holds in every graph of its class."""
    held = _taken(adjustment)
    own = None if isinstance(held, str) else own_set(part.nodes, held, cause, target)
    nodes = in_order({cause, target}.union(*part.edges))
    ends = {(x, y): cast("EndMark", str(part.end(x, y))) for pair in part.edges for x, y in permutations(pair)}
    found = hidden_adjustment(Pag(nodes, ends), cause, target, own)
    if found.no_effect:
        why = f"no graph that is left open has a path from {shown(cause)} to {shown(target)}, hidden causes included"
        return Question(part, cause, target, _named(held), (Adjusted(Orientation(cause, (), ()), no_effect=why),))
    if found.given is not None:
        adjusted = Adjusted(Orientation(cause, found.given, (target,)), found.given)
        return Question(part, cause, target, _named(held), (adjusted,))
    if found.doubtful:
        why = f"since {cause!r} may share a hidden cause with {listing(found.doubtful)}"
    elif own is not None:
        why = f"since {listing(own)} does not close every other path between the two, or takes part of the effect away"
    else:
        why = "since no columns of the table close every other path between the two"
    message = (
        f"the effect of {cause!r} on {target!r} is not determined, {why}; a column that moves {cause!r} and nothing "
        f"else (a lottery, a season) would help, as an earlier tier"
    )
    raise GraphError(message)


def _adjusted(found: Weighing, cause: Node, target: Node, reverse: float, basis: Basis) -> Iterable[Adjusted]:
    if reverse > 0:
        why = f"{shown(target)} being a cause of {shown(cause)}"
        yield Adjusted(Orientation(cause, (target,), ()), no_effect=why, probability=reverse)
    if found.reverse >= SURE and found.behind and basis == "V-structure":
        return
    for one in found.sets:
        share = one.probability * (1 - reverse)
        yield Adjusted(Orientation(cause, one.parents, ()), one.parents, probability=share)


def _notes(found: Weighing) -> Iterable[str]:
    if found.left_out:
        lack = "lacks" if len(found.left_out) == 1 else "lack"
        yield f"{listing(found.left_out)} {lack} more than a fifth of the values and cannot be adjusted for"
    if found.copies:
        yield (
            f"{listing(found.copies)} cannot be adjusted for: by definition {_it(found.copies, 'says')} what the cause "
            "or the target says"
        )


def _against(cause: Node, target: Node, share: float) -> Note:
    told = (
        f"the rows speak against what was given: by them alone {shown(target)} would be a cause of {shown(cause)} "
        f"({100 * min(share, 0.999):.3g} %)"
    )
    advice = f"{told}; a hidden common cause, selection or a curved relation would explain that"
    return Note(advice, "against given", "warning", columns=[cause, target])


def _of_set(part: Part, cause: Node, target: Node, asked: Any, given: tuple[Node, ...]) -> Question:
    adjusted = Adjusted(Orientation(cause, given, (target,)), given)
    return Question(part, cause, target, _named(asked), (adjusted,), "given")


def _named(held: Any) -> str | tuple[Node, ...]:
    return held if isinstance(held, str) else tuple(held)


def _beside(part: Part, cause: Node) -> tuple[Node, ...]:
    """Return what stands for the parents of a column of an earlier step: all others of that step and before it.

    What came before them all is not in the table.
    """
    past = part.earlier
    if cause not in past:
        return ()
    return in_order(node for node, (_, lag) in past.items() if node != cause and lag >= past[cause][1])


def _taken(adjustment: Any) -> Any:
    """Take a list of one's own once, since it may be read only once."""
    return tuple(adjustment) if hasattr(adjustment, "__iter__") and not isinstance(adjustment, str) else adjustment


# --- what is given ---------------------------------------------------------------------------------------------------


def assigned(known: Knowledge, cause: Node, names: Iterable[Node]) -> Knowledge:
    """Return knowledge with a cause that was assigned by chance: nothing in the table causes it."""
    into = {(node, cause) for node in names if node != cause}
    clash = [tail for tail, head in known.required if head == cause]
    if clash:
        message = (
            f"{cause!r} is said to be assigned by chance, and {clash[0]!r} -> {cause!r} to be required; take one back"
        )
        raise InvalidArgumentError(message)
    return attrs.evolve(known, forbidden={*known.forbidden, *into})


def _first(known: Knowledge, cause: Node, target: Node, *, randomised: bool) -> tuple[Basis, str | None]:
    """Return what decides which of the two comes first, and why there is no effect if that is the target."""
    if randomised:
        return "assigned", None
    if shortest_path(cause, target, known.required):
        return "given", None
    if shortest_path(target, cause, known.required):
        return "given", f"it was given that {shown(target)} is a cause of {shown(cause)}"
    forth, back = known.why_barred(cause, target), known.why_barred(target, cause)
    if forth:  # an order, and not one forbidden arrow, past which an effect may go through others
        basis: Basis = "names" if forth.startswith("assumed") else "given"
        return basis, forth if basis == "names" else f"it was given that {shown(target)} comes first: {forth}"
    if back is None:
        return "rows", None
    return "names" if back.startswith("assumed") else "given", None


def _earlier(known: Knowledge, cause: Node, target: Node, names: Iterable[Node]) -> tuple[Node, ...]:
    """Return the columns of the tiers before that of the cause."""
    tier = known.tier_of(cause)
    if tier is None:
        order = argument(
            "knowledge",
            {"tiers": [[cause], [target]]},
            python=f"knowledge=Knowledge(tiers=[[{cause!r}], [{target!r}], ...])",
        )
        message = (
            f"{argument('adjust', 'earlier')} holds what comes before {cause!r}, which is in no tier; give the order "
            "with "
            f"{order}"
        )
        raise InvalidArgumentError(message, argument="adjust")
    places = {node: known.tier_of(node) for node in names}
    return in_order(node for node, place in places.items() if place is not None and place < tier)


def _refuse_later(known: Knowledge, cause: Node, own: Sequence[Node]) -> None:
    """Refuse to hold columns that were given as later than the cause."""
    tier = known.tier_of(cause)
    late = [node for node in own if tier is not None and (known.tier_of(node) or tier) > tier]
    late += [node for node in own if node not in late and shortest_path(cause, node, known.required)]
    if late:
        lies, them = ("it was", "it") if len(late) == 1 else ("they were", "them")
        message = (
            f"adjusting for {listing(late)} is wrong: {lies} given as later than {cause!r}, so part of the effect may "
            f"be taken away; leave {them} out"
        )
        raise InvalidArgumentError(message)


def _refuse_copies(own: Sequence[Node], copies: Collection[Node]) -> None:
    """Refuse to hold columns that are made from the cause or the target, or that these are made from."""
    held = [node for node in own if node in copies]
    if held:
        message = (
            f"adjusting for {listing(held)} is wrong: by definition {_it(held, 'says')} what the cause or the target "
            f"says, so the effect would be taken away; leave {'it' if len(held) == 1 else 'them'} out, or insist with "
            f"{argument('keep', held)}"
        )
        raise InvalidArgumentError(message)


def _it(nodes: Sequence[Node], verb: str) -> str:
    return f"it {verb}" if len(nodes) == 1 else f"they {verb.removesuffix('s')}"
