"""Node labels of any kind: one order, and the same label after a way through JSON."""

from __future__ import annotations

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from apsl_rules._documents import label, node_of
from apsl_rules.names import Node, in_order
from support.strategies import LABELS


@given(st.lists(LABELS, unique=True, max_size=8), st.randoms(use_true_random=False))
def test_labels_have_one_order(labels: list[Node], random: Random) -> None:
    """Sorting does not depend on the order before it."""
    assert in_order(random.sample(labels, len(labels))) == in_order(labels)


@given(st.recursive(LABELS, lambda inner: st.tuples(inner, inner), max_leaves=4))
def test_labels_survive_json(node: Node) -> None:
    """A label written as JSON and read back is the same label, tuples and all."""
    assert node_of(json.loads(json.dumps(label(node)))) == node
