"""Two levels of rows in groups: covariances, added tests and scores, and the same from every engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.engines.groups import levels_of_rows
from apsl_backends.engines.opener import moments_of, open_dataset
from apsl_backends.independence.moment_tests import MomentOracle
from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.library import Floats
from apsl_backends.learners.apsl_mixed import design_effect
from apsl_rules import Part, learn, stability
from apsl_rules.data import GroupSums, MixedTable, table
from apsl_rules.data.levels import levels_of
from apsl_rules.data.moments import Embedding, KeptMoments
from apsl_rules.errors import ApslError
from apsl_rules.evidence import verdict_data, verdict_of, verdict_text
from apsl_rules.parts import load_part
from apsl_rules.rules import Mark


def clustered(correlation: float = 0.9, seed: int = 0, groups: int = 40, size: int = 20) -> pd.DataFrame:
    """Draw columns with effects of groups: z depends on x, and y on nothing."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)

    def noise() -> Floats:
        between, inside = random.normal(size=groups)[group], random.normal(size=len(group))
        found: Floats = np.sqrt(correlation) * between + np.sqrt(1 - correlation) * inside
        return found

    x, y = noise(), noise()
    frame = pd.DataFrame({"x": x, "y": y, "z": 0.5 * x + random.normal(size=len(group))})
    frame["big"] = random.normal(size=groups)[group]
    frame["kind"] = np.array(list("abc"))[random.integers(0, 3, len(group))]
    frame["school"] = [f"s{one:02}" for one in group]
    return frame


def moments(frame: pd.DataFrame, **reading: object) -> KeptMoments:
    """Return the moments of a frame, numbers by their values."""
    opened = open_dataset(frame, reading)
    assert isinstance(opened, MixedTable)
    return moments_of(opened, Embedding("values", 1))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(2, 6), st.booleans())
def test_levels_are_those_of_the_definition(seed: int, groups: int, most: int, is_weighted: bool) -> None:
    """Deviations from means of groups, means by what they are worth, and rows that count, one by one."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, most + 2, groups)
    group = np.repeat(np.arange(groups), sizes)
    rows = random.normal(size=(len(group), 3)) + random.normal(size=(groups, 3))[group]
    weights = random.uniform(0.5, 2, len(group)) if is_weighted else np.ones(len(group))
    mass = np.bincount(group, weights)
    first = np.array([np.bincount(group, weights * one) for one in rows.T]).T
    squares = np.bincount(group, weights**2).astype(np.float64) if is_weighted else None
    sums = GroupSums(("a", "b", "c"), np.ones(3, np.int64), (), mass, first, (rows.T * weights) @ rows, squares=squares)
    found = levels_of(sums, np.ones(3, np.bool_), has_groups=True)

    means = first / mass[:, None]
    effective = weights.sum() ** 2 / (weights**2).sum()
    about = rows - means[group]
    inside = (about.T * weights) @ about / weights.sum()
    assert found.inside.matrix == pytest.approx(inside, abs=1e-9)
    assert found.inside.rows == pytest.approx(max(effective - groups + 1, 1))
    scaled = mass * effective / weights.sum()
    whole = rows - (weights[:, None] * rows).sum(axis=0) / weights.sum()
    total = effective * np.diag((whole.T * weights) @ whole) / weights.sum()
    size = (effective - (scaled**2).sum() / effective) / (groups - 1)
    of_rows = effective * np.diag(inside) / max(effective - groups, 1.0)
    of_means = (total - effective * np.diag(inside)) / (groups - 1)
    share = np.clip((of_means - of_rows) / (of_means + (size - 1) * of_rows), 0, 1)
    assert found.correlations == pytest.approx(share)
    worth = scaled / (1 + np.maximum(scaled - 1, 0) * share.mean())
    worth /= worth.mean()
    centred = means - (worth[:, None] * means).sum(axis=0) / worth.sum()
    assert found.between is not None
    assert found.between.matrix == pytest.approx((centred.T * worth) @ centred / groups, abs=1e-9)
    by_rows = levels_of_rows([one[:, None] for one in rows.T], group, weights if is_weighted else None, has_groups=True)
    assert by_rows.between is not None
    assert by_rows.inside.matrix == pytest.approx(found.inside.matrix, rel=1e-6, abs=1e-9)
    assert by_rows.between.matrix == pytest.approx(found.between.matrix, rel=1e-6, abs=1e-9)
    assert by_rows.inside.rows == pytest.approx(found.inside.rows)


def ratio(matrix: Floats, x: int, y: int, given: list[int]) -> float:
    """Return ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz|."""

    def log(places: list[int]) -> float:
        return float(np.linalg.slogdet(matrix[np.ix_(places, places)])[1]) if places else 0.0

    return log([x, *given]) + log([y, *given]) - log(given) - log([x, y, *given])


@pytest.mark.parametrize("given", [(), ("z",), ("big", "z")])
def test_a_test_adds_both_levels(given: tuple[str, ...]) -> None:
    """The statistic is the sum of Bartlett's corrected ratios; columns that are constant in groups are in one level."""
    data = moments(clustered(), groups="school")
    levels = data.levels(range(4))
    assert levels.between is not None
    oracle = MomentOracle(data, alpha=0.01)
    verdict = oracle.verdict("x", "y", given)
    places = [data.place[one] for one in ("x", "y", *given)]
    inner = [place for place in places[2:] if place != data.place["big"]]
    inside = (levels.inside.rows - (1 + len(inner)) - 1.5) * ratio(levels.inside.matrix, places[0], places[1], inner)
    between = (levels.between.rows - (1 + len(given)) - 1.5) * ratio(
        levels.between.matrix, places[0], places[1], places[2:]
    )

    assert verdict.dof == 2
    assert verdict.statistic == pytest.approx(inside + between)
    assert verdict.inside == pytest.approx(inside)
    assert f"{verdict.inside:.4g} (inside 40 groups) + " in verdict_text(verdict)
    assert verdict_of(verdict_data(verdict)) == verdict
    constant = oracle.verdict("x", "big")
    assert constant.dof == 1
    assert constant.inside == pytest.approx(0.0)


