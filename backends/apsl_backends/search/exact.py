"""The best of all graphs over a few nodes, and the certificate that none scores higher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import attrs
import numpy as np

from apsl_backends.kernels.bindings.scores import MOST_EXACT, ScoreHandle, joints_bytes
from apsl_backends.kernels.bindings.searches import NEVER, best_by_pairs, best_graph, best_graph_bytes, pattern_of
from apsl_backends.scores.bde import Integers, Numbers
from apsl_backends.search import hill_climbing as hillclimb
from apsl_backends.search.rounds import CLOSED, FAR, Found, Open
from apsl_rules.errors import InvalidArgumentError, LimitReachedError
from apsl_rules.names import count_of
from apsl_rules.stopping import heeding

#: The default limits of an exact search: nodes and bytes.
LARGEST, MOST_BYTES = 20, 1 << 30
#: The most nodes for which an exact search is fast, and the most rows of all subsets that it then goes through.
SMALL, _QUICK = 12, 1 << 25


class Score(hillclimb.Score, Protocol):
    """The score that an exact search needs."""

    penalty: int

    def joints(self, members: Numbers) -> Integers:
        """Score every subset of some nodes as one joint column."""

    def bytes_for_joints(self, width: int) -> int:
        """Estimate the memory for scoring every subset of ``width`` nodes."""


@attrs.frozen
class Optimum:
    """The best graph over some nodes: the parents of each, its score in units, and whether it is proven to be best.

    ``exact`` is False if a hill climb found it, and ``reason`` says why.
    """

    parents: Mapping[int, Numbers]
    score: int
    exact: bool
    reason: str = ""


def optimal(
    score: Score,
    members: Sequence[int],
    *,
    allowed: Mapping[int, Numbers] | None = None,
    max_parents: int | None = None,
    largest: int = LARGEST,
    most_bytes: int = MOST_BYTES,
    beyond: Literal["climb", "refuse"] = "climb",
) -> Optimum:
    """Find the best graph over some nodes.

    Parameters
    ----------
    score, members
        The score, and the nodes by number.
    allowed
        The nodes that may be parents of each node; by default all others.
    max_parents
        The most parents of a node.
    largest, most_bytes
        The most nodes and memory of an exact search.
    beyond
        What to do beyond that: climb instead, or raise an error.
    """
    nodes = tuple(sorted(members))
    reason = _too_large(score, len(nodes), largest, most_bytes)
    if reason and beyond == "refuse":
        message = f"{reason}; choose fewer nodes, raise the limit, or let a hill climb take over"
        raise InvalidArgumentError(message)
    if reason:
        candidates = None if allowed is None else [(tail, head) for head in nodes for tail in allowed[head]]
        climbed = hillclimb.climb(score, nodes, candidates=candidates, max_parents=max_parents)
        return Optimum(climbed.parents, climbed.score, exact=False, reason=f"{reason}; climbed instead")
    return _exact(score, nodes, allowed, len(nodes) if max_parents is None else max_parents)


def _too_large(score: Score, width: int, largest: int, most_bytes: int) -> str:
    """Return why an exact search would be too large, or an empty text."""
    most = min(largest, MOST_EXACT)
    if width > most:
        return f"{width} nodes are more than the {most} that an exact search takes"
    needed = score.bytes_for_joints(width) + best_graph_bytes(width)
    if needed > most_bytes:
        return f"an exact search over {width} nodes takes about {needed >> 20} MiB, more than {most_bytes >> 20}"
    return ""


def _exact(score: Score, nodes: Numbers, allowed: Mapping[int, Numbers] | None, most: int) -> Optimum:
    width = len(nodes)
    place = {node: at for at, node in enumerate(nodes)}
    everyone = (1 << width) - 1
    masks = np.array(
        [
            everyone if allowed is None else sum(1 << place[one] for one in allowed[node] if one in place)
            for node in nodes
        ],
        np.int64,
    )
    joints = score.joints(nodes)
    chosen, top = heeding(lambda stop: best_graph(joints, masks, most, score.penalty, stop), is_long=width > SMALL)
    parents = {
        node: tuple(one for bit, one in enumerate(nodes) if choice >> bit & 1)
        for node, choice in zip(nodes, chosen, strict=True)
    }
    return Optimum(parents, top, exact=True)


def why_not_certified(score: ScoreHandle, width: int) -> str:
    """Return why an exact search over so many nodes is not made, or an empty text if it is."""
    if width > LARGEST:
        return f"an exact search takes at most {count_of(LARGEST, 'node')}, and there are {width}"
    needed = joints_bytes(score.rows_per_family, width, empirical=score.empirical) + best_graph_bytes(width)
    if needed > MOST_BYTES:
        return f"an exact search would take about {needed >> 20} MiB, more than {MOST_BYTES >> 20}"
    return ""


def certify(score: ScoreHandle, found: Found, opened: Open, max_parents: int) -> Found:
    """Return the class of the best graph over the nodes of a class, which is that class itself if it is as good.

    ``opened`` says which pairs may be joined. If there are too many nodes for an exact search, the class is returned as
    it is, without the mark that it is best; so it is if a limit ends the exact search. Of a few nodes it also has for
    each pair by how much the best graph is behind that answers otherwise.
    """
    width = len(found.members)
    if why_not_certified(score, width):
        return found
    members = np.array(found.members, np.int64)
    parents_of = [np.flatnonzero(opened[:, node] != CLOSED).tolist() for node in range(width)]
    masks = np.array([sum(1 << at for at in places) for places in parents_of], np.int64)
    pairs: Integers | None = None
    try:
        joints = heeding(lambda stop: score.joints(members, stop))
        parents, top = heeding(lambda stop: best_graph(joints, masks, max_parents, score.penalty, stop))
        if width <= SMALL:
            pairs = heeding(lambda stop: best_by_pairs(joints, masks, max_parents, score.penalty, stop))
    except LimitReachedError:
        return found  # what was found before the limit is not lost
    without_edges = sum(int(joints[1 << at] - joints[0]) for at in range(width))
    gain = top - without_edges
    behind = found.behind if pairs is None else np.where(pairs == NEVER, FAR, top - np.maximum(pairs, -FAR))
    found = attrs.evolve(found, is_best=True, behind=behind)
    if gain <= found.gain:
        return found
    dag = np.array([[choice >> at & 1 for choice in parents] for at in range(width)], np.uint8)
    agreeing = None if found.agreeing is None else 0  # no start came to it
    corrected = gain - found.gain
    return attrs.evolve(found, dag=dag, marks=pattern_of(dag), gain=gain, agreeing=agreeing, corrected=corrected)


def is_quick(score: ScoreHandle, width: int) -> bool:
    """Return whether an exact search takes hardly longer than another one, wherever the table is."""
    return width <= SMALL and score.rows_of_table << width <= _QUICK and not why_not_certified(score, width)
