"""The combinations that occur in some columns, in the form from which the kernels count."""

from __future__ import annotations

import numpy as np

from apsl_backends.kernels.arrays import CARD, COLUMN_FIELDS, FIRST_BIT, FIRST_TOTAL, SPAN, VARIED, Store
from apsl_backends.kernels.words import STEP
from apsl_rules.data import Codes
from apsl_rules.data.counts import Heading, Joint


class WeightedCounts:
    """A joint as a table of weighted rows; each combination is a row, and there are no bit rows."""

    threads = 1

    def __init__(self, joint: Joint, heading: Heading) -> None:
        places = list(joint.places)
        spans = heading.spans[places]
        columns = np.zeros((len(places), COLUMN_FIELDS), np.int64)
        columns[:, CARD] = heading.cards[places]
        columns[:, SPAN] = spans
        columns[:, FIRST_BIT] = -1
        columns[:, FIRST_TOTAL] = np.cumsum(spans) - spans
        columns[:, VARIED] = heading.varied[places]
        totals = np.concatenate([heading.totals[place] for place in places])
        self.codes: Codes = joint.codes.copy()  # contiguous, as the kernels want it
        self.codes.setflags(write=False)
        bits = np.zeros((1, STEP), np.uint64)
        self.store = Store(bits, columns, totals, joint.weights, heading.rows, len(joint.weights))
