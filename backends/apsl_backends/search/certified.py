"""Whether a graph that a search found is the best of all graphs over its nodes, by an exact search."""

from __future__ import annotations

import attrs
import numpy as np

from apsl_backends.kernels.border import ScoreHandle, best_graph, best_graph_bytes, joints_bytes, pattern_of
from apsl_backends.search.exact import LARGEST, MOST_BYTES
from apsl_backends.search.rounds import CLOSED, Found, Open
from apsl_rules.errors import LimitReachedError
from apsl_rules.names import count_of
from apsl_rules.stopping import heeding


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
    it is, without the mark that it is best; so it is if a limit ends the exact search.
    """
    width = len(found.members)
    if why_not_certified(score, width):
        return found
    members = np.array(found.members, np.int64)
    parents_of = [np.flatnonzero(opened[:, node] != CLOSED).tolist() for node in range(width)]
    masks = np.array([sum(1 << at for at in places) for places in parents_of], np.int64)
    try:
        joints = heeding(lambda stop: score.joints(members, stop))
        parents, top = heeding(lambda stop: best_graph(joints, masks, max_parents, score.penalty, stop))
    except LimitReachedError:
        return found  # what was found before the limit is not lost
    without_edges = sum(int(joints[1 << at] - joints[0]) for at in range(width))
    gain = top - without_edges
    if gain <= found.gain:
        return attrs.evolve(found, is_best=True)
    dag = np.array([[choice >> at & 1 for choice in parents] for at in range(width)], np.uint8)
    return attrs.evolve(found, dag=dag, marks=pattern_of(dag), gain=gain, is_best=True, corrected=gain - found.gain)
