"""What experiments left, in short: one table of means, and the circumstances of each experiment.

``summary.csv`` and ``about.json`` are all that a report is made from, so that it can be made again without running
anything, from a folder of results or from the small files that are kept with the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import pandas as pd
from results import RESULTS, read_results, summarise

from apsl_rules._files import write_text
from apsl_rules.errors import DataError

SUMMARY, ABOUT = "summary.csv", "about.json"
NETWORKS = ("child", "insurance", "alarm", "child10", "insurance10", "alarm10")
#: Which learner stands for each algorithm of the paper: as published, and as mended.
PUBLISHED = {
    "PCD-by-PCD": "pcd-by-pcd-paper",
    "CMB": "cmb-authors",
    "APSL": "apsl-paper",
    "APSL-FS": "apsl-fs-paper",
}
MENDED = {"PCD-by-PCD": "pcd-by-pcd", "CMB": "cmb", "APSL": "apsl", "APSL-FS": "apsl-fs"}
#: What the paper ranks algorithms by: the name there, the column here, and how it is told.
RANKED_BY: tuple[tuple[Literal["ar_distance", "runtime_s"], str, str], ...] = (
    ("ar_distance", "distance", "Ar_Distance"),
    ("runtime_s", "cpu", "CPU time"),
)
#: What a report shows, and so what is stored: a few hundred rows of these columns.
SHOWN = ("dag extension", "cpdag marks")
COLUMNS = (
    *("experiment", "network", "size", "order", "learner", "depth", "scoring", "runs", "sets"),
    *("distance", "precision", "recall", "shd", "skeleton_f1", "arrow_precision", "arrow_recall"),
    *("visits", "tests", "cpu", "distance_sd", "precision_sd", "recall_sd"),
)
_SPREAD = [name for name in COLUMNS if name.endswith("_sd")]
_PLACES = 4


@attrs.frozen(eq=False)
class Stored:
    """The means of all experiments, and what is to be known about each."""

    summary: pd.DataFrame
    about: Mapping[str, Mapping[str, Any]]

    def of(self, *experiments: str, **wanted: Any) -> pd.DataFrame:
        """Return rows of the first of some experiments that was run; ``wanted`` values must be equal."""
        found = self.summary[self.summary["experiment"] == self.first(*experiments)]
        for column, value in wanted.items():
            found = found[found[column].isin(value) if isinstance(value, tuple | list) else found[column] == value]
        return found

    def first(self, *experiments: str) -> str | None:
        """Return the first of some experiments that was run."""
        return next((name for name in experiments if name in self.about), None)

    def updated(self, newer: Stored) -> Stored:
        """Return these with the experiments of others in the place of their own."""
        left = self.summary[~self.summary["experiment"].isin(newer.about)]
        about = {**self.about, **newer.about}
        whole = pd.concat([left, newer.summary], ignore_index=True).sort_values("experiment", kind="stable")
        return Stored(whole.reset_index(drop=True), dict(sorted(about.items())))

    def save(self, folder: Path) -> None:
        """Write both files."""
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / SUMMARY, self.summary.to_csv(index=False, lineterminator="\n"))
        write_text(folder / ABOUT, json.dumps(self.about, indent=2) + "\n")


def gathered(folder: Path) -> Stored:
    """Summarise all results in the folders under a folder."""
    frames, about = [], {}
    for path in sorted(folder.glob(f"*/{RESULTS}")):
        results = read_results(path.parent)
        name = str(results.about["experiment"])
        short = summarise(results).round(_PLACES)
        short.insert(0, "experiment", name)
        frames.append(short)
        sets = results.scores.groupby("network")["set"].nunique()
        about[name] = {**results.about, "sets": {str(network): int(count) for network, count in sets.items()}}
    if not frames:
        message = f"the folder {str(folder)!r} has no results; run an experiment first"
        raise DataError(message)
    whole = pd.concat(frames, ignore_index=True)
    return Stored(whole.loc[whole["scoring"].isin(SHOWN), list(COLUMNS)].reset_index(drop=True), about)


def kept(folder: Path) -> Stored:
    """Read what was saved."""
    try:
        summary = pd.read_csv(
            folder / SUMMARY, dtype={"depth": str}, keep_default_na=False, na_values={name: [""] for name in _SPREAD}
        )
        return Stored(summary, json.loads((folder / ABOUT).read_text("utf-8")))
    except (OSError, ValueError) as error:
        message = f"the folder {str(folder)!r} has no summary that can be read: {error}"
        raise DataError(message) from error


def rows_in_order(found: pd.DataFrame) -> Sequence[tuple[str, int]]:
    """Return the networks and sizes that some rows are about, in the order of the paper's tables."""
    pairs = set(zip(found["network"], found["size"], strict=True))
    place = {name: at for at, name in enumerate(NETWORKS)}
    return sorted(pairs, key=lambda pair: (place.get(pair[0], len(place)), pair))


def sets_of(about: Mapping[str, Any]) -> str:
    """Say how many sets of each network an experiment has."""
    of: dict[int, list[str]] = {}
    for network, count in about.get("sets", {}).items():
        of.setdefault(count, []).append(network)
    return "; ".join(f"{count} of {', '.join(networks)}" for count, networks in sorted(of.items(), reverse=True))


def one(found: pd.DataFrame, **wanted: Any) -> Mapping[str, Any] | None:
    """Return the only row with some values, or None."""
    for column, value in wanted.items():
        found = found[found[column] == value]
    return None if found.empty else {str(name): value for name, value in found.iloc[0].to_dict().items()}


def short(figure: float) -> str:
    """Spell a figure between 0 and 2 with two places, as the paper does."""
    text = f"{figure:.2f}"
    return text.removeprefix("0") if text.startswith("0.") else text
