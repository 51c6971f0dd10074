"""A selector of features for scikit-learn: the columns that matter for y are its Markov blanket, or its part.

This module needs scikit-learn (``pip install 'apsl_rules[sklearn]'``); nothing else here imports it. The selector runs
in pipelines, cross-validation and grid searches. It does not claim to pass ``check_estimator``, which demands
things that make no sense for tables of levels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules.data import table
from apsl_rules.errors import DataError, InvalidArgumentError, MissingPackageError
from apsl_rules.learning.api import blanket, blanket_of, learn
from apsl_rules.learning.settings import READING, SETTINGS, Settings, settings_on, with_settings
from apsl_rules.names import Depth, Node, check_target, chosen, listing, nearest
from apsl_rules.neighbours import Blanket
from apsl_rules.notes import argument
from apsl_rules.rules import Mark

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import check_is_fitted
except ModuleNotFoundError as missing:
    _MESSAGE = "scikit-learn is not installed; install it with: pip install 'apsl_rules[sklearn]'"
    raise MissingPackageError(_MESSAGE) from missing


class PartSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Select the columns of X that belong to the Markov blanket of y, or to its part.

    Parameters
    ----------
    select
        "blanket" for parents, children and spouses of y, which make all other columns needless for predicting it;
        "part" for all nodes of the learned part.
    depth
        The depth of the part. The blanket is read from it; the default learner knows the spouses at depth 1, some
        others only at depth 2.
    target
        What to call y in the part; without it "y", with more underscores where a column is called so.
    blanket_finder
        A finder such as "hiton-mb" that finds the blanket instead, as for ``blanket``.
    settings
        Further settings of ``learn``, each a parameter of its own; what is not given is left to the learner.

    Attributes
    ----------
    part_
        The learned part, with its proofs.
    blanket_
        The blanket, if that is what is selected.
    target_
        What y is called in the part.

    Examples
    --------
    >>> from apsl_rules import network
    >>> from apsl_rules.graphs.networks import sample
    >>> rows = sample(network("asia"), 3000, seed=5)
    >>> frame = pd.DataFrame(dict(zip(rows.names, rows.codes, strict=True)))
    >>> selector = PartSelector().fit(frame.drop(columns="dysp"), frame["dysp"])
    >>> selector.get_feature_names_out().tolist()
    ['bronc', 'either']
    """

    @with_settings(*settings_on("selector"))
    def __init__(
        self,
        *,
        select: Literal["blanket", "part"] = "blanket",
        depth: Depth = 1,
        target: Node = None,
        blanket_finder: str | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        self.select = select
        self.depth = depth
        self.target = target
        self.blanket_finder = blanket_finder
        taken = settings_on("selector")
        for name in settings:
            if name not in taken:
                message = f"PartSelector has no parameter {name!r}{nearest(name, taken)}"
                raise InvalidArgumentError(message)
        for name in taken:
            setattr(self, name, settings.get(name, SETTINGS[name].default))

    def _given(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the settings among some names that are not left to their default."""
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not SETTINGS[name].default}

    def fit(self, X: Any, y: Any) -> PartSelector:  # noqa: N803 - scikit-learn's own name
        """Learn the part around y, and its blanket if that is selected."""
        chosen("select", self.select, ("blanket", "part"))
        features = _frame(X)
        self.columns_: tuple[Node, ...] = tuple(features.columns)
        self.n_features_in_ = len(self.columns_)
        if _columns(X) is not None and all(isinstance(name, str) for name in self.columns_):
            self.feature_names_in_ = np.array(self.columns_, dtype=object)
        self.target_ = self._target_name()
        source = self._source(features, y)
        self.part_ = learn(
            source,
            self.target_,
            depth=self.depth,
            **self._given(name for name in settings_on("selector") if name not in READING),
        )
        members = self.part_.members
        if self.select == "blanket":
            self.blanket_ = self._blanket(source)
            members = self.blanket_.members
        of = self.part_.earlier
        found = {of[name][0] if name in of else name for name in members}
        self.support_ = np.array([name in found for name in self.columns_], dtype=bool)
        self._why_nothing = "" if self.support_.any() else self._nothing()
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        """Keep the selected columns of a frame or an array with the columns of the fit, in their order."""
        check_is_fitted(self, "support_")
        given = _columns(X)
        if given is not None and given != self.columns_:
            self._refuse_columns(given)
        kept: Any = X if given is not None else _array(X)
        if kept.shape[1] != self.n_features_in_:
            message = f"X has {kept.shape[1]} columns; the selector was fitted on {self.n_features_in_}"
            raise DataError(message)
        if not self.support_.any():
            warnings.warn(f"no column was selected: {self._why_nothing}", UserWarning, stacklevel=2)
        if isinstance(kept, pd.DataFrame):
            return kept.loc[:, self.support_]
        if given is not None:
            return nw.from_native(kept, eager_only=True).select(self.get_feature_names_out().tolist()).to_native()
        return kept[:, self.support_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the labels of the selected columns."""
        check_is_fitted(self, "support_")
        names = list(self.columns_ if input_features is None else input_features)
        if len(names) != self.n_features_in_ or (hasattr(self, "feature_names_in_") and names != list(self.columns_)):
            message = f"input_features are {listing(names)}; the selector was fitted on {listing(self.columns_)}"
            raise DataError(message)
        kept = [name for name, selected in zip(names, self.support_, strict=True) if selected]
        labels = np.empty(len(kept), dtype=object)
        labels[:] = kept
        return labels

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = vars(self)["missing"] in {"testwise", "level", "complete"}
        return tags

    def _target_name(self) -> Node:
        if self.target is not None:
            check_target(self.target)
            if self.target in self.columns_:
                message = f"y is to be called {self.target!r}, but X has a column of that name; choose another target"
                raise InvalidArgumentError(message)
            return self.target
        name = "y"
        while name in self.columns_:
            name += "_"
        return name

    def _source(self, features: pd.DataFrame, y: Any) -> Any:
        """Return the table of X and y, encoded here where the caller says how."""
        if y is None:
            message = "y is missing; the selector learns what matters for y, so give it to fit"
            raise InvalidArgumentError(message)
        values = pd.Series(y.squeeze() if isinstance(y, pd.DataFrame) else y).reset_index(drop=True)
        if len(values) != len(features):
            message = f"X has {len(features)} rows and y has {len(values)}; give one y for each row"
            raise DataError(message)
        whole = features.reset_index(drop=True)
        whole.insert(len(whole.columns), self.target_, values)
        reading = self._given(READING)
        return table(whole, **reading) if reading else whole

    def _blanket(self, source: Any) -> Blanket:
        if self.blanket_finder is None:
            return blanket_of(self.part_)
        return blanket(
            source,
            self.target_,
            finder=self.blanket_finder,
            **self._given(("oracle", "alpha", "max_conditioning")),
        )

    def _nothing(self) -> str:
        """Return why no column was selected: y depends on none of them, or could not be tested with them."""
        variables = [name for name in self.columns_ if name in self.part_.nodes]
        if not variables:
            return "all of them were set aside"
        unknown = [name for name in variables if self.part_.mark(self.target_, name) is Mark.UNKNOWN]
        if len(unknown) < len(variables):
            rest = f"; too few rows to test it against {listing(unknown)}" if unknown else ""
            return f"y depends on none of them at alpha {self.part_.settings['alpha']}{rest}"
        return (
            "y could not be tested with any of them: there are too few rows for its levels and theirs; cut numbers "
            f"into few levels, such as {argument('discretize', {self.target_: 'quantile:3'})}, or join levels"
        )

    def _refuse_columns(self, given: tuple[Node, ...]) -> None:
        lacking = [name for name in self.columns_ if name not in given]
        unknown = [name for name in given if name not in self.columns_]
        if lacking or unknown:
            what = f"it lacks {listing(lacking)}" if lacking else f"{listing(unknown)} are new"
        else:
            what = "their order is another"
        message = f"the columns of X are not those of the fit: {what}; give the same columns in the same order"
        raise DataError(message)


def _array(given: Any) -> npt.NDArray[Any]:
    if hasattr(given, "toarray"):
        message = f"X is a sparse {type(given).__name__}; give a dense array or a data frame"
        raise DataError(message)
    array = np.asarray(given)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        message = f"X has {array.ndim} dimensions; give a data frame or an array of rows and columns"
        raise DataError(message)
    return array


def _columns(given: Any) -> tuple[Node, ...] | None:
    """Return the names of the columns of a frame, of pandas or another library; None for what has none."""
    if isinstance(given, pd.DataFrame):
        return tuple(given.columns)
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    return tuple(frame.columns) if isinstance(frame, nw.DataFrame) else None


def _frame(given: Any) -> pd.DataFrame:
    """Return X as a frame; the columns of an array are called x0, x1 and so on."""
    if isinstance(given, pd.DataFrame):
        return given
    if _columns(given) is not None:
        frame: pd.DataFrame = nw.from_native(given, eager_only=True).to_pandas()
        return frame
    array = _array(given)
    return pd.DataFrame(array, columns=[f"x{place}" for place in range(array.shape[1])])
