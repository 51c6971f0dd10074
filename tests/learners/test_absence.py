"""Absence on tables with numbers: witnesses of gaps, pairs left open, pairs that no test can decide, and near ties."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Part, learn, load
from apsl_rules.errors import ApslError
from apsl_rules.evidence import times
from apsl_rules.parts import statements_on
from apsl_rules.rules import Mark, collider, left_open
from apsl_rules.rules import gap as gap_relation
from support.golden import frames


def _weak(rows: int = 400) -> pd.DataFrame:
    """Draw x and y of which a third hidden number makes a weak dependence, and z that follows y."""
    random = np.random.default_rng(11)
    x, y, u = random.normal(size=(3, rows))
    y = y + 0.13 * x
    return pd.DataFrame({"x": x, "y": y, "z": y + random.normal(size=rows), "u": u})


@pytest.fixture(scope="module")
def part() -> Part:
    """Return the part around x, whose dependence on y is too weak for an edge and too strong for a gap."""
    return learn(_weak(), "x", depth="max", hidden="excluded")


def test_every_gap_cites_an_accepted_test(part: Part) -> None:
    """A proof of a gap has the set that separates the two, and the test that says so."""
    gaps = [(x, y) for x, y in combinations(part.nodes, 2) if part.mark(x, y) is Mark.GAP]
    assert gaps
    for x, y in gaps:
        (finding,) = part.why(x, y).findings
        assert finding.fact == gap_relation.fact(x, y)
        assert [(one.independent, {one.x, one.y}) for one in finding.evidence.verdicts] == [(True, {x, y})]


def test_a_pair_that_no_set_separates_is_open(part: Part) -> None:
    """It is neither an edge nor a gap, and the proof says with which p, and how many rows would settle it."""
    assert part.mark("x", "y") is Mark.OPEN
    assert frozenset("xy") not in part.gaps
    (finding,) = part.why("x", "y").findings
    assert finding.evidence.note.startswith("left open: they depend on each other whatever is given (p = ")
    assert finding.evidence.note.endswith("rows would settle it")
    told = "left open, since each depends on it whatever is given, too weakly for an edge: y (p = "
    assert any(str(one).startswith(told) for one in statements_on(part))


def test_more_rows_settle_an_open_pair() -> None:
    """With several times the rows that are named, the edge is drawn."""
    assert learn(_weak(4_000), "x", hidden="excluded").mark("x", "y").is_edge


def test_what_graphs_nearly_as_good_answer_otherwise_is_open() -> None:
    """An edge that a near graph has not is not drawn, and a pair that one joins is no gap; the proof has the nats."""
    part = learn(frames()["asia"], "asia", hidden="possible")
    (edge,), (missing,) = (part.why("asia", other).findings for other in ("xray", "either"))
    assert edge.fact.relation == missing.fact.relation == "open"
    for finding, has in ((edge, "without"), (missing, "with")):
        nats = finding.evidence.nats
        assert nats is not None
        assert 0 <= nats < 3
        lead = f"{times(nats)} as probable as one {has} this edge ({nats:.2g} nats)"
        assert finding.evidence.note == f"left open: the graph found is only {lead}"
        assert finding.evidence.verdicts
    assert not part.edges
    (told,) = (str(one) for one in statements_on(part) if one.kind == "undecided")
    assert told.startswith("left open, since graphs that are nearly as good disagree: either (1.2 nats)")


def _dense(width: int, rows: int, seed: int) -> pd.DataFrame:
    """Draw numbers of which each has two in five of those before it as causes."""
    random, columns = np.random.default_rng(seed), np.zeros((width, rows))
    for at in range(width):
        causes = [one for one in range(at) if random.random() < 0.4]
        weights = [random.uniform(0.3, 0.9) * random.choice([-1, 1]) for _ in causes]
        columns[at] = np.dot(weights, columns[causes]) + random.normal(size=rows)
    return pd.DataFrame({f"c{at:02}": column for at, column in enumerate(columns)})


def test_where_starts_disagree_the_pairs_are_data(tmp_path: Path) -> None:
    """A note names the pairs in which near graphs differ from the one found; a saved part keeps them."""
    part = learn(_dense(20, 80, 2), "c08", hidden="excluded")
    assert part.disputed
    for (x, y), nats in ((sorted(map(str, pair)), nats) for pair, nats in part.disputed.items()):
        assert 0 <= nats < 5
        has = "without" if part.mark(x, y).is_edge else "with"
        assert any(f"{has} {x} -- {y} ({nats:.2g} nats behind)" in note for note in part.notes)
    part.save(tmp_path / "part.json")
    loaded = load(tmp_path / "part.json")
    assert isinstance(loaded, Part)
    assert loaded.disputed == part.disputed


def test_no_collider_rests_on_an_open_pair() -> None:
    """Two causes whose dependence is left open do not make a V-structure at their effect."""
    frame = _weak()
    frame["z"] = frame["x"] + frame["y"] + np.random.default_rng(2).normal(size=len(frame))
    part = learn(frame, "z", hidden="excluded")
    assert part.mark("x", "y") is Mark.OPEN
    assert collider.fact("x", "z", "y") not in part.store
    assert part.lines == {frozenset("xz"), frozenset("yz")}


def test_pairs_without_a_reliable_test_are_unknown() -> None:
    """Two columns that are hardly seen together are neither apart nor open."""
    frame = _weak()
    odd = np.arange(len(frame)) % 2 == 1
    frame["x"], frame["u"] = frame["x"].where(odd), frame["u"].where(~odd)
    assert learn(frame, "x", hidden="excluded").mark("x", "u") is Mark.UNKNOWN


def test_open_pairs_are_saved_and_checked(part: Part, tmp_path: Path) -> None:
    """A part file keeps them; one with a relation that nobody knows is refused."""
    part.save(tmp_path / "part.json")
    again = load(tmp_path / "part.json")
    assert again == part
    assert again.mark("x", "y") is Mark.OPEN
    text = (tmp_path / "part.json").read_text("utf-8")
    (tmp_path / "odd.json").write_text(text.replace('"open"', '"maybe"'), "utf-8")
    assert '"open"' in text
    with pytest.raises(ApslError, match="the relation 'maybe' is unknown"):
        load(tmp_path / "odd.json")


def test_a_column_that_serves_almost_as_well_is_named() -> None:
    """The part has it as data and in words; a clear neighbour has none."""
    random = np.random.default_rng(3)
    x, v = random.normal(size=(2, 300))
    w = x + 0.05 * random.normal(size=300)
    frame = pd.DataFrame({"x": x, "w": w, "y": x + random.normal(size=300), "v": v})
    part = learn(frame, "y", hidden="excluded")
    ((pair, others),) = part.alternatives.items()
    assert {*pair, *others} == {"x", "w", "y"}
    assert 0 <= next(iter(others.values())) < 5
    assert "almost as good)" in part.picture()
    assert "almost as good" in part.summary()
    assert not learn(frame[["x", "y", "v"]], "y", hidden="excluded").alternatives


def test_the_relation_is_read_in_words() -> None:
    """A fact of an open pair reads as a sentence."""
    assert left_open.text(("a", "b")) == "whether a and b are adjacent is left open"
