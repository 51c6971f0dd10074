"""The plugin of the published algorithms: learners, blanket finders and rulebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib.resources import files

from apsl_published.best_graphs import GgslFindings, S2tmb, SllFindings
from apsl_published.climbing import MmhcFindings
from apsl_published.grow_shrink import GrowShrink, GrowShrinkFindings
from apsl_published.visits import FindingsInPairs, PublishedFindings, by_layers, by_queue
from apsl_rules.plugins import BlanketOffer, Context, Findings, LearnerOffer, Spec, hookimpl, read_specs
from apsl_rules.rules import (
    RELATIONS,
    STEP_1,
    STEP_2,
    Atom,
    Relation,
    Rule,
    Rulebook,
    Variable,
    W,
    X,
    Y,
    Z,
    adjacent,
    arrow,
)


def _open(first: Variable, second: Variable) -> list[Atom]:
    """Guard that an edge carries no arrow yet: the literal meaning of "undirected"."""
    return [arrow(first, second), arrow(second, first)]


def _unseen(first: Variable, second: Variable) -> list[Atom]:
    """Guard that no edge has been drawn: the literal, unsafe meaning of "not adjacent"."""
    return [adjacent(first, second), *_open(first, second)]


R1_LITERAL = Rule(
    "Meek-R1",
    "no new V-structure, taking an edge not drawn for no edge",
    when=[arrow(X, Y), adjacent(Y, Z)],
    unless=[*_open(Y, Z), *_unseen(X, Z)],
    then=[arrow(Y, Z)],
)
R2_LITERAL = Rule(
    "Meek-R2",
    "preserve acyclicity",
    when=[arrow(X, Y), arrow(Y, Z), adjacent(X, Z)],
    unless=_open(X, Z),
    then=[arrow(X, Z)],
)
R3_LITERAL = Rule(
    "Meek-R3",
    "3-fork V-structure, taking an edge not drawn for no edge",
    when=[arrow(Z, Y), arrow(W, Y), adjacent(X, Y), adjacent(X, Z), adjacent(X, W)],
    unless=[*_open(X, Y), *_open(X, Z), *_open(X, W), *_unseen(Z, W)],
    then=[arrow(X, Y)],
)

PAPER = Rulebook("paper", (STEP_1, STEP_2, R1_LITERAL, R2_LITERAL, R3_LITERAL))

path = Relation("path", 2, "arrows lead from {0} to {1}")

PATHS = Rulebook(
    "paths",
    (
        STEP_2,
        Rule("Path-begin", "an arrow is a path", when=[arrow(X, Y)], then=[path(X, Y)]),
        Rule("Path-on", "a path goes on with an arrow", when=[path(X, Y), arrow(Y, Z)], then=[path(X, Z)]),
        Rule("Path-line", "no cycle along a path", when=[path(X, Y), adjacent(X, Y)], then=[arrow(X, Y)]),
    ),
    (*RELATIONS, path),
)


_BY_KIND: dict[str, Callable[[Context], Findings]] = {
    "lines": PublishedFindings,
    "layers": PublishedFindings,
    "queue": FindingsInPairs,
    "gs": GrowShrinkFindings,
    "mmhc": MmhcFindings,
    "sll": SllFindings,
    "ggsl": GgslFindings,
}
_BY_VISITS = ("local", "lines", "layers", "queue")
_FRONTIERS = {"layers": by_layers, "queue": by_queue}
#: What ``compare`` lays beside the default where nobody names learners.
_RIVALS = ("pcd-by-pcd", "cmb")


def _offer_of(spec: Spec) -> LearnerOffer:
    """Return the learner that a spec describes, with the code of its kind."""
    return LearnerOffer(
        spec,
        _BY_KIND.get(spec.kind),
        honours_knowledge=spec.kind in _BY_VISITS,
        needs=frozenset() if spec.kind in (*_BY_VISITS, "gs") else frozenset({"counts"}),
        frontier=_FRONTIERS.get(spec.kind),
        rival=spec.name in _RIVALS,
    )


@hookimpl
def apsl_learners() -> Iterable[LearnerOffer]:
    """Offer a learner for each spec file."""
    return [_offer_of(spec) for spec in read_specs(files("apsl_published") / "learners")]


@hookimpl
def apsl_blankets() -> Iterable[BlanketOffer]:
    """Offer the finders of Markov blankets."""
    return [
        BlanketOffer("gs", "GSMB: grow by dependence, shrink by independence", GrowShrink),
        BlanketOffer("s2tmb", "S²TMB: best graphs over small sets, for tables only", S2tmb),
        BlanketOffer("s2tmb+", "S²TMB+: the same, spouses gathered first", partial(S2tmb, spouses="afterwards")),
    ]


@hookimpl
def apsl_rulebooks() -> Iterable[Rulebook]:
    """Offer the rulebooks."""
    return [PAPER, PATHS]
