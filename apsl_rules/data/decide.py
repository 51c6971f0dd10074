"""What becomes of a column: its kind, as inferred or as asked, and how it is cut."""

from __future__ import annotations

import attrs
import numpy as np

from apsl_rules.data.columns import Column, Labels, Numbers
from apsl_rules.data.cuts import Cut
from apsl_rules.data.kinds import DROPPED, ColumnKind, ColumnSummary, Kind, infer_kind, is_crowded, number_detail
from apsl_rules.data.reading import USUAL_CUT, Plan
from apsl_rules.data.summaries import Rows, as_numbers, read_unknown, summarise
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of


@attrs.frozen(eq=False)
class Decision:
    """A column, its kind, and how to cut it if it is a number; ``crowded`` says that few rows are left for a level."""

    column: Column
    summary: ColumnSummary
    kind: ColumnKind
    cut: Cut | None = None
    crowded: bool = False


def decide(
    column: Column,
    name: Node,
    plan: Plan,
    rows: Rows | None = None,
    *,
    codes: bool = False,
    known: ColumnSummary | None = None,
) -> Decision:
    """Decide on a column; ``rows`` says in how many rows each of its values stands, if not in one.

    ``known`` is the summary of a column of which only some values are here. A column that cannot be what the caller
    asks for is refused.
    """
    column = read_unknown(column)
    summary = known or summarise(column, name, rows)
    found = infer_kind(summary, codes=codes, missing_level=plan.missing == "level")
    asked = plan.asked_kind(name)
    if asked is None and plan.levels == "declared" and (isinstance(column, Labels) or summary.whole):
        asked = "category"
    named = plan.is_named(name)
    if asked == "set aside":
        return Decision(column, summary, ColumnKind(name, asked, DROPPED, summary.missing))
    if asked is None or (summary.present == 0 and not named):
        return _as(found.kind, column, summary, found, plan)
    if summary.present == 0:
        message = f"all values are missing in column {name!r}; leave it out"
        raise DataError(message)
    numeric = as_numbers(column)
    if asked == "number" and (numeric is None or summary.distinct == 1):
        if not named:
            return _as(found.kind, column, summary, found, plan)
        if numeric is None:
            message = (
                f"column {name!r} holds labels, and only numbers can be cut; leave it out of discretize="
                if name in plan.cuts
                else f"column {name!r} holds labels, which are no numbers; give kinds={{{name!r}: 'category'}}"
            )
        else:
            message = f"column {name!r} has only one value, so it cannot be a number; leave it out"
        raise DataError(message)
    if asked == "number" and numeric is not None and isinstance(column, Labels):
        column, summary = numeric, summarise(numeric, name, rows)
    return _as(asked, column, summary, found, plan)


def _as(kind: Kind, column: Column, summary: ColumnSummary, found: ColumnKind, plan: Plan) -> Decision:
    name = summary.name
    if kind == "set aside":
        return Decision(column, summary, found)
    if isinstance(column, Numbers) and not (np.isfinite(summary.low) and np.isfinite(summary.high)):
        message = f"column {name!r} has infinite values; replace them, or leave the column out"
        raise DataError(message)
    if kind == "category" or not isinstance(column, Numbers):
        levels = summary.distinct + (plan.missing == "level" and summary.missing > 0)
        detail = found.detail if found.kind == "category" else count_of(levels, "level")
        crowded = not isinstance(column, Numbers) and is_crowded(summary)
        return Decision(column, summary, ColumnKind(name, "category", detail, summary.missing), crowded=crowded)
    cut = plan.asked_cut(name)
    if cut is None and plan.missing == "level" and summary.missing:
        cut = USUAL_CUT
    detail = number_detail(summary.low, summary.high)
    return Decision(column, summary, ColumnKind(name, "number", detail, summary.missing), cut)
