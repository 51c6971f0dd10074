"""The selector inside scikit-learn: pipelines, cross-validation and grid searches on sampled tables."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from apsl_rules import blanket, learn, network
from apsl_rules.errors import DataError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.api import blanket_of
from apsl_rules.learning.sklearn import PartSelector

TABLE = sample(network("asia"), 3000, seed=5)
ROWS = pd.DataFrame(
    {
        name: np.array(levels, dtype=object)[codes]
        for name, levels, codes in zip(TABLE.names, TABLE.levels, TABLE.codes, strict=True)
    }
)
X, Y = ROWS.drop(columns="dysp"), ROWS["dysp"]


def test_the_blanket_of_y_is_selected() -> None:
    """The selected columns are the blanket of y, the frame keeps them as they are, and the part has its proofs."""
    selector = PartSelector().fit(X, Y)
    kept = selector.transform(X)

    assert list(kept.columns) == selector.get_feature_names_out().tolist() == ["bronc", "either"]
    assert kept.equals(X[["bronc", "either"]])
    assert selector.get_support().tolist() == [name in {"bronc", "either"} for name in X.columns]
    assert selector.get_support(indices=True).tolist() == [list(X.columns).index(name) for name in kept.columns]
    assert selector.part_.target == selector.target_ == "y"
    assert "bronc" in str(selector.part_.why("bronc", "y"))


def test_a_part_reaches_further() -> None:
    """With select="part" and a depth of 2 the neighbours of neighbours are selected as well."""
    near = PartSelector(select="part").fit(X, Y)
    wide = PartSelector(select="part", depth=2, target="dysp").fit(X, Y)

    assert near.get_feature_names_out().tolist() == ["bronc", "either"]
    assert set(near.get_feature_names_out()) < set(wide.get_feature_names_out())
    assert wide.part_.target == "dysp"


@pytest.mark.slow
def test_a_pipeline_is_cross_validated() -> None:
    """Selecting before classifying predicts about as well as all columns do, with far fewer of them."""
    chosen = make_pipeline(PartSelector(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    everything = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    selected = cross_val_score(chosen, X, Y, cv=3)

    assert selected.mean() > 0.8
    assert selected.mean() > cross_val_score(everything, X, Y, cv=3).mean() - 0.01


@pytest.mark.slow
def test_a_grid_search_tries_settings() -> None:
    """A grid search clones the selector, sets alpha and select, and keeps the best."""
    pipeline = make_pipeline(PartSelector(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    grid = {"partselector__alpha": [0.001, 0.05], "partselector__select": ["blanket", "part"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X.iloc[:1000], Y.iloc[:1000])

    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.75
    assert search.best_estimator_[0].part_.settings["alpha"] == search.best_params_["partselector__alpha"]


def test_parameters_are_got_set_and_cloned() -> None:
    """get_params, set_params and clone work as everywhere in scikit-learn."""
    selector = PartSelector(alpha=0.05).set_params(depth=3)
    again = clone(selector)

    assert again.get_params() == selector.get_params()
    assert (again.depth, again.alpha) == (3, 0.05)
    assert not hasattr(again, "part_")


def test_arrays_are_taken() -> None:
    """An integer array gives an integer array, and its columns are called x0, x1 and so on."""
    array = OrdinalEncoder(dtype=np.int64).fit_transform(X)
    selector = PartSelector().fit(array, Y.to_numpy())
    places = [list(X.columns).index(name) for name in ("bronc", "either")]

    assert sorted(selector.get_support(indices=True)) == sorted(places)
    assert np.array_equal(selector.transform(array), array[:, selector.get_support()])
    assert selector.get_feature_names_out().tolist() == [f"x{place}" for place in sorted(places)]


@pytest.mark.parametrize("labels", ["y", ("y", 1), 7])
def test_any_labels_and_kinds_of_columns_are_taken(labels: Any) -> None:
    """A column called y, tuple and integer labels, categories and an index of its own change nothing."""
    frame = X.rename(columns={"bronc": labels}).astype("category")
    frame.index = pd.Index(range(10, len(frame) + 10))
    selector = PartSelector().fit(frame, Y)

    assert set(selector.get_feature_names_out()) == {labels, "either"}
    assert selector.target_ == ("y_" if labels == "y" else "y")


def test_the_output_can_be_set_to_pandas() -> None:
    """set_output(transform="pandas") gives frames with the selected names, from arrays too."""
    array = OrdinalEncoder(dtype=np.int64).fit_transform(X)
    selector = PartSelector().set_output(transform="pandas").fit(array, Y)

    assert list(selector.transform(array).columns) == selector.get_feature_names_out().tolist()


def test_missing_values_and_numbers_are_dealt_with_as_told() -> None:
    """Missing and discretize are those of table()."""
    frame = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    frame.loc[0, "bronc"] = None
    how: dict[str, Any] = {"missing": "testwise", "discretize": "quantile:3"}
    selector = PartSelector(**how).fit(frame, Y)

    assert selector.get_feature_names_out().tolist() == ["bronc", "either"]
    assert learn(frame.assign(dysp=Y), "dysp", **how).neighbours_of("dysp") == ("bronc", "either")


def test_mistakes_get_a_sentence() -> None:
    """Other columns, another order, a wrong count, a missing y and a wrong choice are refused."""
    selector = PartSelector().fit(X, Y)

    with pytest.raises(DataError, match="their order is another; give the same columns in the same order"):
        selector.transform(X[list(X.columns)[::-1]])
    with pytest.raises(DataError, match="it lacks 'bronc'"):
        selector.transform(X.drop(columns="bronc"))
    with pytest.raises(DataError, match="'new' are new"):
        selector.transform(X.assign(new=1))
    with pytest.raises(DataError, match="X has 2 columns; the selector was fitted on 7"):
        selector.transform(np.zeros((3, 2), dtype=int))
    with pytest.raises(DataError, match="X has 3000 rows and y has 10"):
        PartSelector().fit(X, Y[:10])
    with pytest.raises(InvalidArgumentError, match="y is missing"):
        PartSelector().fit(X, None)
    every: Any = "all"
    with pytest.raises(InvalidArgumentError, match="select is 'all'; give 'blanket' or 'part'"):
        PartSelector(select=every).fit(X, Y)
    no_name: Any = []
    with pytest.raises(UnknownNodeError, match=r"the target is \[\]; give the name of one node"):
        PartSelector(target=no_name).fit(X, Y)
    with pytest.raises(InvalidArgumentError, match="<NA> cannot be a label, since it equals nothing"):
        PartSelector(target=pd.NA).fit(X, Y)
    with pytest.raises(InvalidArgumentError, match="X has a column of that name"):
        PartSelector(target="bronc").fit(X, Y)
    with pytest.raises(DataError, match="the selector was fitted on"):
        selector.get_feature_names_out(["a"])


def test_nothing_selected_is_said() -> None:
    """A y that depends on nothing selects no column, which is told as a warning."""
    noise = np.random.default_rng(1).integers(0, 2, size=len(X))
    selector = PartSelector(alpha=1e-6).fit(X, noise)

    with pytest.warns(UserWarning, match="no column was selected"):
        assert selector.transform(X).shape == (3000, 0)


def test_a_y_of_too_many_levels_is_said_to_be_untested() -> None:
    """A y with too many levels for any test is never said to depend on nothing; by default numbers are cut."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"a": random.integers(0, 3, 400), "b": random.integers(0, 2, 400)})
    y: Any = frame["a"] * 100 + random.integers(0, 100, 400)
    whole = PartSelector(learner="apsl", keep=["a"]).fit(frame, y.astype(str))

    with pytest.warns(UserWarning, match="y could not be tested with any of them: there are too few rows") as said:
        whole.transform(frame)
    assert "discretize={'y': 'quantile:3'}" in str(said[0].message)
    assert PartSelector(keep=["a"]).fit(frame, y).get_feature_names_out().tolist() == ["a"]


