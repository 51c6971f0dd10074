"""Fitted parts: probabilities, interventions, predictions, and other tools that read them."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, effect, learn, network
from apsl_rules.effects import Fitted
from apsl_rules.errors import ApslError
from apsl_rules.graphs.networks import joint, parse_bif, sample
from apsl_rules.parts import Part, load_part


def asia_part(depth: int = 2) -> Part:
    """Return the part of asia around ``either`` with every arrow known."""
    known = network("asia")
    return learn(known, "either", depth=depth, knowledge=Knowledge(required=list(known.dag.edges)))


def frame_of(rows: int, seed: int = 1) -> pd.DataFrame:
    """Draw rows of asia."""
    drawn = sample(network("asia"), rows, seed=seed)
    named = zip(drawn.names, drawn.levels, drawn.codes, strict=True)
    return pd.DataFrame({str(name): np.array(levels)[codes] for name, levels, codes in named})


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    """Return the part fitted to many rows."""
    return asia_part().fit(frame_of(20_000))


def test_many_rows_give_the_true_probabilities(fitted: Fitted) -> None:
    """Queries are near those of the network that the rows were drawn from."""
    true = joint(network("asia"), ["xray", "lung"])
    found = fitted.query("xray", given={"lung": "yes"})

    assert sum(found.values()) == pytest.approx(1)
    assert found["yes"] == pytest.approx(true[0, 0] / true[:, 0].sum(), abs=0.02)


def test_tables_are_counts_with_a_prior() -> None:
    """A cell is its rows and its share of the prior, over their sum."""
    frame = pd.DataFrame({"tub": ["no", "no", "yes"], "lung": ["no", "yes", "no"]}).assign(either=["no", "yes", "yes"])
    part = learn(network("asia"), "either", knowledge=Knowledge(required=list(network("asia").dag.edges)))
    fitted = part.fit(frame.assign(xray=["no", "yes", "no"], dysp=["no", "no", "yes"]), prior=2)

    assert fitted.network.tables["tub"].tolist() == pytest.approx([3 / 5, 2 / 5])


def test_setting_is_not_seeing(fitted: Fitted) -> None:
    """Setting an effect says nothing of its cause; setting a cause changes what follows, as the estimate says."""
    seen, plain = fitted.query("lung", {"xray": "yes"})["yes"], fitted.query("lung")["yes"]

    assert fitted.do(xray="yes").query("lung")["yes"] == pytest.approx(plain)
    assert seen > 5 * plain
    by_do = [fitted.do({"either": level}).query("dysp")["yes"] for level in ("yes", "no")]
    assert by_do[0] - by_do[1] == pytest.approx(0.3, abs=0.1)


def test_setting_agrees_with_the_effect() -> None:
    """With the whole graph known, the effect by do is that by adjustment, apart from the prior."""
    known, rows = network("asia"), frame_of(20_000)
    part = learn(known, "smoke", depth="max", knowledge=Knowledge(required=list(known.dag.edges)))
    fitted = part.fit(rows, prior=1e-9)
    by_do = [fitted.do(smoke=level).query("dysp")["yes"] for level in ("yes", "no")]
    found = effect(part, "smoke", "dysp", data=rows)

    assert found.bounds is not None
    assert found.bounds[0] < by_do[0] - by_do[1] < found.bounds[1]


def test_prediction_is_what_inference_gives(fitted: Fitted) -> None:
    """The product over families is exact inference, also where a value is missing or a column absent."""
    rows = frame_of(40, seed=3).drop(columns="asia")
    rows.loc[0, "lung"] = None
    shares = fitted.predict(rows)
    for number in range(len(rows)):
        seen: dict[Hashable, Any] = {
            node: level
            for node, level in rows.loc[number].items()
            if node != "either" and level in ("yes", "no") and node in fitted.blanket
        }
        assert shares.loc[number].to_dict() == pytest.approx(fitted.query("either", seen))
    assert fitted.log_loss(rows) == pytest.approx(
        -np.mean([np.log(shares.loc[number, level]) for number, level in enumerate(rows["either"])])
    )


def test_one_row_is_predicted(fitted: Fitted) -> None:
    """A single row, of which every column is constant, is predicted as any other."""
    one = fitted.predict(pd.DataFrame({"lung": ["yes"], "tub": ["no"]}))

    assert one.loc[0].to_dict() == pytest.approx(fitted.query("either", {"lung": "yes", "tub": "no"}))


def test_log_loss_is_the_same_from_files(fitted: Fitted, tmp_path: Path) -> None:
    """Text and Parquet give the same, and counts are enough for a log-loss."""
    rows = frame_of(500, seed=4)
    rows.to_parquet(tmp_path / "rows.parquet")
    rows.to_csv(tmp_path / "rows.csv", index=False)

    assert fitted.log_loss(tmp_path / "rows.csv") == pytest.approx(fitted.log_loss(rows))
    assert fitted.log_loss(tmp_path / "rows.parquet", counts="duckdb") == pytest.approx(fitted.log_loss(rows))


def test_numbers_that_were_cut_are_found_again() -> None:
    """A part fitted to cut numbers predicts raw ones: each lies in the interval that the cut gave it."""
    rng = np.random.default_rng(2)
    age = rng.integers(18, 80, 1500)
    ill = np.where(rng.random(1500) < (age - 10) / 80, "yes", "no")
    frame = pd.DataFrame({"age": age, "ill": ill})
    known = Knowledge(required=[("age", "ill")])
    part = learn(frame, "ill", depth=2, knowledge=known, discretize="quantile:3")
    fitted = part.fit(frame)
    shares = fitted.predict(pd.DataFrame({"age": [5, 20, 45.5, 79, 200]}))["yes"].tolist()

    assert shares[0] == shares[1] < shares[2] < shares[3] == shares[4]
    assert fitted.log_loss(frame) < 0.65


def test_a_better_part_predicts_better() -> None:
    """The part of the truth has a lower log-loss on new rows than a part without the parents."""
    train, test = frame_of(3000), frame_of(2000, seed=9)
    whole = asia_part().fit(train)
    known = network("asia")
    alone = learn(known, "asia", knowledge=Knowledge(required=list(known.dag.edges))).fit(train)

    assert whole.log_loss(test) < 0.1
    assert alone.target == "asia"


@pytest.mark.release
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")  # pgmpy's own
def test_other_tools_read_it(fitted: Fitted) -> None:
    """BIF keeps every number; pgmpy infers the same; the R script has the structure and all tables."""
    from pgmpy.inference import VariableElimination

    assert parse_bif(fitted.to_bif()).tables.keys() == fitted.network.tables.keys()
    back = parse_bif(fitted.to_bif())
    assert all(np.array_equal(back.tables[node], fitted.network.tables[node]) for node in back.dag.nodes)
    model = fitted.to_pgmpy()
    assert model.check_model()
    asked = VariableElimination(model).query(["dysp"], evidence={"lung": "yes"}, show_progress=False)
    theirs = {level: asked.get_value(dysp=level) for level in ("yes", "no")}
    assert fitted.query("dysp", {"lung": "yes"}) == pytest.approx(theirs, abs=1e-10)
    script = fitted.to_bnlearn()
    assert script.startswith("library(bnlearn)\nstructure <- model2network(")
    assert script.count(" = array(c(") == len(fitted.network.dag.nodes)


def test_a_saved_part_fits_as_well(tmp_path: Path) -> None:
    """A part that was learned from a table, saved and read again, is fitted to the same tables."""
    rows = frame_of(3000)
    part = learn(rows, "either")
    part.save(tmp_path / "part.json")

    again = load_part(tmp_path / "part.json")

    assert again.fit(rows, open_edges="direct").network == part.fit(rows, open_edges="direct").network


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda one: one.query("Dysp"), "did you mean 'dysp'"),
        (lambda one: one.query("dysp", {"lung": "maybe"}), "'lung' has no level 'maybe'; the levels are 'no', 'yes'"),
        (lambda one: one.query("dysp", {"dysp": "yes"}), "asked for and given"),
        (lambda one: one.do(), "name a node and its level"),
        (lambda one: one.log_loss(frame_of(5).drop(columns="either")), "no column 'either', which is the target"),
    ],
)
def test_wrong_questions_get_one_sentence(fitted: Fitted, ask: object, sentence: str) -> None:
    """The sentence says what is wrong and what there is."""
    assert callable(ask)
    with pytest.raises(ApslError, match=sentence):
        ask(fitted)


def test_what_cannot_be_fitted_is_refused() -> None:
    """Open lines, numbers and a prior of nothing are refused in words."""
    rows = frame_of(2000)
    open_part = learn(network("asia"), "smoke")

    with pytest.raises(ApslError, match="knows arrows only, and this graph has 2 undirected edges"):
        open_part.fit(rows)
    with pytest.raises(ApslError, match="this graph allows hidden causes"):
        learn(network("asia"), "smoke", hidden="allowed").fit(rows)
    with pytest.raises(ApslError, match="the part is incomplete and cannot be fitted"):
        learn(rows, "smoke", max_tests=1).fit(rows)
    with pytest.raises(ApslError, match="prior is 0"):
        asia_part().fit(rows, prior=0)
    with pytest.raises(ApslError, match="'dysp' is a number"):
        asia_part().fit(rows.assign(dysp=np.random.default_rng(1).normal(size=len(rows))))
    assert open_part.fit(rows, open_edges="direct").query("smoke")["yes"] == pytest.approx(0.5, abs=0.05)


def test_a_table_without_the_columns_of_the_part_is_refused(tmp_path: Path) -> None:
    """The sentence names the columns that are missing and asks for the table of the part, whatever is asked of it."""
    random = np.random.default_rng(5)
    cause = random.normal(size=300)
    part = learn(pd.DataFrame({"cause": cause, "result": cause + random.normal(size=300)}), "result")
    other = pd.DataFrame({"height": cause, "weight": random.normal(size=300)})
    sentence = "the table has no column 'cause', 'result' of the part around 'result'; give the table that the part"
    with pytest.raises(ApslError, match=sentence):
        part.fit(other, open_edges="direct")
    with pytest.raises(ApslError, match=sentence):
        part.report(tmp_path / "part.html", data=other)
