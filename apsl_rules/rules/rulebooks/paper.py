"""The rules as Algorithm 1 of the paper has them: guards read "not adjacent" off edges that are not drawn.

An edge may be missing merely because nobody looked, so these rules are order-dependent and sometimes wrong.
"""

from __future__ import annotations

from apsl_rules.rules.rulebooks.cpdag import STEP_1, STEP_2, W, X, Y, Z
from apsl_rules.rules.vocabulary import Atom, Rule, Rulebook, Variable, adjacent, arrow


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
