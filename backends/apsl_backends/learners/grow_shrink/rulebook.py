"""The published rules of Grow-Shrink: colliders, and an undirected edge along a directed path follows the path.

They are sound but not complete: unlike Meek's rules, they do not orient T - C in P -> T <- Q, T - C.
"""

from __future__ import annotations

from apsl_rules.rules import RELATIONS, STEP_2, Relation, Rule, Rulebook, X, Y, Z, adjacent, arrow

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
