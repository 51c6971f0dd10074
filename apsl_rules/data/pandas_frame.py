"""A pandas DataFrame as a source of columns."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules.data.columns import Column, Labels, labels_or_numbers, numbers, whole_numbers
from apsl_rules.errors import DataError
from apsl_rules.names import Node


@attrs.frozen(eq=False)
class PandasFrame:
    """A DataFrame as a source; its row labels are left out."""

    frame: pd.DataFrame
    names: tuple[Node, ...]
    dtypes: tuple[Any, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "dtypes", tuple(self.frame.dtypes))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    def column(self, place: int) -> Column:
        """Return one column: categories with all levels, numbers of any storage as numbers, the rest as labels."""
        values = self.frame.iloc[:, place]
        dtype = self.dtypes[place]
        if isinstance(dtype, pd.SparseDtype):
            values, dtype = values.astype(dtype.subtype), dtype.subtype
        if isinstance(dtype, pd.CategoricalDtype):
            codes = values.cat.codes.to_numpy().astype(np.intp)
            return Labels(codes, tuple(dtype.categories.tolist()), declared=True)
        if pd.api.types.is_bool_dtype(dtype):
            return Labels(_codes_of_bools(values), (False, True), declared=True)
        if pd.api.types.is_integer_dtype(dtype):
            missing = values.isna().to_numpy()
            filled = values.fillna(0) if missing.any() else values
            return numbers(filled.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype)), missing)
        if pd.api.types.is_float_dtype(dtype):
            return numbers(values.to_numpy(dtype=np.float64, na_value=np.nan))
        try:
            codes, levels = pd.factorize(_array_of(values))
        except TypeError as error:
            name = self.names[place]
            message = f"column {name!r} holds values that cannot be levels ({error}); turn them into text or numbers"
            raise DataError(message) from error
        return labels_or_numbers(codes, list(levels))

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where all have plain numbers."""
        if not all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in self.dtypes[start:stop]):
            return None
        return whole_numbers(np.ascontiguousarray(self.frame.iloc[:, start:stop].to_numpy().T))


def _array_of(values: pd.Series[Any]) -> Any:
    """Return what a column holds; pandas 2 warns of the wrapping that it puts around plain arrays itself."""
    array = values.array
    return array.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array


def _codes_of_bools(values: pd.Series[Any]) -> npt.NDArray[np.intp]:
    missing = values.isna().to_numpy()
    codes = (values.fillna(value=False) if missing.any() else values).to_numpy(dtype=bool).astype(np.intp)
    codes[missing] = -1
    return codes