def test_a_score_adds_both_levels() -> None:
    """A family scores what it scores inside groups and between them, and equivalent graphs score alike."""
    levels = moments(clustered(), groups="school").levels(range(3))
    assert levels.between is not None
    starts, scale = np.arange(4), 2.0**20

    def handle(*chosen: str) -> ScoreHandle:
        made = ScoreHandle(3, scale=scale, penalty=0)
        one = levels.inside if chosen[0] == "inside" else levels.between
        assert one is not None
        made.set_moments(one.matrix, starts, one.rows)
        if len(chosen) > 1 and levels.between is not None:
            made.add_level(levels.between.matrix, starts, levels.between.rows)
        return made

    both, inside, between = handle("inside", "between"), handle("inside"), handle("between")
    for node, parents in ((2, [0]), (2, [0, 1]), (0, [1, 2]), (1, [2])):
        asked = np.array(parents, np.int64)
        apart = inside.local(node, asked) + between.local(node, asked)
        assert both.local(node, asked) == pytest.approx(apart, abs=2)
        others = np.array([one for one in range(3) if one != node], np.int64)
        gains = both.gains(node, asked, others)
        known = inside.gains(node, asked, others) + between.gains(node, asked, others)
        assert gains.tolist() == pytest.approx(known.tolist(), abs=4)


def touching(part: Part, node: str) -> set[frozenset[str]]:
    """Return the edges at a node."""
    return {frozenset(map(str, one)) for one in (*part.arrows, *part.lines) if node in one}


def test_groups_leave_no_false_edge_and_keep_the_true_one() -> None:
    """Independent rows in name alone make edges of effects of groups; two levels do not, told or noticed."""
    false = {"alone": 0, "told": 0, "noticed": 0}
    for seed in range(6):
        frame = clustered(seed=seed).drop(columns=["big", "kind"])
        numbered = frame.assign(pupil=frame.groupby("school").cumcount())
        told = learn(frame, "y", groups="school")
        found = {"alone": learn(frame.drop(columns="school"), "y"), "told": told, "noticed": learn(numbered, "y")}
        for way, part in found.items():
            false[way] += bool({one for one in touching(part, "y") if "pupil" not in one})
        assert frozenset("xz") in touching(learn(frame, "x", groups="school"), "x")
        assert "school" not in told.nodes
        assert told.settings["groups"] == found["noticed"].settings["groups"] == ["school"]
    assert false["alone"] >= 3
    assert false["told"] == false["noticed"] == 0


