"""Tiled networks: their shape, and what they keep of the base, by exact inference."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiling import RESIDUAL, ArcRules, Keep, Tiling, fit_table, make_tiled, make_tiling, tile, tiling_names, tiling_spec

from apsl_rules import Dag, network
from apsl_rules.errors import InvalidArgumentError, UnknownNameError
from apsl_rules.graphs.dag import degrees
from apsl_rules.graphs.networks.bayesian_network import Network, joint
from apsl_rules.graphs.networks.sampling import random_network, sample
from apsl_rules.names import Node


def split(node: Node) -> tuple[str, int]:
    """Return the name in the base and the tile of a node."""
    name, _, number = str(node).rpartition(".")
    return name, int(number)


def sources(dag: Dag, node: Node) -> set[Node]:
    """Return the nodes without parents from which a node can be reached, itself included."""
    parents = dag.parents_of(node)
    return set().union(*(sources(dag, parent) for parent in parents)) if parents else {node}


def check_shape(made: Tiling, times: int, rules: ArcRules) -> None:
    """Check nodes, tables and arrows against the base: what is in a tile, and what lies between tiles."""
    base, whole = made.base, made.network
    roots = {node for node in base.dag.nodes if not base.dag.parents_of(node)}
    inside = {(f"{x}.{tile}", f"{y}.{tile}") for x, y in base.dag.edges for tile in range(1, times + 1)}

    assert list(whole.dag.nodes) == [f"{node}.{tile}" for tile in range(1, times + 1) for node in base.dag.nodes]
    assert whole.dag.edges == inside | set(made.arcs)
    assert not inside.intersection(made.arcs)
    for x, y in made.arcs:
        assert split(x)[1] < split(y)[1]
        assert split(y)[0] in roots
    joined = Counter(y for _, y in made.arcs)
    assert all(count <= rules.max_parents for count in joined.values())
    for node in whole.dag.nodes:
        assert whole.levels[node] == base.levels[split(node)[0]]
        assert node in joined or np.array_equal(whole.tables[node], base.tables[split(node)[0]])
        children = len(whole.dag.children_of(node))
        neighbours = len(whole.dag.neighbours_of(node))
        assert children <= max(rules.max_children or children, len(base.dag.children_of(split(node)[0])))
        assert neighbours <= max(rules.max_neighbours or neighbours, len(base.dag.neighbours_of(split(node)[0])))


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["joint", "marginals"]), st.data())
def test_any_network_can_be_tiled(seed: int, times: int, max_parents: int, keep: Keep, data: st.DataObject) -> None:
    """Random networks of five nodes: the shape is right, and exact inference finds what was to be kept."""
    base = random_network(5, mean_parents=1.2, levels=(2, 3), seed=seed)
    roots = [node for node in base.dag.nodes if not base.dag.parents_of(node)]
    arcs = data.draw(st.integers(0, min(4, (times - 1) * len(roots) * max_parents)))
    rules = ArcRules(arcs, max_parents, keep=keep)
    try:
        made = make_tiling(base, times, rules, seed=seed)
    except InvalidArgumentError:
        assert len(roots) > 1
        made = make_tiling(base, times, rules := ArcRules(arcs, max_parents, keep="marginals"), seed=seed)
    check_shape(made, times, rules)

    assert len(made.arcs) == arcs
    for tile_number in range(1, times + 1):
        kept = [[node] for node in roots] if rules.keep == "marginals" else [base.dag.nodes]
        for nodes in kept:
            found = joint(made.network, [f"{node}.{tile_number}" for node in nodes])
            assert found == pytest.approx(joint(base, list(nodes)), abs=1e-10)


@pytest.mark.parametrize(("name", "arcs"), [("alarm", 14), ("insurance", 3), ("child", 2)])
def test_all_marginals_are_kept_in_two_tiles(name: str, arcs: int) -> None:
    """Exact inference gives every node of a later tile the marginal of the base, and pairs of nodes their joint."""
    base = network(name)
    made = make_tiling(base, 2, ArcRules(arcs), seed=1)
    check_shape(made, 2, ArcRules(arcs))
    assert made.residual <= 1e-10
    for node in base.dag.nodes:
        for number in (1, 2):
            assert joint(made.network, [f"{node}.{number}"]) == pytest.approx(joint(base, [node]), abs=1e-8)
    for x, y in list(combinations(base.dag.nodes, 2))[::20]:
        assert joint(made.network, [f"{x}.2", f"{y}.2"]) == pytest.approx(joint(base, [x, y]), abs=1e-8)


def test_the_whole_joint_of_a_tile_is_kept() -> None:
    """All eight nodes of the third tile of ASIA, whose two roots both got parents, are distributed as in ASIA."""
    asia = network("asia")
    made = make_tiling(asia, 3, ArcRules(6, max_parents=2), seed=2)
    found = joint(made.network, [f"{node}.3" for node in asia.dag.nodes])

    assert {child for _, child in made.arcs} >= {"asia.3", "smoke.3"}
    assert found == pytest.approx(joint(asia, list(asia.dag.nodes)), abs=1e-10)


def test_roots_of_one_tile_have_no_source_in_common() -> None:
    """In ten tiles of ALARM the parents of different roots of a tile share no source, nor do parents across tiles."""
    made = make_tiled("alarm10")
    dag = made.network.dag
    below: dict[int, list[Node]] = {}
    for _, root in made.arcs:
        below.setdefault(split(root)[1], []).append(root)
    for roots in below.values():
        for one, other in combinations(set(roots), 2):
            assert not sources(dag, one) & sources(dag, other)
    for root in {child for _, child in made.arcs}:
        for x, y in combinations(dag.parents_of(root), 2):
            assert split(x)[1] == split(y)[1] or not sources(dag, x) & sources(dag, y)


def test_the_other_kind_only_keeps_marginals() -> None:
    """Where roots of a tile may share ancestors, each keeps its marginal, but a common descendant need not."""
    base = network("insurance")
    made = make_tiling(base, 3, ArcRules(12, max_parents=4, keep="marginals"), seed=3)
    for root in ("Age", "Mileage"):
        for number in (2, 3):
            assert joint(made.network, [f"{root}.{number}"]) == pytest.approx(joint(base, [root]), abs=1e-10)
    together = joint(made.network, ["Age.3", "Mileage.3"])

    assert np.abs(together - joint(base, ["Age", "Mileage"])).max() > 1e-6


def test_a_seed_makes_one_network() -> None:
    """The same seed gives the same tiled network, another seed another one, and the strength changes no arrow."""
    child = network("child")
    once, again, other = (tile(child, 4, arcs=4, seed=seed) for seed in (1, 1, 2))
    sharp = tile(child, 4, arcs=4, seed=1, strength=5)

    assert once == again
    assert once != other
    assert once.dag == sharp.dag
    assert once != sharp


def test_there_are_as_many_arrows_as_roots_unless_told() -> None:
    """Two later tiles of ASIA have four roots."""
    assert len(tile(network("asia"), 3, seed=1).dag.edges) == 3 * 8 + 4
    assert len(tile(network("asia"), 3, arcs=0, seed=1).dag.edges) == 3 * 8


def test_roots_can_all_be_full() -> None:
    """All eight arrows that the roots of two later tiles of ASIA can take find a place; each tile keeps its joint."""
    asia = network("asia")
    made = make_tiling(asia, 3, ArcRules(8), seed=1)

    assert set(Counter(child for _, child in made.arcs).values()) == {2}
    for number in (2, 3):
        found = joint(made.network, [f"{node}.{number}" for node in asia.dag.nodes])
        assert found == pytest.approx(joint(asia, list(asia.dag.nodes)), abs=1e-10)


def test_nodes_of_one_level_are_left_alone() -> None:
    """An arrow from or to a node that never varies would say nothing, so none is drawn."""
    still = Network("still", Dag({"a": [], "b": ["a"]}), {"a": ("x",), "b": ("x", "y")}, {"a": [1], "b": [[0.3, 0.7]]})

    assert len(tile(still, 3, seed=1).dag.edges) == 3
    with pytest.raises(InvalidArgumentError, match="3 tiles with 0 roots each take at most 0"):
        tile(still, 3, arcs=1, seed=1)


def test_nodes_that_are_not_text_are_paired_with_their_tile() -> None:
    """Labels such as 1 and "1" stay apart."""
    mixed = Network("mixed", Dag({1: [], "1": []}), {1: ("a", "b"), "1": ("a", "b")}, {1: [0.5, 0.5], "1": [0.1, 0.9]})

    assert tile(mixed, 2, arcs=1, seed=1).dag.nodes == ((1, 1), ("1", 1), (1, 2), ("1", 2))


@pytest.mark.parametrize("name", tiling_names())
def test_a_spec_reaches_its_published_figures(name: str) -> None:
    """Size, degrees and name are those of the published network; its file is made again, up to how a machine rounds."""
    spec = tiling_spec(name)
    made = make_tiled(name)
    check_shape(made, 10, spec.rules)

    assert degrees(made.network.dag) == spec.published
    assert len(made.arcs) == spec.rules.arcs
    shipped = network(name)
    assert made.network.dag == shipped.dag
    assert made.network.levels == shipped.levels
    for node in shipped.dag.nodes:
        np.testing.assert_allclose(made.network.tables[node], shipped.tables[node], rtol=0, atol=1e-12)
    assert made.network.name == shipped.name == name
    assert made.residual <= 1e-10


def test_the_published_figures_are_those_of_the_paper() -> None:
    """Nodes, arrows, most parents and children, fewest and most neighbours, as in the table of networks."""
    figures = {
        name: [getattr(tiling_spec(name).published, key) for key in ("nodes", "arcs", "max_parents", "max_children")]
        for name in tiling_names()
    }
    neighbours = {name: tiling_spec(name).published.max_neighbours for name in tiling_names()}

    assert figures == {"alarm10": [370, 570, 4, 7], "child10": [200, 257, 2, 7], "insurance10": [270, 556, 5, 8]}
    assert neighbours == {"alarm10": 9, "child10": 8, "insurance10": 11}


@pytest.mark.parametrize("name", tiling_names())
def test_arrows_between_tiles_can_be_seen_but_are_weak(name: str) -> None:
    """As in the published samples, a third to two thirds of them make their ends depend visibly in 500 rows."""
    from scipy.stats import chi2_contingency

    made = make_tiled(name)
    seen = []
    for seed in range(60 // len(made.arcs) + 1):
        drawn = sample(made.network, 500, seed=seed)
        for x, y in made.arcs[:60]:
            one, other = (drawn.codes[drawn.place[node]] for node in (x, y))
            table = np.array([[np.sum((one == a) & (other == b)) for b in np.unique(other)] for a in np.unique(one)])
            seen.append(min(table.shape) > 1 and chi2_contingency(table, correction=False).pvalue < 0.01)

    assert 0.3 < np.mean(seen) < 0.7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"times": 0}, "times is 0; give 1 or more"),
        ({"arcs": -1}, "arcs is -1; give 0 or more"),
        ({"max_parents": 0}, "max_parents is 0; give 1 or more"),
        ({"max_children": 0}, "max_children is 0; give 1 or more"),
        ({"max_neighbours": 0}, "max_neighbours is 0; give 1 or more"),
        ({"seed": -1}, "seed is -1; give 0 or more"),
        ({"keep": "all"}, "keep is 'all'; give 'joint' or 'marginals'"),
        ({"strength": 0}, "strength is 0; give a number above 0"),
        ({"arcs": 9}, "9 arrows between tiles asked for; 3 tiles with 2 roots each take at most 8"),
        ({"times": 1, "arcs": 1}, "take at most 0"),
        ({"max_neighbours": 1, "arcs": 5}, "of 5 arrows between tiles only 0 found a place; ask for fewer"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], sentence: str) -> None:
    """Each impossible wish gets a sentence that says what is possible."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        tile(network("asia"), **{"times": 3, "seed": 1, **settings})


