r"""The rules that turn findings into the marks of a PAG: what can be known although common causes may be hidden.

Some causes may be missing from a table. What independences can tell then is a partial ancestral graph (PAG). Each end
of an edge has a mark of its own::

    A --> B    A is a cause of B
    A <-> B    neither is a cause of the other: they share a hidden cause
    A o-> B    B is no cause of A; A may be a cause of B, or they share a hidden cause
    A o-o B    nothing is known

A tail says "is a cause", an arrowhead "is no cause", a circle that nothing is proved. No rows are selected by what they
hold, so an edge never has two tails. The relations are ``arrow(A, B)``, both ends of A --> B, and ``head(B, A)``, the
arrowhead at B alone, read as ``A *-> B``: the star stands for any mark.

The rules are those of FCI (Spirtes et al. 1999; Zhang 2008, whose numbers they have), written such that all premises
are positive facts. So they are sound on any subset of the findings, and their order does not matter. A circle is never
read: "nothing is proved so far" is no premise.

**Colliders and chains.** ``collider(X, Y, Z)`` and ``chain(X, Y, Z)`` say of a node between two nodes that are not
adjacent whether it is outside or inside the sets that separate them::

    R0    X *-* Y *-* Z,  Y a collider       =>   X *-> Y <-* Z
    R1    A *-> B o-* C,  B no collider      =>   B --> C

**No cycles.** A cause of a cause is a cause, and no node is a cause of its own cause::

    R2    A --> B *-> C   or   A *-> B --> C,   A *-o C    =>   A *-> C
    R8    A --> B --> C,  A o-> C                          =>   A --> C

    R3    A *-> B <-* C,  A *-o D o-* C,  D no collider between A and C,  D *-o B     =>   D *-> B

**Discriminating paths.** Let each node between X and V on a path X, W, ..., V, Y be a collider and a parent of Y, and X
and Y not be adjacent. What V is depends on whether it is ``within`` or ``without`` the sets that separate X and Y::

        X *-> W <-> ... <-* V o-* Y          R4   V within    =>   V --> Y
              |             (each W --> Y)        V without   =>   W <-> V <-> Y

``discriminates(X, W, Y)`` follows such a path node by node: it holds for a first node W, and passes from W to V if
W <-> V and V --> Y. It also says that W --> Y is *visible*: W and Y share no hidden cause.

**Ways round.** Chains pass an arrow on: if A --> B, and no node of the path A, B, ..., U, V is a collider on it, then
U --> V (``forces(A, B, U, V)``). So A --> B may make A a cause of C (``leads(A, B, C)``)::

    R9     C *-* A *-* B,  A no collider,  A --> B leads to C          =>   A --> C
    R10    U *-* A *-* W,  A no collider,  A --> U and A --> W lead to C   =>   A --> C

For R9: were the mark at A on A *-* C an arrowhead, then A --> B, and A were a cause of C after all. For R10: A is no
collider, so A --> U or A --> W. Zhang's rules speak of paths that could be directed; here each step is proved.

**Background knowledge** (``knowing``) that A is no cause of B brings an arrowhead at A, and nothing for the other end.
A is no cause through others either (``noncause(A, B)``). So causes of B and effects of A pass it on, and A has an
arrowhead wherever a tail would lead to B::

    A no cause of C,  A --> B would lead to C by chains      =>   A <-* B

Such arrowheads need not be those of a collider or a chain, and two more rules follow from them. X and Y are not
adjacent, and X *-> W --> Y::

    V *-* W,  X *-* V *-* Y,  V no collider        =>   V --> Y
    W *-> V --> Y,  X *-* V                        =>   a discriminating path goes from X through V to Y

For the first: were the mark at V on V *-* Y an arrowhead, then V --> X, so V *-> W, and R4 gave V --> Y. For the
second: with an arrowhead at V on X *-* V it begins there, and with V --> X it goes on from W, since then W <-> V.

>>> from apsl_rules.evidence import Evidence
>>> from apsl_rules.rules.engine import compile_rulebook, extend
>>> from apsl_rules.rules.vocabulary import Finding, adjacent, collider
>>> program = compile_rulebook(PAG)
>>> edges = [adjacent.fact(*pair) for pair in ("ca", "ab", "bd")]
>>> told = [*edges, collider.fact("c", "a", "b"), collider.fact("a", "b", "d")]
>>> store = extend(program, program.start(), [Finding(fact, Evidence("example")) for fact in told]).store
>>> [sorted(pair) for pair in store.bidirected], sorted(store.partial)
([['a', 'b']], [('c', 'a'), ('d', 'b')])
"""

from __future__ import annotations

from apsl_rules.rules.vocabulary import RELATIONS, Relation, Rulebook, head, noncause, read_rules, within, without