def test_a_column_of_too_many_levels_is_named() -> None:
    """Where y could be tested with some columns only, the warning names the others."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"a": random.integers(0, 2, 400), "wide": random.integers(0, 90, 400).astype(str)})
    selector = PartSelector().fit(frame, random.integers(0, 2, 400))

    with pytest.warns(UserWarning, match="none of them at alpha 0.05; too few rows to test it against 'wide'"):
        selector.transform(frame)


@pytest.mark.parametrize("rows", [300, 1000, 3000])
@pytest.mark.parametrize("target", ["either", "dysp", "smoke"])
def test_what_is_not_given_is_left_to_the_learner(target: str, rows: int) -> None:
    """Without settings the selector learns the part of learn, and selects its neighbours and spouses."""
    some = ROWS.iloc[:rows]
    features, y = some.drop(columns=target), some[target]
    near, inside = (PartSelector(select=one, target=target).fit(features, y) for one in ("part", "blanket"))
    part = learn(some, target)

    assert (near.part_.settings, near.part_.learner) == (part.settings, part.learner)
    assert {*near.get_feature_names_out()} == {*part.members} - {target}
    assert {*inside.get_feature_names_out()} == {*blanket_of(part).members}
    closed = PartSelector(target=target, hidden="excluded").fit(features, y)
    assert {*closed.get_feature_names_out()} == {*blanket(some, target).members}


def test_a_blanket_finder_is_asked_by_name() -> None:
    """blanket_finder gives the blanket of the classical algorithm, at its own settings unless others are given."""
    selector = PartSelector(blanket_finder="hiton-mb", target="dysp").fit(X, Y)
    strict = PartSelector(blanket_finder="hiton-mb", target="dysp", alpha=1e-200).fit(X, Y)

    assert selector.blanket_.members == blanket(ROWS, "dysp", finder="hiton-mb").members
    assert strict.blanket_.members != selector.blanket_.members


@pytest.mark.slow
def test_without_scikit_learn_a_sentence_says_how_to_get_it() -> None:
    """Importing the selector without scikit-learn raises one sentence; the rest of the package does not need it."""
    code = "import sys; sys.modules['sklearn'] = None; import apsl_rules.export; import apsl_rules.learning.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stderr.splitlines()[-1] == (
        "apsl_rules.errors.MissingPackageError: scikit-learn is not installed; "
        "install it with: pip install 'apsl_rules[sklearn]'"
    )


def test_a_frame_of_another_library_keeps_its_names() -> None:
    """Polars frames are selected from by name, and stay frames of polars."""
    import polars as pl

    draw = np.random.default_rng(1)
    a = draw.normal(size=300)
    frame = pl.DataFrame({"noise": draw.normal(size=300), "cause": a, "rest": draw.normal(size=300)})
    y = pl.Series("effect", a + draw.normal(size=300) / 2)
    selector = PartSelector().fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["cause"]
    assert selector.feature_names_in_.tolist() == ["noise", "cause", "rest"]
    kept = selector.transform(frame)
    assert isinstance(kept, pl.DataFrame)
    assert kept.columns == ["cause"]
    with pytest.raises(DataError, match="their order is another"):
        selector.transform(frame.select("cause", "noise", "rest"))


def test_rows_in_groups_are_cross_validated_by_group() -> None:
    """Whole groups are left out at a time, and the selector learns inside the groups of each fold."""
    random = np.random.default_rng(3)
    school = np.repeat(np.arange(40), 15)
    size, lunch = random.normal(size=(2, 40))[:, school]
    hours = random.normal(size=600) + size
    frame = pd.DataFrame({"hours": hours, "lunch": lunch + 0.3 * random.normal(size=600), "school": school})
    score = 0.8 * hours + random.normal(size=40)[school] + random.normal(size=600)
    model = make_pipeline(PartSelector(groups="school", kinds={"school": "category"}), LinearRegression())
    folds = GroupKFold(4)
    found = cross_validate(model, frame, score, cv=folds, groups=school, return_estimator=True)
    chosen = [one[0].get_feature_names_out().tolist() for one in found["estimator"]]
    assert chosen == [["hours"]] * 4
