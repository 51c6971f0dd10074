"""The plugin of the published algorithms: learners, blanket finders and rulebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib.resources import files

from apsl_published.best_graphs import GgslFindings, S2tmb, SllFindings
from apsl_published.climbing import MmhcFindings
from apsl_published.grow_shrink import GrowShrink, GrowShrinkFindings
from apsl_published.rulebooks import PAPER, PATHS
from apsl_published.visits import FindingsInPairs, PublishedFindings, by_layers, by_queue
from apsl_rules.plugins import BlanketOffer, Context, Findings, LearnerOffer, Spec, hookimpl, read_specs
from apsl_rules.rules import Rulebook

_BY_KIND: dict[str, Callable[[Context], Findings]] = {
    "lines": PublishedFindings,
    "layers": PublishedFindings,
    "queue": FindingsInPairs,
    "gs": GrowShrinkFindings,
    "mmhc": MmhcFindings,
    "sll": SllFindings,
    "ggsl": GgslFindings,
}
_BY_VISITS = ("local", "lines", "layers", "queue")
_FRONTIERS = {"layers": by_layers, "queue": by_queue}
#: What ``compare`` lays beside the default where nobody names learners.
_RIVALS = ("pcd-by-pcd", "cmb")


def _offer_of(spec: Spec) -> LearnerOffer:
    """Return the learner that a spec describes, with the code of its kind."""
    return LearnerOffer(
        spec,
        _BY_KIND.get(spec.kind),
        honours_knowledge=spec.kind in _BY_VISITS,
        needs=frozenset() if spec.kind in (*_BY_VISITS, "gs") else frozenset({"counts"}),
        frontier=_FRONTIERS.get(spec.kind),
        rival=spec.name in _RIVALS,
    )


@hookimpl
def apsl_learners() -> Iterable[LearnerOffer]:
    """Offer a learner for each spec file."""
    return [_offer_of(spec) for spec in read_specs(files("apsl_published") / "learners")]


@hookimpl
def apsl_blankets() -> Iterable[BlanketOffer]:
    """Offer the finders of Markov blankets."""
    return [
        BlanketOffer("gs", "GSMB: grow by dependence, shrink by independence", GrowShrink),
        BlanketOffer("s2tmb", "S²TMB: best graphs over small sets, for tables only", S2tmb),
        BlanketOffer("s2tmb+", "S²TMB+: the same, spouses gathered first", partial(S2tmb, spouses="afterwards")),
    ]


@hookimpl
def apsl_rulebooks() -> Iterable[Rulebook]:
    """Offer the rulebooks."""
    return [PAPER, PATHS]
