"""What the default learner would do with a table."""

from __future__ import annotations

from apsl_rules.data import MixedTable, Table
from apsl_rules.learning.choose import choose_learner
from apsl_rules.learning.request import Request
from apsl_rules.plugins import Plugins


def say_default_learner(table: Table | MixedTable, plugins: Plugins) -> str:
    """Return a sentence on the learner that "auto" chooses for a table."""
    gives = {"tests", "scores", "counts" if isinstance(table, Table) else "moments"}
    offer, note = choose_learner(Request(plugins=plugins), frozenset(gives))
    return note or f"learner 'auto' chose {offer.name!r}"
