"""The results in short: means over targets and samples, one row for each network, size, order, learner and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apsl_rules.evaluation.experiments.results import FIGURES, Results

if TYPE_CHECKING:
    import pandas as pd

GROUP = ["network", "size", "order", "learner", "depth", "scoring"]


def summarise(results: Results) -> pd.DataFrame:
    """Return the mean of every figure, the spread of the paper's three, and the mean cost of a part.

    ``runs`` counts the parts and ``sets`` the samples that a row is the mean of. CPU seconds are those of a part.
    ``arrow_precision`` and ``arrow_recall`` are of compelled arrows, counted over all parts together, since many parts
    have none; without any arrow they are 1.
    """
    keys = [key for key in GROUP if key != "scoring"]
    scores, times = results.scores, results.times
    grouped = scores.groupby(GROUP, sort=False)
    means = grouped[[*FIGURES, "visits", "tests", "predicted", "true"]].mean()
    spread = grouped[["distance", "precision", "recall"]].std(ddof=0).add_suffix("_sd")
    counted = grouped.agg(runs=("target", "size"), sets=("set", "nunique"))
    arrows = grouped[["compelled_correct", "arrows", "compelled"]].sum()
    for share, of in (("arrow_precision", "arrows"), ("arrow_recall", "compelled")):
        counted[share] = (arrows["compelled_correct"] / arrows[of]).where(arrows[of] > 0, 1.0)
    short = counted.join(means).join(spread).reset_index()
    spent = times.groupby(keys, sort=False).agg(cpu=("cpu_seconds", "mean"), learned=("learned", "first")).reset_index()
    return short.merge(spent, on=keys, how="left", validate="many_to_one")
