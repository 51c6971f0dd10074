"""How near methods came to the truth, and the page that says so, with our losses marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Any

from arena import Contest
from contestant import METHODS

from apsl_rules.errors import GraphError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.equivalence import cpdag

US = "apsl_rules"
REAL = "apsl_rules, as it is"
GROUPS = {
    "child": "Child, 20 categories",
    "insurance": "Insurance, 27 categories",
    "alarm": "Alarm, 37 categories",
    "hepar2": "Hepar2, 70 categories",
    "win95pts": "Win95pts, 76 categories",
    "hailfinder": "Hailfinder, 56 categories",
    "numbers": "20 numbers, linear",
    "mixed": "20 columns of both kinds",
    "missing": "one value in ten missing",
}
Marks = dict[frozenset[str], str]


def marks(some: list[list[str]]) -> Marks:
    """Return for each pair that is joined the end that an arrow points at, or nothing for a line."""
    arrows = {tuple(one) for one in some}
    return {frozenset((x, y)): "" if (y, x) in arrows else y for x, y in arrows}


def class_marks(dag: Dag) -> Marks:
    """Return the marks of the class of a graph."""
    found = cpdag(dag)
    arrows = [[str(x), str(y)] for x, y in found.arrows]
    lines = [[str(x), str(y)] for pair in found.lines for x, y in (tuple(pair), tuple(pair)[::-1])]
    return marks([*arrows, *lines])


def of_class(some: list[list[str]], nodes: list[str]) -> Marks:
    """Return the marks of what was found; a graph of arrows alone stands for its class."""
    found = marks(some)
    if all(found.values()):
        try:
            return class_marks(Dag({node: [x for x, y in some if y == node] for node in nodes}))
        except GraphError:
            return found
    return found


def wrong(found: Marks, true: Marks, around: str | None = None) -> int:
    """Return how many edges are missing, extra or marked differently, in all or at one node."""
    pairs = {pair for pair in found.keys() | true.keys() if around is None or around in pair}
    return sum(found.get(pair, "no edge") != true.get(pair, "no edge") for pair in pairs)


def judged(found: dict[str, Any], one: Contest) -> dict[str, Any]:
    """Return the figures of one table."""
    if "failed" in found:
        return {"failed": found["failed"]}
    kept: dict[str, Any] = {
        name: round(found[name], 4) for name in ("seconds", "seconds of a part", "peak") if name in found
    }
    if one.truth is None:
        return {**kept, **_directions(marks(found["marks"]), one)}
    true = class_marks(one.truth)
    nodes = list(map(str, one.frame.columns))
    if "marks" in found:
        drawn = of_class(found["marks"], nodes)
        kept["shd"] = wrong(drawn, true)
        kept["shd of a part"] = mean(wrong(drawn, true, target) for target in one.targets)
    if "parts" in found:
        parts = found["parts"].items()
        kept["shd of a part"] = mean(wrong(marks(part), true, target) for target, part in parts)
    return kept


def _directions(found: Marks, one: Contest) -> dict[str, int]:
    """Count the edges between columns of known order, and how their arrows point."""
    joined = [(x, y) for x, y in sorted(one.order) if frozenset((x, y)) in found]
    right = sum(found[frozenset(pair)] == pair[1] for pair in joined)
    drawn = sum(bool(found[frozenset(pair)]) for pair in joined)
    return {"edges": len(joined), "right": right, "false": drawn - right}


INTRODUCTION = """\
All programs on the same tables, each in an environment of its own from PyPI. `make tournament` runs it again and
writes this page; `make tournament FULL=1` uses more tables and takes hours. This is the {form} form."""
CHOSEN = """\
Our settings were chosen on rows of child, insurance and alarm and on mixed networks, with other seeds than those here,
and on half of the real tables. Nothing was chosen on these samples. Other programs run with their defaults, or as
their documentation recommends."""
WHOLE = """\
1,000 rows, columns in random order: edges that are missing, extra or marked differently, against the CPDAG. A fully
directed graph is converted to the CPDAG of its class."""
PARTS = """\
Five targets in each table. A program that learns only whole graphs is judged by its edges at the target. TBF-PC assumes
that all other columns come before the target."""
REAL_TABLES = """\
Edges between columns of known order (sex before wage), on up to 1,000 rows without gaps. Programs that take only
categories get numbers in three levels; programs that take only numbers get codes. *As it is* is our default, which
draws only what is safe; our other row draws all that follows if nothing is hidden. *Right* is the share of all edges
found, *right of arrows* the share of those with an arrow; other programs are compared with *as it is*. Columns are in
the order of the files, where causes often come first, which helps programs that break ties by order."""
COSTS = """\
CPU time on one thread, summed over the tables that both programs took, as a multiple of ours: whole graphs, and their
whole graph against one part of ours, since they offer nothing smaller. Memory is the peak of the whole process."""


def page(stored: Mapping[str, Any]) -> str:
    """Return the page."""
    return "\n".join(_lines(stored)) + "\n"


def _lines(stored: Mapping[str, Any]) -> Iterator[str]:
    about = stored["about"]
    methods = {name: stored["methods"][name] for name in METHODS if name in stored["methods"]}
    cells: list[bool] = []
    sections = (
        ("Whole graphs: wrong edges", WHOLE, list(_table(methods, "shd", cells))),
        ("Parts: wrong edges at a target", PARTS, list(_table(methods, "shd of a part", cells))),
        ("Real tables: directions beyond doubt", REAL_TABLES, list(_real(methods, cells))),
        ("CPU time and memory", COSTS, list(_costs(methods, cells))),
    )
    lost = f"**In {sum(cells)} of {len(cells)} cells another program is better than ours.** "
    yield from ("# The tournament", "", INTRODUCTION.format(form=about["form"]), "")
    yield from (lost + 'They are bold and <span class="loss">red</span>.', "", CHOSEN)
    for title, told, rows in sections:
        yield from ("", f"## {title}", "", told, "", *rows)
    yield from ("", "## How this was made", "")
    present = {METHODS[name][0] for name in methods if name in METHODS}
    told = ", ".join(f"{name} {told}" for name, told in about["versions"].items() if name in present)
    yield f"- {told}. bnlearn and pcalg are not on PyPI."
    yield f"- {about['machine']}, Python {about['python']}, on {about['date']}."
    yield from _failures(methods)


def _mean(methods: Mapping[str, Any], method: str, group: str, what: str) -> float | None:
    """Return the mean over the tables of a group, if the method has a figure of each that it could take."""
    found = [one[what] for name, one in methods.get(method, {}).items() if _group(name) == group and what in one]
    return mean(found) if found else None


def _group(table: str) -> str:
    first = table.split("-", maxsplit=1)[0]
    return "missing" if "-holes-" in table else first


def _table(methods: Mapping[str, Any], what: str, cells: list[bool]) -> Iterator[str]:
    """Return a table with a row for each group and a column for each method."""
    names = [name for name in methods if name != REAL and any(what in one for one in methods[name].values())]
    yield "| | " + " | ".join(names) + " |"
    yield "| --- |" + " --- |" * len(names)
    for group, title in GROUPS.items():
        ours = _mean(methods, US, group, what)
        if ours is None:
            continue
        row = []
        for name in names:
            shared = _shared(methods, name, group, what)
            if shared is None:
                row.append("–")
                continue
            figure, beside = shared
            row.append(_cell(f"{figure:.1f}", round(figure, 1) < round(beside, 1), None if name == US else cells))
        yield f"| {title} | " + " | ".join(row) + " |"


def _shared(methods: Mapping[str, Any], name: str, group: str, what: str) -> tuple[float, float] | None:
    """Return the means of a method and of ours over the tables that both have figures of."""
    theirs, ours = methods[name], methods[US]
    tables = [one for one in theirs if _group(one) == group and what in theirs[one] and what in ours.get(one, {})]
    return (mean(theirs[one][what] for one in tables), mean(ours[one][what] for one in tables)) if tables else None


def _real(methods: Mapping[str, Any], cells: list[bool]) -> Iterator[str]:
    """Return how known directions were drawn: by each method on the form of the tables that keeps most."""
    yield "| | tables | edges | arrows | right | right of arrows |"
    yield "| --- | --- | --- | --- | --- | --- |"
    sums = {name: _sum_of_real(methods[name]) for name in methods}
    reference = sums.get(REAL)
    for name, found in sums.items():
        if found is None:
            continue
        tables, edges, right, false = found
        arrows = right + false
        share = right / arrows if arrows else 0.0
        texts = [f"{right / edges:.0%}" if edges else "–", f"{share:.0%}" if arrows else "–"]
        if reference is not None and name not in (US, REAL):
            best = (reference[2] / reference[1], reference[2] / max(1, reference[2] + reference[3]))
            for at, figure in enumerate((right / max(1, edges), share)):
                texts[at] = _cell(texts[at], figure > best[at], cells)
        yield f"| {name} | {tables} | {edges} | {arrows} | {texts[0]} | {texts[1]} |"


def _sum_of_real(found: Mapping[str, Any]) -> tuple[int, int, int, int] | None:
    for kind in ("mixed", "categories", "numbers"):
        some = [one for name, one in found.items() if name.endswith(f"-{kind}") and "edges" in one]
        if some:
            edges, right, false = (sum(one[what] for one in some) for what in ("edges", "right", "false"))
            return len(some), edges, right, false
    return None


def _costs(methods: Mapping[str, Any], cells: list[bool]) -> Iterator[str]:
    """Return CPU time as multiples of ours, and memory."""
    yield "| | whole graphs / ours | whole graph / a part of ours | peak memory, MB |"
    yield "| --- | --- | --- | --- |"
    ours = methods.get(US, {})
    for name, found in methods.items():
        if name == REAL:
            continue
        shared = [one for one in found if "seconds" in found[one] and "seconds" in ours.get(one, {})]
        if not shared:
            continue
        ratio = sum(found[one]["seconds"] for one in shared) / sum(ours[one]["seconds"] for one in shared)
        drawn = [one for one in shared if "seconds of a part" in ours[one]]
        part = sum(found[one]["seconds"] for one in drawn) / sum(ours[one]["seconds of a part"] for one in drawn)
        peak = max(_peaks(found))
        better = (ratio < 1, part < 1, peak < max(_peaks(ours)))
        texts = (f"{ratio:.2f}", f"{part:.1f}", f"{peak:.0f}")
        beside = None if name == US else cells
        marked = [_cell(text, one, beside) for text, one in zip(texts, better, strict=True)]
        yield f"| {name} | " + " | ".join(marked) + " |"


def _cell(text: str, better: bool, cells: list[bool] | None) -> str:  # noqa: FBT001 - what the cell says
    """Return a cell, red where another program is better than ours, and count it; ours are not counted."""
    if cells is None:
        return text
    cells.append(better)
    return f'<span class="loss">**{text}**</span>' if better else text


def _peaks(found: Mapping[str, Any]) -> list[float]:
    return [one["peak"] for one in found.values() if "peak" in one]


def _failures(methods: Mapping[str, Any]) -> Iterator[str]:
    """Say where a program found nothing."""
    for name, found in methods.items():
        failed: dict[str, list[str]] = {}
        for table, one in found.items():
            if "failed" in one:
                failed.setdefault(one["failed"], []).append(table)
        for why, tables in failed.items():
            yield f"- {name} has nothing on {', '.join(tables[:3])}{' and others' if len(tables) > 3 else ''}: `{why}`."
