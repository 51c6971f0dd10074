"""The results of an experiment as files: one sorted table of scores, one of times, and what they were made with.

``results.csv`` and ``results.parquet`` have a row for each part and scoring, and depend on nothing but the
experiment and its samples. CPU seconds never agree twice, so they are in ``times.csv``, a row for each part.
"""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules._files import atomic_file, write_text
from apsl_rules.errors import DataError
from apsl_rules.evaluation.experiments.design import SCORINGS, Experiment, Scoring
from apsl_rules.evaluation.experiments.plan import Unit
from apsl_rules.evaluation.experiments.samples import Samples
from apsl_rules.evaluation.experiments.work import COUNTED
from apsl_rules.evaluation.scoring import Score

if TYPE_CHECKING:
    import pandas as pd

RESULTS, TIMES, ABOUT = "results.csv", "times.csv", "about.json"
RUN = ("network", "size", "set", "order", "learner", "depth", "target")
FIGURES = ("precision", "recall", "distance", "f1", "skeleton_f1", "compelled_precision", "compelled_recall", "shd")
_PRINTED = 6
_TOOLS = ("apsl_rules", "numpy", "scipy")


@attrs.frozen(eq=False)
class Results:
    """The scores, the times and the circumstances of one experiment."""

    scores: pd.DataFrame
    times: pd.DataFrame
    about: Mapping[str, Any]


def write_results(
    experiment: Experiment, samples: Samples, units: list[Unit], records: Mapping[str, Any], folder: Path
) -> Results:
    """Write the results of all units, sorted; each file whole or not at all."""
    scores, times = [], []
    for unit in units:
        record = records[unit.key]
        for part, seconds in zip(record["parts"], record["seconds"], strict=True):
            place = (unit.network, unit.size, unit.number, unit.order, unit.learner, part["depth"], part["target"])
            times.append((*place, unit.learned, f"{seconds:.6f}"))
            cost = (part["node"], part["visits"], part["tests"], part["computed"])
            for name, counts in part["scores"].items():
                scores.append((*place, name, *cost, *counts, *_figures(name, counts)))
    _write_csv(folder / RESULTS, (*RUN, "scoring", "node", "visits", "tests", "computed", *COUNTED, *FIGURES), scores)
    _write_csv(folder / TIMES, (*RUN, "learned", "cpu_seconds"), times)
    about = {
        "experiment": experiment.name,
        "summary": experiment.summary,
        "seed": experiment.seed,
        "samples": samples.description(),
        "published": samples.published,
        "python": platform.python_version(),
        **{tool: version(tool) for tool in _TOOLS},
    }
    write_text(folder / ABOUT, json.dumps(about, indent=2) + "\n")
    results = read_results(folder)
    _write_parquet(results.scores, folder)
    return results


def read_results(folder: str | Path) -> Results:
    """Read the results that a finished run left in a folder."""
    import pandas as pd

    place = Path(folder)
    try:
        kinds = {"depth": str}
        scores = pd.read_csv(place / RESULTS, dtype=kinds | {"node": str}, keep_default_na=False)
        times = pd.read_csv(place / TIMES, dtype=kinds, keep_default_na=False)
        about = json.loads((place / ABOUT).read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"the folder {str(place)!r} has no results that can be read ({error}); run the experiment first"
        raise DataError(message) from error
    return Results(scores, times, about)


def _figures(name: Scoring, counts: list[int]) -> list[str]:
    found = Score(*SCORINGS[name], *counts)
    return [_format(getattr(found, figure)) for figure in FIGURES]


def _format(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else f"{figure:.{_PRINTED}f}"


def _write_csv(path: Path, head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    rows.sort(key=_place)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def _place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sort key of a row: depths in order, "max" last."""
    network, size, number, order, learner, depth, target, further, *_ = row
    deep = (1, 0) if depth == "max" else (0, depth)
    return (network, size, number, order, learner, deep, target, further)


def _write_parquet(scores: pd.DataFrame, folder: Path) -> None:
    """Write the scores as Parquet too, where pyarrow is installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return
    with atomic_file(folder / "results.parquet") as draft:
        parquet.write_table(pa.Table.from_pandas(scores, preserve_index=False), draft)
