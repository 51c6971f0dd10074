"""The score of a learner's data, which must be a table or counts, with the options of a spec."""

from __future__ import annotations

import attrs
import numpy as np

from apsl_backends.scores.bde import BDeu, Order, Penalty
from apsl_backends.scores.bde_from_counts import CountedBDeu
from apsl_backends.scores.imputation import impute
from apsl_backends.scores.joint_rows import JointRows
from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, heading_of
from apsl_rules.errors import InvalidArgumentError


def score_for(data: object, who: str, *, ess: float, penalty: Penalty = 0.0, order: Order = "name") -> BDeu:
    """Make the score of a table or of counts; ``who`` names the caller in messages, such as "the learner 'mmhc'".

    Missing values of a table are imputed; columns of a source of counts must be complete.
    """
    if isinstance(data, CachedCounts):
        return CountedBDeu(data, ess=ess, penalty=penalty, order=order)
    if not isinstance(data, Table):
        message = f"{who} scores a table of discrete columns, but the source has none; learn from a table"
        raise InvalidArgumentError(message)
    return BDeu(_fill_in(data), ess=ess, penalty=penalty, order=order, together=JointRows(data))


def _fill_in(table: Table) -> Table:
    """Return a table with missing values filled in."""
    if not table.incomplete.any():
        return table
    by_content = sorted(range(len(table.names)), key=lambda place: heading_of(table).totals[place].tobytes())
    codes, weights = impute(table.codes[by_content], table.cards[by_content], np.ones(table.rows, np.int64))
    back = np.argsort(by_content)
    filled = np.ascontiguousarray(np.repeat(codes, weights, axis=1)[back])
    return attrs.evolve(table, codes=filled, incomplete=np.zeros(len(table.names), np.bool_))
