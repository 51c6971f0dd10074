"""The combinations that occur in some columns, in the form from which the kernels count."""

from __future__ import annotations

from apsl_backends.kernels.border import TableHandle
from apsl_rules.data.counts import Heading, Joint


class WeightedCounts:
    """A joint as a table of weighted rows, one for each combination."""

    threads = 1

    def __init__(self, joint: Joint, heading: Heading) -> None:
        places = list(joint.places)
        codes = joint.codes.copy()  # contiguous, as the kernels want it
        self.handle = TableHandle(codes, heading.cards[places], heading.incomplete[places], joint.weights)
