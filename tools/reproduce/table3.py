"""Table III beside what was measured: deviations marked and explained, ranks and critical differences (Figure 8)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from document import Block, Heading, Picture, Table, Text
from ranking import DifferenceDiagram, Published, Ranking, published_ranks, rank, table3
from stored import MENDED, PUBLISHED, RANKED_BY, Stored, one, rows_in_order, short

EXPERIMENTS = ("table3", "table3-short", "quick")
DRAWN = "table3-drawn"
FAR = 0.08
_FIGURES = ("distance", "precision", "recall")
_REASONS = Path(__file__).with_name("reasons.toml")


@attrs.frozen
class Beside:
    """A row of Table III and the row that was measured."""

    paper: Published
    measured: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the row's name."""
        return f"{self.paper.network}-{self.paper.size} {self.paper.algorithm}"

    @property
    def differences(self) -> dict[str, float]:
        """Return measured minus published, for each figure."""
        return {one: self.measured[one] - getattr(self.paper, f"ar_{one}") for one in _FIGURES}

    @property
    def far(self) -> list[str]:
        """Return the figures that deviate by more than .08."""
        return [name for name, difference in self.differences.items() if abs(difference) > FAR + 1e-9]

    @property
    def is_within_errors(self) -> bool:
        """Return whether the figures that deviate do so by at most two standard errors of ours."""
        errors = {one: self.measured[f"{one}_sd"] / self.measured["runs"] ** 0.5 for one in _FIGURES}
        return all(abs(self.differences[one]) <= 2 * errors[one] for one in self.far)

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        paper = "/".join(short(getattr(self.paper, f"ar_{one}")) for one in _FIGURES)
        found = "/".join(short(self.measured[one]) for one in _FIGURES)
        apart = "/".join(f"{difference:+.2f}".replace("0.", ".") for difference in self.differences.values())
        mark = f"**{', '.join(self.far)}**" if self.far else ""
        runs = f"{self.measured['sets']:.0f} × {self.measured['runs'] / self.measured['sets']:.0f}"
        where = f"{self.paper.network}-{self.paper.size}"
        spread = " → ".join(
            "/".join(short(of[f"{prefix}{one}_sd"]) for one in _FIGURES)
            for of, prefix in ((attrs.asdict(self.paper), "ar_"), (self.measured, ""))
        )
        return (where, self.paper.algorithm, paper, found, apart, spread, runs, mark)


def beside(stored: Stored, *experiments: str) -> list[Beside]:
    """Pair the rows of Table III with what was measured in file order, scored as the paper scored."""
    found = stored.of(*experiments or EXPERIMENTS, order="file", depth="1", scoring="dag extension")
    pairs = []
    for paper in table3():
        where = {"network": paper.network.casefold(), "size": paper.size}
        measured = one(found, **where, learner=PUBLISHED[paper.algorithm])
        if measured is not None:
            pairs.append(Beside(paper, measured))
    return sorted(pairs, key=lambda pair: _place(pair.paper))


def table3_blocks(stored: Stored) -> Iterator[Block]:
    """Return the section."""
    yield Heading("Table III: parts of depth 1")
    pairs = beside(stored)
    if not pairs:
        yield Text("Not run.")
        return
    yield Text(
        "Each cell has distance/precision/recall: those of the paper, ours, and the difference. Ours are of learners "
        "that do what was published, errors included. They are scored as the paper's figures were: the true DAG "
        "against an arbitrary extension, columns in file order. APSL here is Algorithm 1 with HITON, as the paper "
        "says. ± are the standard deviations over all parts, those of the paper and ours. *Runs* are sets × targets; "
        "the paper has 10 sets and every node. A figure that deviates by more than .08 is named."
    )
    head = ("set", "algorithm", "paper", "here", "difference", "±: paper → here", "runs", "deviates")
    yield Table(head, tuple(pair.cells() for pair in pairs))
    yield from _deviations(pairs, published=bool(stored.about[str(stored.first(*EXPERIMENTS))]["published"]))
    yield from _variants(stored)
    yield from _figure8(pairs)
    yield from _mended(stored)
    yield from _default(stored)
    yield from _drawn(stored, pairs)


def _deviations(pairs: list[Beside], *, published: bool) -> Iterator[Block]:
    far = [pair for pair in pairs if pair.far]
    if not far:
        yield Text(f"None of the {len(pairs)} rows deviates by more than .08.")
        return
    counted = f"{len(far)} of {len(pairs)} rows deviate by more than .08 in some figure."
    if not published:
        yield Text(
            f"{counted} The samples are our own, and the paper's Alarm has other parameters; only its own sets can "
            "show the same figures. Columns of the small networks stand as in the published files."
        )
        return
    yield Text(f"{counted} The likely reasons:")
    reasons = tomllib.loads(_REASONS.read_text("utf-8"))["reasons"]
    rows = []
    for pair in far:
        row = pair.paper
        why = next(
            (
                reason["why"]
                for reason in reasons
                if row.algorithm in reason["algorithms"] and row.network in reason["networks"]
            ),
            "few parts: within two standard errors" if pair.is_within_errors else "no reason known",
        )
        rows.append((pair.name, ", ".join(f"{name} {pair.differences[name]:+.2f}" for name in pair.far), why))
    yield Table(("row", "deviation", "likely reason"), tuple(rows))


