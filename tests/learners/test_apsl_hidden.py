"""Learning with hidden causes from tables: right marks, proofs, knowledge, any source, and notes of ordinary runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, learn, learn_graph, learn_many, network, stability
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evaluation import score
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import MarkedGraph, Part, load_part
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules import Mark
from support.scoring import strong_network


def categories(rows: int = 20_000, seed: int = 1) -> pd.DataFrame:
    """Draw H -> A, H -> B, C -> A, D -> B as yes and no, without H."""
    random = np.random.default_rng(seed)
    h, c, d = random.random((3, rows)) < 0.5
    a = random.random(rows) < 0.1 + 0.4 * h + 0.4 * c
    b = random.random(rows) < 0.1 + 0.4 * h + 0.4 * d
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d}).replace({True: "yes", False: "no"})


def numbers(rows: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Draw the same with numbers."""
    random = np.random.default_rng(seed)
    h, c, d = random.normal(size=(3, rows))
    a = 0.8 * h + 0.8 * c + 0.5 * random.normal(size=rows)
    b = 0.8 * h + 0.8 * d + 0.5 * random.normal(size=rows)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d})


def has_it_right(part: Part) -> bool:
    """Return whether a part has A <-> B, C o-> A and D o-> B, and nothing else."""
    return part.graph() == MarkedGraph("ABCD", partial=["CA", "DB"], bidirected=["AB"])


@pytest.mark.parametrize("frame", [categories(), numbers()], ids=["categories", "numbers"])
def test_a_hidden_cause_is_found(frame: pd.DataFrame) -> None:
    """Every target and depth; the default without hidden causes draws an arrow between A and B instead."""
    for target in "ABCD":
        assert has_it_right(learn(frame, target, depth="max", hidden="allowed"))
    near = learn(frame, "A", hidden="allowed")
    wrong = learn(frame, "A", depth="max")

    assert near.bidirected == {frozenset("AB")}
    assert (near.end("A", "C"), near.end("C", "A")) == ("arrow", "circle")
    assert not wrong.allows_hidden
    assert frozenset("AB") in wrong.edges


def test_each_end_has_a_proof_down_to_tests() -> None:
    """The proof of an arrowhead is a collider, with the test that separates and the one that opens."""
    part = learn(categories(), "A", depth=2, hidden="allowed")
    text = str(part.why("A", "B"))

    assert text.startswith("B *-> A   [FCI-R0]\n  A is a collider between B and C   [gsquare: ")
    assert "B ⊥ C (G²" in text
    assert "B not ⊥ C | A (G²" in text
    assert str(part.why("C", "A")).startswith("A -- C   [gsquare: no set tried separates them; A not ⊥ C")
    assert part.hidden_causes_at("A") == ("B", "C")


def test_a_part_is_saved_and_read(tmp_path: Path) -> None:
    """Marks, proofs and conflicts come back; a file with other marks is refused."""
    part = learn(categories(), "A", depth=2, hidden="allowed")
    part.save(tmp_path / "part.json")
    torn = learn(sample(network("insurance"), 1500, seed=3), "Accident", depth=2, hidden="allowed")

    assert load_part(tmp_path / "part.json") == part
    assert parse_part(part_json(torn), "file") == torn
    text = part_json(part)
    with pytest.raises(ValueError, match="bidirected edges are not those that the findings give"):
        parse_part(text.replace('"bidirected":[[0,1]]', '"bidirected":[]'), "file")


def test_the_order_of_columns_does_not_matter() -> None:
    """The same marks and proofs for any order of the columns, and for other names of them."""
    frame = sample(network("child"), 800, seed=5)
    table = pd.DataFrame({name: frame.codes[at] for at, name in enumerate(frame.names)}).astype(str)
    one = learn(table, "Disease", hidden="allowed")
    other = learn(table[table.columns[::-1]], "Disease", hidden="allowed")

    assert (one.arrows, one.partial, one.lines) == (other.arrows, other.partial, other.lines)
    assert one.proofs == other.proofs


def test_counts_from_elsewhere_give_the_same_part(tmp_path: Path) -> None:
    """DuckDB counts in the file, and the part has the same marks and proofs."""
    frame = categories(4000)
    frame.to_parquet(tmp_path / "rows.parquet")
    here = learn(frame, "A", depth=2, hidden="allowed")
    there = learn(tmp_path / "rows.parquet", "A", depth=2, hidden="allowed", counts="duckdb")

    assert has_it_right(here)
    assert here.proofs == there.proofs


def test_tiers_turn_ends() -> None:
    """What comes later is no cause: an arrowhead at the later end, and nothing for the other."""
    frame = categories()
    part = learn(frame, "A", depth=2, hidden="allowed", knowledge=Knowledge(tiers=[["C", "D"], ["A", "B"]]))

    assert has_it_right(part)
    late = learn(frame[["A", "B"]], "A", hidden="allowed", knowledge=Knowledge(tiers=[["A"], ["B"]]))
    assert late.partial == {("A", "B")}
    assert "given: B is in tier 2 and A in tier 1" in str(late.why("B", "A"))


