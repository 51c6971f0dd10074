"""Experiments: what a TOML file may say, where samples come from, and which units of work follow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from design import (
    DrawnSamples,
    Experiment,
    FolderSamples,
    Grid,
    drawing_seed,
    experiment,
    experiment_names,
    parse_experiment,
    plan_units,
)
from ranking import published_columns, table4
from results import COUNTED, work

from apsl_rules import learn, network
from apsl_rules.errors import ApslError, DataError, SpecError, UnknownNameError
from apsl_rules.evaluation.scoring import score
from apsl_rules.graphs.networks import sample

GRID = '[[grids]]\nnetworks = ["asia"]\nsizes = [100]\nsets = [1]\nlearners = ["apsl"]\n'
HEAD = 'name = "mine"\nsummary = "my own"\n'


def parse(*lines: str) -> Experiment:
    """Read an experiment of one small grid with some further lines in it."""
    return parse_experiment(HEAD + GRID + "\n".join(lines), "experiment mine")


def test_a_short_experiment_has_plain_defaults() -> None:
    """Depth 1 around every node, columns as they stand, all four ways of scoring."""
    (grid,) = parse().grids

    assert grid == Grid(("asia",), (100,), (1,), ("apsl",))
    assert (grid.targets, grid.depths, grid.orders, len(grid.scoring)) == ("all", (1,), ("file",), 4)


def test_every_setting_is_read() -> None:
    """Values that differ from the defaults arrive where they belong."""
    lines = ('depths = [3, "max"]', 'targets = "random"', "count = 2", 'orders = ["reversed"]', 'learned = "once"')
    (grid,) = parse(*lines, 'scoring = ["cpdag marks"]').grids

    assert (grid.depths, grid.targets, grid.count, grid.orders) == ((3, "max"), "random", 2, ("reversed",))
    assert (grid.learned, grid.scoring) == ("once", ("cpdag marks",))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("dephts = [1]", "unknown setting 'dephts'; did you mean 'depths'?"),
        ("depths = [0]", "depths has 0; give whole numbers from 1 on"),
        ('depths = ["deep"]', "depths, item 1 must be int or 'max', not 'deep'"),
        ("depths = 3", "depths must be a list, not 3"),
        ("depths = []", "depths is empty; name at least one"),
        ("depths = [3, 3]", "depths has 3 twice; name each once"),
        ('orders = ["sorted"]', "orders, item 1 is 'sorted'; allowed are 'file', 'reversed', 'permuted'"),
        ('targets = "random"', "needs a count; give targets = 'random' together with count"),
        ("count = 3", "has a count, 3, but targets = 'all'; give targets = 'random' together with count"),
        ('targets = "random"\ncount = 0', "count is 0; give 1 or more"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(line: str, sentence: str) -> None:
    """The sentence names the file, the grid, the setting and what is allowed."""
    with pytest.raises(SpecError) as refused:
        parse(line)

    assert str(refused.value).startswith("experiment mine, grids, item 1")
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD, "lacks the setting 'grids'"),
        (HEAD + "grids = []", "has no grids; add a [[grids]] table"),
        (HEAD + "seed = -1\n" + GRID, "seed is -1; give 0 or more"),
        (HEAD + "grids = 3", "grids must be a list, not 3"),
        ("name", "is not valid TOML"),
    ],
)
def test_mistakes_outside_the_grids_are_refused_too(text: str, sentence: str) -> None:
    """A file without grids, with a wrong seed, or that is no TOML."""
    with pytest.raises(SpecError, match="experiment mine") as refused:
        parse_experiment(text, "experiment mine")

    assert sentence in str(refused.value)


def test_all_shipped_experiments_are_valid_and_name_learners_and_networks_that_exist() -> None:
    """Their learners are installed, and the quick one can be planned on a fresh machine."""
    from apsl_rules.plugins.manager import installed

    assert {"table3", "depths", "leak", "permuted", "growth", "quick"} <= set(experiment_names())
    for name in experiment_names():
        found = experiment(name)
        assert found.name == name
        assert {learner for grid in found.grids for learner in grid.learners} <= set(installed().learners)
    assert plan_units(experiment("quick"), DrawnSamples(1))


def test_unknown_experiments_are_refused() -> None:
    """By name with the nearest one, by path with the reason."""
    with pytest.raises(UnknownNameError, match="did you mean 'table3'"):
        experiment("tabel3")
    with pytest.raises(ApslError, match="cannot be read"):
        experiment("nowhere.toml")


def test_a_part_that_is_asked_for_twice_is_refused() -> None:
    """Grids that overlap would make two results of one run."""
    with pytest.raises(SpecError, match="asks twice for apsl at depth 1 on asia 100 v1, file order"):
        plan_units(parse_experiment(HEAD + GRID + GRID, "experiment mine"), DrawnSamples(1))


@pytest.mark.parametrize("name", ["child", "insurance", "alarm", "asia"])
def test_drawn_columns_stand_as_in_the_published_files(name: str) -> None:
    """All nodes are there once, in the order of the files where it is known; graph and rows agree on it."""
    samples = DrawnSamples(1)
    dag, table = samples.dag(name), samples.table(name, 40, 1)
    own = network(name)

    assert table.names == dag.nodes == (published_columns(name) or own.dag.nodes)
    assert set(dag.edges) == set(own.dag.edges)
    assert (dag.nodes == own.dag.nodes) == (name in {"asia", "insurance"})
    again = sample(own, 40, seed=drawing_seed(1, name, 40, 1))
    assert all(np.array_equal(table.codes[at], again.codes[again.place[node]]) for at, node in enumerate(table.names))


def test_targets_are_drawn_once_and_for_all() -> None:
    """Random targets are the same for all sizes and sets, and the five of Table IV have most neighbours in our own."""
    grid = 'sizes = [50, 60]\nsets = [1, 2]\nlearners = ["apsl"]\nnetworks = ["child"]\n'
    random = parse_experiment(HEAD + "[[grids]]\n" + grid + 'targets = "random"\ncount = 4', "mine")
    largest = parse_experiment(HEAD + "[[grids]]\n" + grid + 'targets = "table4"', "mine")

    (drawn,) = {unit.targets for unit in plan_units(random, DrawnSamples(1))}
    (five,) = {unit.targets for unit in plan_units(largest, DrawnSamples(1))}
    assert len(drawn) == 4
    assert all(1 <= place <= 20 for place in drawn)
    dag = DrawnSamples(1).dag("child")
    degree = [sum(node in edge for edge in dag.edges) for node in dag.nodes]
    assert sorted(degree[place - 1] for place in five) == sorted(degree)[-5:]


def test_a_unit_is_another_one_when_anything_about_it_changes() -> None:
    """Data, settings and order all enter the key under which finished work is kept."""
    keys = [
        plan_units(parse(*lines), DrawnSamples(seed))[0].key
        for seed, lines in (
            (1, ()),
            (2, ()),
            (1, ("depths = [2]",)),
            (1, ('orders = ["reversed"]',)),
            (1, ('learned = "once"',)),
        )
    ]

    assert len(set(keys)) == len(keys)
    assert plan_units(parse(), DrawnSamples(1))[0].key == keys[0]


def write_sets(folder: Path) -> None:
    """Write the same two samples of a small graph as .npz and as text."""
    graph = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=np.uint8)
    rows = np.random.default_rng(3).integers(0, 2, (80, 3)).astype(np.uint8)
    rows[:, 1] = rows[:, 0] | rows[:, 2]
    (folder / "arrays").mkdir()
    (folder / "text").mkdir()
    np.savez(folder / "arrays" / "vee.npz", graph=graph, names=np.array(["1", "2", "3"]), s80_v1=rows)
    np.savetxt(folder / "text" / "Vee_graph.txt", graph, fmt="%d")
    np.savetxt(folder / "text" / "Vee_s80_v1.txt", rows, fmt="%d")


def test_both_kinds_of_folder_give_the_same_samples(tmp_path: Path) -> None:
    """Arrays and the supplement's text files, whatever the case of the network's name; arrows go from row to column."""
    write_sets(tmp_path)
    arrays, text = (FolderSamples(str(tmp_path / kind)) for kind in ("arrays", "text"))

    assert arrays.dag("vee").edges == {("1", "2"), ("3", "2")}
    assert text.dag("vee").edges == {(1, 2), (3, 2)}
    assert np.array_equal(arrays.table("vee", 80, 1).codes, text.table("vee", 80, 1).codes)


@pytest.mark.parametrize(
    ("network_name", "number", "sentence"),
    [
        ("vee", 2, "has no sample s80_v2 of 'vee'; it has 's80_v1'"),
        ("wye", 1, "has no network 'wye'; it needs wye.npz or wye_graph.txt"),
    ],
)
def test_samples_that_are_not_there_are_refused(tmp_path: Path, network_name: str, number: int, sentence: str) -> None:
    """The sentence says what the folder has or needs."""
    write_sets(tmp_path)
    with pytest.raises(DataError, match=sentence):
        FolderSamples(str(tmp_path / "arrays")).table(network_name, 80, number)
    with pytest.raises(DataError, match="does not exist"):
        FolderSamples(str(tmp_path / "nowhere"))


def test_the_paper_s_targets_are_used_on_the_paper_s_sets(tmp_path: Path) -> None:
    """Table IV counts columns from 1 in file order; networks that it lacks are refused."""
    write_sets(tmp_path)
    (tmp_path / "arrays" / "vee.npz").rename(tmp_path / "arrays" / "alarm.npz")
    text = HEAD + '[[grids]]\nnetworks = ["alarm"]\nsizes = [80]\nsets = [1]\nlearners = ["apsl"]\ntargets = "table4"'
    (unit,) = plan_units(parse_experiment(text, "mine"), FolderSamples(str(tmp_path / "arrays")))

    assert unit.targets == table4()["Alarm"]
    with pytest.raises(SpecError, match="Table IV has no network 'vee'"):
        plan_units(parse_experiment(text.replace("alarm", "vee"), "mine"), FolderSamples(str(tmp_path / "text")))


def test_a_unit_learns_and_scores_what_learn_and_score_give() -> None:
    """Counts of each way of scoring, visits and tests are those of a run by hand, with columns in the asked order."""
    (unit,) = plan_units(parse('orders = ["reversed"]', "depths = [2]"), DrawnSamples(5))
    rows = DrawnSamples(5).table("asia", 100, 1)
    dag = network("asia").dag
    record = work(unit, DrawnSamples(5))

    assert [part["node"] for part in record["parts"]] == list(dag.nodes)
    for part, node in zip(record["parts"], dag.nodes, strict=True):
        learned = learn(rows, node, depth=2, learner="apsl")
        expected = score(learned, dag, against="dag", scored="extension", columns=dag.nodes[::-1])
        assert part["scores"]["dag extension"] == [getattr(expected, count) for count in COUNTED]
        assert (part["visits"], part["tests"]) == (len(learned.visited), learned.counts.asked)


@pytest.mark.parametrize("learner", ["gs", "mmhc", "sll+c"])
def test_parts_cut_out_of_one_graph_are_those_learned_one_by_one(learner: str) -> None:
    """For a learner of whole graphs it makes no difference how often it runs."""
    text = HEAD + GRID.replace("apsl", learner).replace("100", "500")
    told = []
    for learned in ("each part", "each target", "once"):
        (unit,) = plan_units(
            parse_experiment(f'{text}depths = [1, 2, "max"]\nlearned = "{learned}"', "m"), DrawnSamples(2)
        )
        told.append([(part["target"], part["depth"], part["scores"]) for part in work(unit, DrawnSamples(2))["parts"]])

    assert told[0] == told[1] == told[2]


def test_of_a_folder_the_sets_that_are_there_are_taken(tmp_path: Path) -> None:
    """The same experiment runs with few sets of the published ones; none at all is refused with what there is."""
    rows = np.random.default_rng(1).integers(0, 2, (60, 2)).astype(np.uint8)
    np.savez(tmp_path / "pair.npz", names=["a", "b"], graph=np.array([[0, 1], [0, 0]]), s50_v2=rows, s50_v4=rows)
    text = HEAD + GRID.replace("asia", "pair").replace("100", "50").replace("[1]", "[1, 2, 3, 4]")
    samples = FolderSamples(str(tmp_path))

    assert [unit.number for unit in plan_units(parse_experiment(text, "mine"), samples)] == [2, 4]
    with pytest.raises(DataError, match="has no sample s50_v9 of 'pair'; it has 's50_v2', 's50_v4'"):
        plan_units(parse_experiment(text.replace("[1, 2, 3, 4]", "[9]"), "mine"), samples)