def test_too_entangled_parents_are_refused_with_a_way_out() -> None:
    """Where the joint of the parents cannot be worked out, the message names the kind of tiling that needs none."""
    with pytest.raises(InvalidArgumentError, match="keep='joint'"):
        tile(network("alarm"), 10, arcs=110, keep="marginals", seed=1)


def test_an_unknown_tiled_network_is_refused() -> None:
    """The nearest name is suggested, or all are listed."""
    with pytest.raises(UnknownNameError, match="unknown tiled network 'alram10'; did you mean 'alarm10'"):
        make_tiled("alram10")
    with pytest.raises(UnknownNameError, match="there are alarm10, child10, insurance10"):
        tiling_spec("xyz")


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=4),
    st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda weights: sum(weights) > 0),
    st.sampled_from([0.1, 1.0, 5.0, 20.0]),
    st.integers(0, 1000),
)
def test_a_fitted_table_keeps_the_marginal(
    marginal: list[float], weights: list[float], strength: float, seed: int
) -> None:
    """All rows are distributions, and weighted by the parents' settings they give the marginal, zeros included."""
    wanted = np.array([0.0, *marginal]) / sum(marginal)
    settings = np.array(weights)[:, None] / sum(weights)
    found = fit_table(wanted, settings, strength=strength, random=np.random.default_rng(seed))

    assert found.shape == (*settings.shape, wanted.size)
    assert found.sum(axis=-1) == pytest.approx(1, abs=1e-12)
    assert np.abs(np.tensordot(settings, found, 2) - wanted).max() <= RESIDUAL