def heavy(seed: int) -> pd.DataFrame:
    """Draw columns that each depend on the last two, with heavy tails inside groups and between them."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(60), 25)
    made: list[Floats] = []
    for _ in range(5):
        noise = random.standard_t(3, 60)[group] + random.standard_t(3, len(group))
        made.append(noise + sum(0.6 * one for one in made[-2:]))
    frame = pd.DataFrame(dict(zip("abcde", made, strict=True)))
    frame["school"] = group.astype(str)
    return frame


def test_what_is_straight_inside_groups_is_taken_as_it_is(tmp_path: Path) -> None:
    """Ranks over all rows bend it and join a and e; every engine takes it as it is."""
    frame = heavy(2)
    frame.to_parquet(tmp_path / "rows.parquet")
    for rows, counts in ((frame, "memory"), (tmp_path / "rows.parquet", "duckdb")):
        part = learn(rows, "c", groups="school", depth="max", counts=counts)
        assert part.edges == {frozenset(pair) for pair in ("ab", "ac", "bc", "bd", "cd", "ce", "de")}
        assert any("straight inside groups" in note for note in part.notes)


def test_exponentials_inside_groups_stay_by_their_ranks() -> None:
    """What is straight by ranks alone is not taken as it is."""
    random = np.random.default_rng(3)
    group = np.repeat(np.arange(60), 25)
    x = random.normal(size=60)[group] + random.normal(size=len(group))
    y = 0.6 * x + random.normal(size=60)[group] + random.normal(size=len(group))
    frame = pd.DataFrame({"x": np.exp(x), "y": np.exp(y), "school": group.astype(str)})
    assert not any("taken as" in note for note in learn(frame, "y", groups="school").notes)


def test_what_is_constant_in_groups_comes_first() -> None:
    """A column of the group is no effect of one that varies inside, and the proof says so."""
    frame = clustered(0.3, seed=2, groups=60)
    frame["y"] += frame["big"]
    part = learn(frame, "y", groups="school")
    assert ("big", "y") in part.arrows
    assert "big is the same in all rows of a group, and y is not" in str(part.why("big", "y"))


@pytest.mark.parametrize("gaps", [False, True])
def test_every_engine_gives_the_same_part(tmp_path: Path, *, gaps: bool) -> None:
    """In memory, in DuckDB and in a database through ibis, groups and weights of a sample give one part."""
    import ibis

    frame = clustered(0.4, seed=3)
    frame["w"] = np.random.default_rng(1).uniform(0.5, 2, len(frame))
    if gaps:
        frame.loc[::9, "x"] = np.nan
        frame.loc[::13, "kind"] = None
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    rows = ibis.duckdb.connect().read_parquet(path)
    how: dict[str, str] = {"groups": "school", "sampling_weights": "w"}
    parts = [learn(frame, "z", 2, **how), learn(path, "z", 2, counts="duckdb", **how), learn(rows, "z", 2, **how)]  # type: ignore[arg-type]
    assert touching(parts[0], "x")
    for part in parts[1:]:
        assert (part.arrows, part.lines) == (parts[0].arrows, parts[0].lines)


def test_weights_of_a_sample_count_as_rows_do() -> None:
    """Equal weights change nothing; others give the estimates of rows written as often, and fewer rows' evidence."""
    frame = clustered(0.0, seed=4).drop(columns=["school", "kind", "big"])
    times = np.random.default_rng(2).integers(1, 4, len(frame))
    repeated = moments(frame.loc[np.repeat(frame.index, times)], groups=())
    whole = moments(frame.assign(w=1.5), groups=(), sampling_weights="w").levels(range(3)).inside
    levels = moments(frame.assign(w=times / 2), groups=(), sampling_weights="w").levels(range(3)).inside
    assert whole.matrix == pytest.approx(moments(frame, groups=()).covariance(range(3)))
    assert whole.rows == pytest.approx(len(frame))
    scale = np.sqrt(np.outer(np.diag(levels.matrix), np.diag(levels.matrix)))
    assert levels.matrix / scale == pytest.approx(np.corrcoef(repeated.source.table.numbers), abs=1e-9)  # type: ignore[attr-defined]
    assert levels.rows == pytest.approx(times.sum() ** 2 / (times**2).sum())
    with pytest.raises(ApslError, match="'w' cannot be weights, because it has negative values"):
        table(frame.assign(w=-1.0), sampling_weights="w")


def test_resamples_draw_whole_groups() -> None:
    """A resample has as many groups as the table, and an edge of the rows inside comes back in all."""
    found = stability(clustered(0.5, seed=5), "z", resamples=8, seed=1, groups="school")
    assert found.of("x", "z").edge == 1.0
    assert not [row for row in found.rows() if {"y", "z"} <= {row["source"], row["target"]}]