discriminates = Relation("discriminates", 3, "a discriminating path goes from {0} through {1} to {2}")
forces = Relation("forces", 4, "{0} -> {1} would give {2} -> {3}")
leads = Relation("leads", 3, "{0} -> {1} would make {0} a cause of {2}")
_SPOKEN = (*RELATIONS, head, within, without, discriminates, forces, leads)

_RULES = """
Arrowhead: arrow(A, B) => head(B, A)  # an arrow has an arrowhead
FCI-R0: collider(X, Y, Z) => head(Y, X), head(Y, Z)  # a collider
FCI-R1: head(B, A), chain(A, B, C) => arrow(B, C)  # no new collider
FCI-R2: arrow(A, B), head(C, B), adjacent(A, C) => head(C, A)  # no cause of a cause of its own
FCI-R2-after: head(B, A), arrow(B, C), adjacent(A, C) => head(C, A)  # no cause of a cause of its own
FCI-R3: head(B, A), head(B, C), chain(A, D, C), adjacent(D, B) => head(B, D)  # a collider beside a chain
FCI-R4-begin: head(W, X), arrow(W, Y), gap(X, Y) => discriminates(X, W, Y)  # a discriminating path begins
FCI-R4-next: discriminates(X, W, Y), head(W, V), head(V, W), arrow(V, Y) => discriminates(X, V, Y)  \
# a discriminating path goes on
FCI-R4-cause: discriminates(X, W, Y), head(W, V), adjacent(V, Y), within(X, V, Y) => arrow(V, Y)  \
# no collider at the end of a discriminating path
FCI-R4-collider: discriminates(X, W, Y), head(W, V), adjacent(V, Y), without(X, V, Y) \
=> head(V, W), head(V, Y), head(Y, V)  # a collider at the end of a discriminating path
FCI-R8: arrow(A, B), arrow(B, C), adjacent(A, C) => arrow(A, C)  # a cause of a cause
Chains-begin: head(E, A), chain(A, B, C), chain(B, C, D) => forces(A, B, C, D)  # chains pass an arrow on
Chains-next: forces(A, B, U, V), chain(U, V, W) => forces(A, B, V, W)  # chains pass an arrow on
Way-1: head(C, A), arrow(B, C), adjacent(A, B) => leads(A, B, C)  # to a cause
Way-2: head(C, A), arrow(V, C), chain(A, B, V) => leads(A, B, C)  # by a chain to a cause
Way-3: head(C, A), arrow(V, C), forces(A, B, U, V) => leads(A, B, C)  # by chains to a cause
Way-4: head(C, A), chain(A, B, V), chain(B, V, C) => leads(A, B, C)  # by two chains
Way-5: head(C, A), forces(A, B, U, V), chain(U, V, C) => leads(A, B, C)  # by chains
FCI-R9: chain(C, A, B), leads(A, B, C) => arrow(A, C)  # an arrowhead would close a way round
FCI-R10: chain(U, A, W), leads(A, U, C), leads(A, W, C) => arrow(A, C)  # one of two ways leads on
"""
#: Rules for background knowledge.
_FURTHER = """
No-cause-head: noncause(A, B), adjacent(A, B) => head(A, B)  # what is no cause has an arrowhead
No-cause-before: noncause(A, C), arrow(B, C) => noncause(A, B)  # no cause of an effect is a cause of its cause
No-cause-after: noncause(A, C), arrow(A, B) => noncause(B, C)  # no effect of a cause causes what that does not
No-way-1: noncause(A, C), chain(A, B, C) => head(A, B)  # an arrow would go on by a chain
No-way-2: noncause(A, C), chain(A, B, V), chain(B, V, C) => head(A, B)  # an arrow would go on by two chains
No-way-begin: noncause(A, E), chain(A, B, C), chain(B, C, D) => forces(A, B, C, D)  # chains pass an arrow on
No-way-3: noncause(A, C), forces(A, B, U, V), chain(U, V, C) => head(A, B)  # an arrow would go on by chains
Path-beside: head(W, X), arrow(W, Y), gap(X, Y), head(V, W), arrow(V, Y), adjacent(V, X) => discriminates(X, V, Y)  \
# a discriminating path goes on, whatever the end beside it
Chain-beside: head(W, X), arrow(W, Y), gap(X, Y), chain(X, V, Y), adjacent(V, W) => arrow(V, Y)  \
# an arrowhead would end a discriminating path
Given-head: barred(A, B), adjacent(A, B) => head(A, B)  # what is no cause has an arrowhead
"""

PAG = Rulebook("pag", read_rules(_RULES, _SPOKEN), _SPOKEN, further=read_rules(_FURTHER, (*_SPOKEN, noncause)))
