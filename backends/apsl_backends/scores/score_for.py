"""The score behind an oracle: its table, checked to be there, with the options of a spec."""

from __future__ import annotations

from apsl_backends.scores.bde import BDeu, Order, Price
from apsl_backends.scores.bde_from_counts import CountedBDeu
from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.oracles import Oracle


def score_behind(
    oracle: Oracle,
    who: str,
    *,
    ess: float,
    price: Price = 0.0,
    order: Order = "name",
    leaning: float = 0.0,
) -> BDeu:
    """Make the score of the table behind an oracle; ``who`` wants it, such as "the learner 'mmhc'"."""
    kept = getattr(oracle, "kept", None)
    if isinstance(kept, CachedCounts):
        if leaning or order == "content":
            message = f"{who} scores with a prior that leans to observed shares, in memory only; leave out counts"
            raise InvalidArgumentError(message)
        return CountedBDeu(kept, ess=ess, price=price, order=order)
    table = getattr(oracle, "table", None)
    if not isinstance(table, Table):
        message = (
            f"{who} scores a table of discrete columns, but the oracle {oracle.name!r} has none; learn from a table"
        )
        raise InvalidArgumentError(message)
    return BDeu(table, ess=ess, price=price, order=order, leaning=leaning)