def _drawn(stored: Stored, pairs: list[Beside]) -> Iterator[Block]:
    """Set samples of our own beside the paper's."""
    drawn = beside(stored, DRAWN)
    if not drawn or not pairs:
        return
    given = {pair.paper: pair for pair in pairs}
    both = [(pair, given[pair.paper]) for pair in drawn if pair.paper in given]
    near, of_given = (sum(not pair.far for pair in some) for some in zip(*both, strict=True))
    yield Heading("Without the paper's files", 3)
    yield Text(
        "Samples drawn from our own networks, their columns in the published order. "
        f"{near} of {len(both)} rows are within .08, while {of_given} are with the paper's sets. The paper's Alarm has "
        "other parameters than ours."
    )
    rows = []
    for pair, other in both:
        where, algorithm, paper, found, apart, _, runs, mark = pair.cells()
        rows.append((where, algorithm, paper, other.cells()[3], found, apart, runs, mark))
    head = ("set", "algorithm", "paper", "with its sets", "drawn", "drawn − paper", "runs", "deviates")
    yield Table(head, tuple(rows))


def _variants(stored: Stored) -> Iterator[Block]:
    """Set the two readings of APSL side by side: the paper's text and the authors' program."""
    found = stored.of(*EXPERIMENTS, order="file", depth="1", scoring="dag extension")
    rows = []
    for network, size in rows_in_order(found):
        cells = [one(found, network=network, size=size, learner=name) for name in ("apsl-paper", "apsl-authors")]
        if all(cells):
            spelt = ["/".join(short(cell[figure]) for figure in _FIGURES) for cell in cells if cell]
            rows.append((f"{network}-{size}", *spelt))
    if rows:
        yield Text(
            "APSL has two readings: `apsl-paper` is the text (HITON, separating sets searched anew), `apsl-authors` "
            "the authors' later program (PC-simple, separating sets kept). Same scoring:"
        )
        yield Table(("set", "`apsl-paper`", "`apsl-authors`"), tuple(rows))


def _figure8(pairs: list[Beside]) -> Iterator[Block]:
    yield Heading("Figure 8: ranks and critical differences", 3)
    if len({(pair.paper.network, pair.paper.size) for pair in pairs}) * len(PUBLISHED) != len(pairs):
        yield Text("Not all four algorithms were run on each set.")
        return
    for measure, column, told in RANKED_BY:
        figures: dict[str, list[float]] = {}
        for pair in pairs:
            figures.setdefault(pair.paper.algorithm, []).append(pair.measured[column])
        ranking = rank(figures, better="lower", decimals=2 if column == "distance" else None)
        diagram = DifferenceDiagram(ranking, title=f"{told}, depth 1, measured here")
        published = published_ranks(measure, 1)
        spelt = ", ".join(f"{name} {ranking.ranks[name]:.2f} (paper {published[name]:.2f})" for name in ranking.order)
        yield Picture(f"figure8-{column}", diagram.svg(), f"Figure 8, {told}")
        p = f"Friedman's p = {ranking.friedman().p:.2g}"
        yield Text(f"{told}, mean ranks over {ranking.tasks} sets, highest best: {spelt}. {p}. {significant(ranking)}")


def significant(ranking: Ranking) -> str:
    """Say which algorithms differ by the critical difference."""
    apart = [
        f"{better} from {worse}"
        for at, better in enumerate(ranking.order)
        for worse in ranking.order[at + 1 :]
        if ranking.differ(better, worse)
    ]
    if not apart:
        return "No two differ significantly."
    return f"Significantly different: {', '.join(apart)}."


def _mended(stored: Stored) -> Iterator[Block]:
    """Set the published algorithms beside the mended ones."""
    yield Heading("As published and as mended", 3)
    found = stored.of(*EXPERIMENTS, order="file", depth="1")
    rows = []
    for network, size in rows_in_order(found):
        for algorithm, published in PUBLISHED.items():
            cells = []
            for scoring in ("dag extension", "cpdag marks"):
                for learner in (published, MENDED[algorithm]):
                    row = one(found, network=network, size=size, learner=learner, scoring=scoring)
                    cells.append("–" if row is None else f"{short(row['distance'])} ({row['shd']:.2f})")
            rows.append((f"{network}-{size}", algorithm, *cells))
    yield Text(
        "Distance (and SHD, wrong edges for each part) of each algorithm as published and as mended here, against the "
        "true DAG after an arbitrary extension, and against the CPDAG, mark for mark. File order."
    )
    head = ("set", "algorithm", "DAG: published", "DAG: mended", "CPDAG: published", "CPDAG: mended")
    yield Table(head, tuple(rows))


def _default(stored: Stored) -> Iterator[Block]:
    """Set our default on tables beside the four as published."""
    found = stored.of(*EXPERIMENTS, order="file", depth="1", scoring="cpdag marks")
    learners = {"`apsl-score`": "apsl-score", **PUBLISHED}
    rows = []
    for network, size in rows_in_order(found):
        mine = {name: one(found, network=network, size=size, learner=learner) for name, learner in learners.items()}
        cells = [
            "–" if row is None else f"{row['shd']:.2f} ({short(row['arrow_precision'])}/{short(row['arrow_recall'])})"
            for row in mine.values()
        ]
        if mine["`apsl-score`"] is not None:
            rows.append((f"{network}-{size}", *cells))
    if rows:
        yield Heading("The default beside the four", 3)
        yield Text(
            "SHD, wrong edges for each part, against the CPDAG mark for mark; in brackets precision and recall of "
            "compelled arrows over all parts. File order."
        )
        yield Table(("set", *learners), tuple(rows))


def _place(row: Published) -> tuple[int, int, int]:
    networks = list(dict.fromkeys(one.network for one in table3()))
    return networks.index(row.network), row.size, list(PUBLISHED).index(row.algorithm)