def test_groups_are_noticed_or_named() -> None:
    """A key acts by itself, what the caller speaks of gets a note, and None takes rows as independent."""
    frame = clustered(0.5).drop(columns="kind")
    keyed = frame.assign(year=frame.groupby("school").cumcount() + 2000)
    read = table(keyed, groups="auto")
    assert read.roles == {"groups": ("school",)}
    assert "rows come in 40 groups by 'school' ('year' tells them apart): worth about" in read.notes[0]
    assert "groups=None" in read.notes[0]
    assert table(keyed).roles == table(keyed, groups=None).roles == {}
    named = table(keyed, groups="auto", kinds={"school": "category"})
    assert (dict(named.roles), "groups='school'" in named.notes[0]) == ({}, True)
    assert "big" not in table(frame, groups="auto").names or table(frame, groups="auto").roles == {}
    random = np.random.default_rng(0)
    independent = pd.DataFrame(random.integers(0, 12, (400, 5)), columns=list("abcde"))
    assert not table(independent, groups="auto").roles
    both = table(keyed.assign(year=keyed["year"] % 4), groups=["school", "year"])
    assert both.roles["groups"] == ("school", "year")
    assert "160 groups by 'school', 'year'" in both.notes[0]


def test_what_cannot_be_a_group_is_refused() -> None:
    """One group, an unknown column, two roles, and a test that counts get a sentence."""
    frame = clustered()
    with pytest.raises(ApslError, match="the rows have 1 group by 'one', and at least 2 are needed"):
        learn(frame.assign(one="a"), "x", groups="one")
    with pytest.raises(ApslError, match="unknown column in groups 'skool'; did you mean 'school'"):
        learn(frame, "x", groups="skool")
    with pytest.raises(ApslError, match="column 'school' is given two roles"):
        learn(frame, "x", groups="school", sampling_weights="school")
    with pytest.raises(ApslError, match="says which rows belong together, so it is no variable; give groups=None"):
        learn(frame, "school", groups="school")
    with pytest.raises(ApslError, match="needs sums, and this test counts rows"):
        learn(frame, "x", groups="school", oracle="gsquare", discretize="quantile:3")


def test_an_edge_that_differs_from_group_to_group_is_doubtful() -> None:
    """Slopes whose mean is nothing make a test inside groups sure; the design effect takes that back and says so."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 60)
    x = random.normal(size=1800)
    frame = pd.DataFrame({"x": x, "y": (0.8 * random.normal(size=30))[group] * x + random.normal(size=1800)})
    frame["z"] = 0.4 * x + random.normal(size=1800)
    frame["school"] = [f"s{one:02}" for one in group]
    data = moments(frame, groups="school")
    assert design_effect(data, "x", "y") > 5
    assert design_effect(data, "x", "z") < 2
    part = learn(frame, "x", groups="school")
    edge = {frozenset((row["source"], row["target"])): row["probability"] for row in part.rows()}
    assert edge[frozenset("xz")] > 0.9
    assert edge.get(frozenset("xy"), 0.0) < 0.6
    told = [note for note in part.notes if "is doubtful, since it differs from group to group" in note]
    assert [note for note in told if " x " in note and " y " in note]
    assert part.doubtful == {frozenset("xy")}
    assert "├┄┄┄ y" in part.picture()
    assert "└─── z" in part.picture()
    assert "┄┄┄ edge doubtful" in part.picture()
    dotted = [line for line in part.svg().splitlines() if 'stroke-dasharray="1.5 4"' in line]
    assert len(dotted) == 1
    assert "dotted: doubtful" in part.svg()


def test_a_part_with_groups_is_read_again(tmp_path: Path) -> None:
    """The columns of groups are among its settings."""
    part = learn(clustered(), "z", groups="school")
    part.save(tmp_path / "part.json")

    assert load_part(tmp_path / "part.json").settings["groups"] == ["school"]


def test_means_that_are_all_the_same_do_not_vary() -> None:
    """In a panel whose years are the same in all groups, where values are missing, means of years are no rounding."""
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(48), 7)
    level = random.normal(size=48)[groups]
    frame = pd.DataFrame({"state": [f"s{one}" for one in groups], "year": np.tile(np.arange(1982, 1989), 48)})
    frame["jobs"] = (level + 0.1 * frame.year + random.normal(size=len(frame))).round(3)
    frame["tax"] = (level + random.normal(size=len(frame))).round(3)
    frame.loc[3, "tax"] = np.nan
    part = learn(frame, "jobs", groups="state")
    assert "tax" in part.neighbours_of("jobs")


def test_columns_that_no_row_has_together_are_unknown() -> None:
    """In groups too, a pair without a row that has both is neither drawn nor absent."""
    frame = clustered()
    half = len(frame) // 2
    frame.loc[: half - 1, "y"] = np.nan
    frame.loc[half:, "kind"] = None
    frame.loc[half:, "x"] = np.nan
    part = learn(frame, "y", groups="school")
    assert part.mark("x", "y") is Mark.UNKNOWN
    assert part.mark("kind", "y") is Mark.UNKNOWN
