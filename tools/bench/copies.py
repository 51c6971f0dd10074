"""Copies: the time of a part whose target has many exact copies, and of one among columns that few rows leave alike.

Copies: a target with an effect and 10 to 1,000 copies, categories and numbers, each learner in the same process; the
time of a copy is that of all beyond the fewest. Few rows: 100,000 columns of six rows.
Usage: python tools/bench/copies.py [--quick]
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import pandas as pd

from apsl_rules import Part, learn

ROWS = 1000
COPIES = (10, 100, 1_000)
LEARNERS = ("auto", "apsl-hidden")
WIDE, FEW_ROWS = 100_000, 6


def copied(copies: int, *, numbers: bool) -> pd.DataFrame:
    """Draw a target, an effect, a column apart, and copies of the target."""
    rng = np.random.default_rng(copies)
    target, noise, apart = rng.normal(size=(3, ROWS))
    columns = {"target": target, "effect": target + noise, "apart": apart}
    drawn = pd.DataFrame(columns | {f"copy{number}": target for number in range(copies)})
    return drawn if numbers else (drawn > 0).astype(np.int64)


def timed(frame: pd.DataFrame, learner: str) -> tuple[Part, float]:
    """Learn a part and return its CPU seconds."""
    begun = process_time()
    part = learn(frame, "target", learner=learner)
    return part, process_time() - begun


def report_copies(sizes: tuple[int, ...]) -> None:
    """Print how time grows with the copies, and what is told of them."""
    print("| columns | learner | copies | part: CPU s | ms for each further copy | edges | notes on copies |")
    print("|---|---|---|---|---|---|---|")
    for numbers in (False, True):
        for learner in LEARNERS:
            fewest = copied(sizes[0], numbers=numbers)
            timed(fewest, learner)
            _, least = timed(fewest, learner)
            for copies in sizes:
                part, seconds = timed(copied(copies, numbers=numbers), learner)
                each = f"{1000 * (seconds - least) / (copies - sizes[0]):.2f}" if copies > sizes[0] else ""
                notes = sum("copies" in note or "duplicate" in note for note in part.notes)
                kind = "numbers" if numbers else "categories"
                print(f"| {kind} | {learner} | {copies:,} | {seconds:.2f} | {each} | {len(part.edges)} | {notes} |")


def report_wide(columns: int) -> None:
    """Print the time of a part among very many columns of few rows."""
    rng = np.random.default_rng(0)
    drawn = {"categories": rng.integers(0, 2, (FEW_ROWS, columns)), "numbers": rng.normal(size=(FEW_ROWS, columns))}
    print()
    print(f"| {columns:,} columns × {FEW_ROWS} rows | part: CPU s | edges | notes |")
    print("|---|---|---|---|")
    for kind, values in drawn.items():
        frame = pd.DataFrame(values, columns=["target", *(f"v{number}" for number in range(1, columns))])
        part, seconds = timed(frame, "auto")
        print(f"| {kind} | {seconds:.1f} | {len(part.edges)} | {len(part.notes)} |")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer copies and columns")
    quick = parser.parse_args().quick
    report_copies(COPIES[:2] if quick else COPIES)
    report_wide(WIDE // 20 if quick else WIDE)


if __name__ == "__main__":
    main()
