"""How far two graphs of arrows and undirected edges agree: counts of edges, and the figures that follow from them."""

from __future__ import annotations

from math import hypot
from typing import Any, Literal, TypeAlias

import attrs

from apsl_rules.graphs import Arrow, Pdag

Against: TypeAlias = Literal["dag", "cpdag"]
Scored: TypeAlias = Literal["marks", "extension"]


@attrs.frozen
class Score:
    """How many edges were learned, how many there are, and how far the two agree; all figures follow from counts.

    ``correct`` edges have the same mark in both graphs; ``adjacent`` ones are in both, whatever the mark. ``arrows``
    were learned, ``compelled`` ones are in the CPDAG, ``compelled_correct`` in both. Of the wrong edges, ``reversed``
    ones have the wrong direction, ``missing`` ones were not learned, ``extra`` ones are not in the truth,
    ``undirected`` ones lack their direction, ``falsely_directed`` ones have one that the truth leaves open.

    Attributes
    ----------
    against
        What was compared with: the CPDAG ("cpdag") or the true graph ("dag").
    scored
        Which edges were counted.
    true, predicted
        How many edges there are, and how many were learned.
    """

    against: Against
    scored: Scored
    true: int
    predicted: int
    correct: int
    adjacent: int
    arrows: int
    compelled: int
    compelled_correct: int
    reversed: int
    missing: int
    extra: int
    undirected: int
    falsely_directed: int

    @property
    def precision(self) -> float:
        """Return the share of learned edges that are right: Ar_Precision as in the paper's tables."""
        return _share(self.correct, self.predicted, self.true)

    @property
    def recall(self) -> float:
        """Return the share of true edges that were learned right: Ar_Recall as in the paper's tables."""
        return _share(self.correct, self.true, self.predicted)

    @property
    def distance(self) -> float:
        """Return Ar_Distance: how far precision and recall together are from 1."""
        return hypot(1 - self.precision, 1 - self.recall)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return _harmonic(self.precision, self.recall)

    @property
    def skeleton_precision(self) -> float:
        """Return the share of learned edges that are there, whatever their marks."""
        return _share(self.adjacent, self.predicted, self.true)

    @property
    def skeleton_recall(self) -> float:
        """Return the share of true edges that were learned, whatever their marks."""
        return _share(self.adjacent, self.true, self.predicted)

    @property
    def skeleton_f1(self) -> float:
        """Return the harmonic mean of skeleton precision and recall."""
        return _harmonic(self.skeleton_precision, self.skeleton_recall)

    @property
    def compelled_precision(self) -> float:
        """Return the share of learned arrows that are compelled."""
        return _share(self.compelled_correct, self.arrows, self.compelled)

    @property
    def compelled_recall(self) -> float:
        """Return the share of compelled arrows that were learned."""
        return _share(self.compelled_correct, self.compelled, self.arrows)

    @property
    def shd(self) -> int:
        """Return the structural Hamming distance: the number of pairs of nodes whose marks differ."""
        return self.reversed + self.missing + self.extra + self.undirected + self.falsely_directed

    def as_row(self) -> dict[str, Any]:
        """Return all figures and counts by name, as a row of a table."""
        names = (*_KINDS, *_FIGURES, *(field.name for field in attrs.fields(Score) if field.name not in _KINDS))
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        how = ", open edges directed by the order of columns" if self.scored == "extension" else ""
        lines = {
            f"against the {self.against.upper()}{how}": ("correct", "predicted", "true"),
            "marks": ("precision", "recall", "f1", "distance"),
            "skeleton": ("skeleton_precision", "skeleton_recall", "skeleton_f1"),
            "compelled arrows": ("compelled_precision", "compelled_recall"),
            "wrong edges": ("shd", "reversed", "missing", "extra", "undirected", "falsely_directed"),
        }
        return "\n".join(
            f"{head}: {', '.join(self._figures_text(name) for name in names)}" for head, names in lines.items()
        )

    def _figures_text(self, name: str) -> str:
        figure = getattr(self, name)
        spelt = name.removeprefix("skeleton_").removeprefix("compelled_").replace("_", " ")
        spelt = {"f1": "F1", "shd": "SHD"}.get(spelt, spelt)
        if isinstance(figure, float):
            return f"{spelt} {figure:.3f}"
        return f"{spelt} {figure}" if name == "shd" else f"{figure} {spelt}"


_KINDS = ("against", "scored")
_FIGURES = (
    *("precision", "recall", "distance", "f1"),
    *("skeleton_precision", "skeleton_recall", "skeleton_f1"),
    *("compelled_precision", "compelled_recall", "shd"),
)


def agreement(learned: Pdag, true: Pdag, compelled: frozenset[Arrow], *, against: Against, scored: Scored) -> Score:
    """Count how far learned marks agree with true ones."""
    found, there = learned.skeleton, true.skeleton
    directed = frozenset(map(frozenset, learned.arrows))
    truly_directed = frozenset(map(frozenset, true.arrows))
    return Score(
        against=against,
        scored=scored,
        true=len(there),
        predicted=len(found),
        correct=len(learned.arrows & true.arrows) + len(learned.lines & true.lines),
        adjacent=len(found & there),
        arrows=len(learned.arrows),
        compelled=len(compelled),
        compelled_correct=len(learned.arrows & compelled),
        reversed=len(directed & truly_directed) - len(learned.arrows & true.arrows),
        missing=len(there - found),
        extra=len(found - there),
        undirected=len(learned.lines & truly_directed),
        falsely_directed=len(directed & true.lines),
    )


def _share(right: int, of: int, other: int) -> float:
    """Return the part of ``of`` that is right; of nothing all is right if there was nothing on the other side too."""
    if not of or not other:
        return 1.0 if of == other else 0.0
    return right / of


def _harmonic(x: float, y: float) -> float:
    return 2 * x * y / (x + y) if x + y else 0.0
