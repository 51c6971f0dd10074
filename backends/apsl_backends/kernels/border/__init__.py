"""The border to the kernels: the only code that calls the library.

Every array is checked before its address is taken, and every index that the kernels follow is in range. What the
library allocates is owned by a typed handle, which frees it when it is collected. A call releases the GIL.
"""

from __future__ import annotations

from apsl_backends.kernels.border.checks import Codes, Floats, Integers, log_gamma
from apsl_backends.kernels.border.chi_square import Tails, is_weaker, tail, tails, thresholds
from apsl_backends.kernels.border.embedded import (
    CategoryColumn,
    EmbeddedHandle,
    MatrixBlocks,
    NumberColumn,
    Patterns,
    ProductSums,
    RowFigures,
    matrix_tests,
)
from apsl_backends.kernels.border.matrices import TOLERANCE
from apsl_backends.kernels.border.moments import (
    ELIMINATION_FIELDS,
    BlockElimination,
    BlockSearch,
    BlockTests,
    MomentRules,
    MomentsHandle,
)
from apsl_backends.kernels.border.score_store import ScoreStore
from apsl_backends.kernels.border.scores import (
    LEAST_ESS,
    MOST_ESS,
    MOST_EXACT,
    MOST_NUMBERS,
    MOST_ROWS,
    LogPriors,
    ScoreHandle,
    Weights,
    joints_bytes,
    largest_scale,
    score_bytes,
)
from apsl_backends.kernels.border.searches import (
    MOST_LOSS,
    MOST_PARENTS,
    MOST_PLACES,
    NEVER,
    CallTooLongError,
    Marks,
    OrderOutcome,
    RivalMove,
    SearchHandle,
    best_graph,
    best_graph_bytes,
    extension_of,
    pattern_of,
)
from apsl_backends.kernels.border.tables import TableHandle, count_table
from apsl_backends.kernels.border.tester import (
    Eliminated,
    LastTests,
    MeasureHandle,
    SearchOutcome,
    SweptTests,
    TestBatch,
    TesterHandle,
    open_measure,
)
from apsl_backends.kernels.border.value_scores import (
    ScoreCurve,
    ValueCounts,
    count_values,
    score_values,
    values_outside,
)

__all__ = [
    "ELIMINATION_FIELDS",
    "LEAST_ESS",
    "MOST_ESS",
    "MOST_EXACT",
    "MOST_LOSS",
    "MOST_NUMBERS",
    "MOST_PARENTS",
    "MOST_PLACES",
    "MOST_ROWS",
    "NEVER",
    "TOLERANCE",
    "BlockElimination",
    "BlockSearch",
    "BlockTests",
    "CallTooLongError",
    "CategoryColumn",
    "Codes",
    "Eliminated",
    "EmbeddedHandle",
    "Floats",
    "Integers",
    "LastTests",
    "LogPriors",
    "Marks",
    "MatrixBlocks",
    "MeasureHandle",
    "MomentRules",
    "MomentsHandle",
    "NumberColumn",
    "OrderOutcome",
    "Patterns",
    "ProductSums",
    "RivalMove",
    "RowFigures",
    "ScoreCurve",
    "ScoreHandle",
    "ScoreStore",
    "SearchHandle",
    "SearchOutcome",
    "SweptTests",
    "TableHandle",
    "Tails",
    "TestBatch",
    "TesterHandle",
    "ValueCounts",
    "Weights",
    "best_graph",
    "best_graph_bytes",
    "count_table",
    "count_values",
    "extension_of",
    "is_weaker",
    "joints_bytes",
    "largest_scale",
    "log_gamma",
    "matrix_tests",
    "open_measure",
    "pattern_of",
    "score_bytes",
    "score_values",
    "tail",
    "tails",
    "thresholds",
    "values_outside",
]
