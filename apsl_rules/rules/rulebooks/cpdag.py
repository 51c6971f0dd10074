"""The sound rules that turn findings into the arrows of a CPDAG.

A V-structure is a pair of unconnected nodes pointing at a third::

    A -> B <- C        A and C not adjacent

Findings tell them (``spouse`` when seen from an end, which is Step 1 of the paper; ``collider`` when seen from the
middle, Step 2), and tell the opposite too: ``chain(X, Y, Z)`` says that X and Z are apart and Y is *not* a collider
between them. Meek's rules (1995) then orient what any other direction would make a new V-structure or a cycle.

Background knowledge brings arrows that no V-structure led to, so ``KNOWING`` has Meek's fourth rule too, and a rule for
edges that may not point one way.

All premises are positive facts: "not adjacent" is never read off a missing edge, since an edge may be missing merely
because nobody looked.

>>> [rule.name for rule in SOUND.rules]
['V-from-spouse', 'V-from-middle', 'Meek-R1', 'Meek-R2', 'Meek-R3']
"""

from __future__ import annotations

import attrs

from apsl_rules.errors import KnowledgeError
from apsl_rules.rules.vocabulary import (
    RELATIONS,
    Rule,
    Rulebook,
    Variable,
    adjacent,
    arrow,
    barred,
    chain,
    collider,
    spouse,
)

A, B, C, D, W, X, Y, Z = (Variable(name) for name in "ABCDWXYZ")

STEP_1 = Rule(
    "V-from-spouse", "Step 1: spouses point at their child", when=[spouse(A, B, C)], then=[arrow(A, B), arrow(C, B)]
)
STEP_2 = Rule(
    "V-from-middle", "Step 2: A opens a separated pair", when=[collider(X, A, Y)], then=[arrow(X, A), arrow(Y, A)]
)

R1 = Rule("Meek-R1", "no new V-structure", when=[arrow(X, Y), adjacent(Y, Z), chain(X, Y, Z)], then=[arrow(Y, Z)])
R2 = Rule("Meek-R2", "preserve acyclicity", when=[arrow(X, Y), arrow(Y, Z), adjacent(X, Z)], then=[arrow(X, Z)])
R3 = Rule(
    "Meek-R3",
    "the other direction would force Z and W into a new V-structure at X",
    when=[arrow(Z, Y), arrow(W, Y), adjacent(X, Y), adjacent(X, Z), adjacent(X, W), chain(Z, X, W)],
    then=[arrow(X, Y)],
)
R4 = Rule(
    "Meek-R4",
    "the other direction would force a directed cycle, through D and C",
    when=[arrow(D, C), arrow(C, B), adjacent(A, B), adjacent(A, C), adjacent(A, D), chain(B, A, D)],
    then=[arrow(A, B)],
)
BARRED = Rule(
    "Given-direction",
    "an edge that may not point one way points the other",
    when=[barred(A, B), adjacent(A, B)],
    then=[arrow(B, A)],
)

SOUND = Rulebook("sound", (STEP_1, STEP_2, R1, R2, R3))
KNOWING = SOUND.with_rules(R4, BARRED, name="knowing")
#: The rules where hidden causes are possible: nothing but what is given orients an edge.
POSSIBLE = Rulebook("possible", (BARRED,), relations=KNOWING.relations, further=())


def knowing(rulebook: Rulebook) -> Rulebook:
    """Return a rulebook for background knowledge, with the further rules that it names for that.

    Where it names none, these are Meek's fourth rule, and that of edges that may not point one way.
    """
    if not rulebook.positive:
        message = (
            f"the rulebook {rulebook.name!r} reads gaps off missing edges and cannot use background knowledge; "
            f"use {SOUND.name!r}"
        )
        raise KnowledgeError(message)
    names = {rule.name for rule in rulebook.rules}
    wanted = (R4, BARRED) if rulebook.further is None else rulebook.further
    further = [rule for rule in wanted if rule.name not in names]
    spoken = (*RELATIONS, *(atom.relation for rule in further for atom in (*rule.when, *rule.then)))
    relations = tuple(dict.fromkeys((*rulebook.relations, *spoken)))
    return attrs.evolve(rulebook, relations=relations).with_rules(*further)
