"""The rulebooks of published algorithms.

``PAPER`` has the rules of Algorithm 1 of the APSL paper: guards read "not adjacent" off edges that are not drawn. An
edge may be missing merely because nobody looked, so these rules are order-dependent and sometimes wrong. ``PATHS`` has
those of Margaritis and Thrun: a line along a path of arrows takes its direction.
"""

from __future__ import annotations

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