def test_required_and_absent_edges_are_kept() -> None:
    """A required arrow stands although tests separate it, as a conflict; nodes said to be apart are."""
    frame = categories(4000)
    part = learn(frame, "C", depth=2, hidden="allowed", knowledge=Knowledge(required=[("C", "D")]))

    assert ("C", "D") in part.arrows
    assert [(one.pair, one.kind) for one in part.conflicts] == [(("C", "D"), "edge")]
    apart = learn(frame, "A", hidden="allowed", knowledge=Knowledge(apart=[("A", "B")]))
    assert frozenset("AB") not in apart.edges
    assert [one.kind for one in apart.conflicts] == ["edge"]
    both = learn(frame, "A", hidden="allowed", knowledge=Knowledge(forbidden=[("A", "B"), ("B", "A")]))
    assert both.bidirected == {frozenset("AB")}


def test_limits_end_a_run() -> None:
    """A run that meets a limit says so."""
    part = learn(sample(network("alarm"), 500, seed=1), "CO", hidden="allowed", max_tests=40)

    assert part.incomplete is not None


def test_missing_values_and_many_targets() -> None:
    """Tests leave out rows with missing values; graphs and many targets work as ever."""
    frame = categories(6000).astype(object)
    frame.loc[::25, "C"] = None

    assert has_it_right(learn(frame, "A", depth="max", hidden="allowed"))
    graph = learn_graph(frame, hidden="allowed")
    assert graph.bidirected == {frozenset("AB")}
    assert graph.end("A", "C") == "arrow"
    assert graph.graph().hidden
    union = learn_many(frame, ["A", "B"], hidden="allowed").union
    assert union.bidirected == {frozenset("AB")}
    assert "bidirected=1, partial=2" in repr(graph)


def test_what_knows_arrows_only_refuses() -> None:
    """Scores, stability and graphs of arrows say what to do."""
    frame = categories(2000)
    part = learn(frame, "A", hidden="allowed")
    with pytest.raises(InvalidArgumentError, match="marks at both ends"):
        score(part, {"A": [], "B": [], "C": [], "D": []})
    with pytest.raises(InvalidArgumentError, match="leave out hidden='allowed'"):
        stability(frame, "A", hidden="allowed")
    with pytest.raises(ValueError, match="learn with hidden='excluded'"):
        learn_graph(frame, hidden="allowed").dag()
    with pytest.raises(InvalidArgumentError, match="hidden is 'maybe'; give 'possible'"):
        learn(frame, "A", hidden="maybe")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidArgumentError, match="'apsl-score' assumes that no common cause is hidden"):
        learn(frame, "A", hidden="allowed", learner="apsl-score")


@pytest.mark.parametrize("frame", [categories(), numbers()], ids=["categories", "numbers"])
def test_an_ordinary_run_warns(frame: pd.DataFrame) -> None:
    """The note names the pair, what shows it, and what to do; a part with hidden causes has other notes."""
    warned = [note for note in learn(frame, "A").notes if "hidden cause" in note]

    shown = "C is independent of B but not given A, and D is independent of A but not given B"
    assert warned == [f"A and B may share a hidden cause: {shown}; learn with hidden='allowed'"]
    notes = learn(frame, "A", hidden="allowed").notes
    assert not any("may share" in note for note in notes)
    assert any(note.startswith("marks allow hidden common causes") for note in notes)


def test_contradicting_v_structures_warn() -> None:
    """Tests alone prove both directions; so does a known graph with a hidden node."""
    frame = categories()
    by_tests = learn(frame, "A", depth=2, learner="apsl")
    clear = learn(sample(network("asia"), 5000, seed=2), "lung", depth="max")

    assert any("A and B may share a hidden cause: V-structures on either side" in note for note in by_tests.notes)
    assert not any("may share" in note for note in clear.notes)


def test_a_duplicate_hides_no_edge() -> None:
    """One of two duplicates has the edges of both; those of the other are unknown, and a note says so."""
    graph = Dag({"H": [], "C": [], "D": [], "A": ["H", "C"], "B": ["H", "D"]})
    rows = sample(strong_network(graph, seed=3), 20_000, seed=1)
    frame = pd.DataFrame({node: rows.codes[rows.place[node]].astype(str) for node in "ABCD"})
    frame["Twin"] = frame["C"].map({"0": "no", "1": "yes"})
    part = learn(frame, "A", hidden="allowed")
    assert part.neighbours_of("A") == ("B", "C")
    assert part.mark("A", "Twin") is Mark.UNKNOWN
    assert "no data can tell which of the two has it" in str(part.why("A", "Twin"))
    assert any("duplicate columns: 'C', 'Twin'" in note for note in part.notes)
    assert learn(frame, "Twin", hidden="allowed").neighbours_of("Twin") == ("A",)
