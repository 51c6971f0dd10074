"""What a reader of a part should know: why it is empty, what it assumes, which pairs no test could decide."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod, sqrt, tanh, ulp
from typing import Any

from apsl_rules.data import ColumnKind, Dataset
from apsl_rules.evidence import ROWS, Evidence, Verdict
from apsl_rules.names import Node, count_of, in_order, listing, order_key, shown
from apsl_rules.notes import Note, argument, assumptions, empty_note
from apsl_rules.oracles import Asker
from apsl_rules.parts import Part
from apsl_rules.rules import Finding, adjacent, gap, settled, untested

_FEW_ROWS = 100
#: So many columns are named that come nearest to the target of an empty part.
NEAREST = 3
#: The quantile of a power of four in five, and the steps in which the needed excess of a statistic settles.
_FOUR_OF_FIVE, _STEPS = 0.84, 20
#: More rows than so many are not asked for, nor so many times those of the table.
_MOST_ROWS, _MOST_TIMES = 1e12, 100
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_NO_EFFECTS = frozenset({"sex", "gender", "race", "ethnicity", "age", "birthdate", "birthday", "birthyear", "dob"})
#: These say the same where they are the whole name, as those of indicator columns are.
_NO_EFFECTS_ALONE = frozenset({"female", "male", "woman", "black", "white", "asian", "hispanic", "hisp"})


def notes_on_part(part: Part, rows: int | None, near: Sequence[Verdict] = (), *, whole: bool = False) -> Iterator[Note]:
    """Return what a reader should know of a part from data: its assumptions, odd arrows, and what rows cannot show.

    ``near`` are the verdicts on the columns that come nearest to the target, which are told of an empty part. ``whole``
    says that the graph of all nodes is wanted: edges anywhere then make it no empty one.
    """
    if part.edges:
        yield _on_assumptions(part)
    yield from _on_odd_arrows(part)
    if not part.edges and part.incomplete is None and not (whole and part.store.facts(adjacent)):
        fields: dict[str, Any] = {"target": part.target, "rows": rows}
        if near:
            fields |= {"nearest": [one.y for one in near], "p": [one.p for one in near]}
        if near and (advice := _what_to_try(part, near[0])):
            fields["advice"] = advice
        yield empty_note(_why_empty(part, rows), **fields)
    if rows is not None and rows < _FEW_ROWS:
        told = f"{count_of(rows, 'row')} are few: edges are found only if they are strong{_unseen(part, rows)}, and "
        yield Note(f"{told}their directions are hardly ever determined", "few rows", "warning", rows=rows)


_FAMILIES = {
    "fisherz": "linear relations of numbers",
    "gsquare": "relations of any form between categories",
    "chisquare": "relations of any form between categories",
    "moments": "smooth relations, on normal scores of the numbers",
}


def _on_assumptions(part: Part) -> Note:
    """Say what the marks of a part from data rest on."""
    family, hidden = _FAMILIES.get(part.oracle), part.settings.get("hidden")
    tests = "" if family is None else f"; tests look for {family}"
    begin = "marks allow hidden common causes; they assume" if part.allows_hidden else "arrows assume"
    if hidden == "possible":
        begin = "hidden common causes are possible, so that edges whose direction nothing tells are lines; edges assume"
    told = f"{begin} {assumptions(part.allows_hidden, part.settings)}{tests}"
    return Note(told, "assumptions", hidden=part.allows_hidden, family=family)


def notes_on_hidden(part: Part) -> Iterator[Note]:
    """Name the pairs that V-structures on either side give both directions: they may share a hidden cause."""
    for one in part.conflicts:
        rules = {proof.steps[-1].because for proof in one.proofs}
        if one.kind == "opposed" and not part.allows_hidden and rules <= {"V-from-middle", "V-from-spouse"}:
            yield may_share_hidden_cause(*one.pair, "V-structures on either side prove both directions")


def notes_against_given(part: Part, nodes: Collection[Node]) -> Iterator[Note]:
    """Name the pairs with one of some nodes where what was given holds against what was found."""
    for one in part.conflicts:
        kept = [proof for proof in one.proofs if proof.fact in one.kept]
        if not set(one.pair).isdisjoint(nodes) and any(
            finding.evidence.is_given for proof in kept for finding in proof.findings
        ):
            x, y = one.pair
            told = (
                f"the data contradict what was given of {shown(x)} and {shown(y)}, which holds; a hidden common cause"
            )
            advice = f"{told}, selection or a curved relation would explain that; part.conflicts has both sides"
            yield Note(advice, "against given", "warning", columns=[x, y])


def may_share_hidden_cause(x: Node, y: Node, why: str) -> Note:
    """Say that two nodes may share a hidden cause, and what to do."""
    told = f"{shown(x)} and {shown(y)} may share a hidden cause: {why}; learn with {argument('hidden', 'allowed')}"
    return Note(told, "hidden cause", "warning", columns=[x, y])


def is_hardly_an_effect(column: Node) -> bool:
    """Return whether the name of a column says that nothing in a table can be its cause.

    >>> [name for name in ("Sex", "mother_age", "birthYear", "wage", "birth weight") if is_hardly_an_effect(name)]
    ['Sex', 'mother_age', 'birthYear']
    """
    words = {word.casefold() for word in _WORD.findall(column)} if isinstance(column, str) else set()
    if len(words) == 1 and words <= _NO_EFFECTS_ALONE:
        return True
    return not words.isdisjoint(_NO_EFFECTS) or ("birth" in words and not words.isdisjoint({"year", "date"}))


#: Words of names that say how long something was followed, and whether its end was seen.
_FOLLOWED = frozenset({"time", "futime", "survtime", "stime", "survival", "duration", "followup", "tte", "ttr", "surv"})
_SEEN = frozenset(
    {"status", "event", "death", "dead", "died", "cens", "censor", "censored", "censoring", "delta", "fustat"}
)
#: Names of more words say something else.
_MOST_WORDS = 3


def notes_on_survival(part: Part, columns: Iterable[ColumnKind]) -> Iterator[Note]:
    """Say what cannot be said of a time that ends with an event in some rows and is cut short in the others."""
    known = list(columns)
    numbers = [one.name for one in known if one.kind == "number" and _has_word(one.name, _FOLLOWED)]
    ends = [one.name for one in known if one.kind == "category" and _has_word(one.name, _SEEN)]
    near = {part.target, *part.neighbours_of(part.target)}
    pairs = [(time, end) for time in numbers for end in ends if not near.isdisjoint((time, end))]
    if not pairs:
        return
    time, end = pairs[0]
    words = (
        f"columns {time!r} and {end!r} look like a time that was followed and whether its event was seen: where it was "
        "not, the time is cut short, and no edge or effect here allows for that; what is told of these two holds of "
        "the times as they were written down, and a model of survival says what holds of the event"
    )
    yield Note(words, "survival", "warning", columns=[time, end])


@lru_cache(maxsize=1 << 14)
def _has_word(name: Node, words: frozenset[str]) -> bool:
    found = [one.casefold() for one in _WORD.findall(str(name))]
    return not words.isdisjoint(found) and len(found) <= _MOST_WORDS


def _on_odd_arrows(part: Part) -> Iterator[Note]:
    """Name the arrows into columns such as sex and age; what the tiers name was thought of already."""
    ordered = {node for tier in part.knowledge.tiers for node in tier}
    odd = {node for node in part.members if node not in ordered and is_hardly_an_effect(node)}
    if not odd:
        return
    found = [pair for pair in part.arrows.union(part.suggested) if pair[1] in odd]
    pairs = sorted(found, key=lambda pair: tuple(map(order_key, pair)))
    if not pairs:
        return
    heads = in_order({head for _, head in pairs})
    arrows = listing([f"{shown(tail)} -> {shown(head)}" for tail, head in pairs])
    verb = "points" if len(pairs) == 1 else "point"
    what = "a column that is hardly an effect" if len(heads) == 1 else "columns that are hardly effects"
    tiers = argument("knowledge", {"tiers": [heads]}, python=f"knowledge=Knowledge(tiers=[{list(heads)}, ...])")
    told = f"{arrows} {verb} at {what}; say what comes first with tiers ({tiers})"
    yield Note(told, "odd arrows", "warning", tails=[tail for tail, _ in pairs], heads=[head for _, head in pairs])


def _why_empty(part: Part, rows: int | None) -> str:
    """Say why a part has no edge."""
    if len(part.nodes) == 1:
        return f"there is no other column than {part.target!r}"
    pairs = (fact.nodes for fact in part.store.facts(untested) if part.target in fact.nodes)
    open_pairs = [pair for pair in pairs if gap.fact(*pair) not in part.store]
    others = count_of(len(part.nodes) - 1, "other column")
    if open_pairs:
        return (
            f"{part.target!r} could not be tested against {len(open_pairs):,} of {others}, "
            "and nothing else depends on it at this level of evidence"
        )
    if part.store.facts(adjacent):
        return f"no column is adjacent to {part.target!r} at this level of evidence"
    if rows is not None and rows < _FEW_ROWS:
        return f"{count_of(rows, 'row')} are too few to show that anything depends on {part.target!r}"
    if part.allows_hidden:
        return (
            f"every column is independent of {part.target!r}, alone or given others, at this level "
            "of evidence; a column that follows from others can be separated by them from all that depends on it"
        )
    seen = "" if rows is None else f" ({count_of(rows, 'row')}{_unseen(part, rows, '; ')})"
    return f"nothing depends on {part.target!r} at this level of evidence{seen}"


def _what_to_try(part: Part, nearest: Verdict) -> str:
    """Say what may settle whether the nearest column belongs to the part, and with about how many rows."""
    alpha = part.settings.get("alpha")
    name = shown(nearest.y)
    if not isinstance(alpha, float) or nearest.n is None:
        return ""
    if nearest.dependent:
        told = f"the test of {name} finds a dependence, and the score does not pay for an edge: they disagree"
        return f"{told}, and more rows would decide (the learner apsl goes by tests alone)"
    rows = rows_to_settle(nearest, alpha)
    if rows is None or rows > _MOST_TIMES * nearest.n:
        return "not even the nearest column shows a sign of dependence; other columns may tell more than more rows"
    return f"about {rows:,} rows would show a dependence as strong as that on {name} appears"


def rows_to_settle(verdict: Verdict, alpha: float) -> int | None:
    """Return with about how many rows a dependence as strong as it appears is found in four of five tables.

    The statistic of a test grows with the rows by what it has above its degrees of freedom; the quantiles are those of
    the approximation by Wilson and Hilferty (1931). None where nothing is above them.

    >>> rows_to_settle(Verdict("a", "b", (), "independent", "G²", 3.0, 0.08, 1, 1000), 0.05)
    3700
    """
    if verdict.statistic is None or verdict.dof is None or verdict.n is None:
        return None
    from statistics import NormalDist  # slow to load

    above = verdict.statistic - verdict.dof
    if above <= 0:
        return None
    ninth, dof = 2 / (9 * verdict.dof), verdict.dof
    critical = dof * (1 - ninth + NormalDist().inv_cdf(1 - max(alpha, ulp(1.0))) * sqrt(ninth)) ** 3
    needed = critical - dof
    for _ in range(_STEPS):  # as much more as the statistic varies
        needed = critical - dof + _FOUR_OF_FIVE * sqrt(2 * (dof + 2 * needed))
    rows = verdict.n * needed / above
    return int(round(rows, 2 - len(str(int(rows))))) if rows < _MOST_ROWS else None


def _unseen(part: Part, rows: int, before: str = " (") -> str:
    """Say which correlations are too weak to be seen with so many rows."""
    alpha = part.settings.get("alpha")
    if not isinstance(alpha, float) or rows <= 3:  # noqa: PLR2004 - Fisher's z has n - 3 degrees of freedom
        return ""
    from statistics import NormalDist

    tail = max(alpha / 2, ulp(0.0))  # half of the least number above zero is zero
    least = tanh(-NormalDist().inv_cdf(tail) / sqrt(rows - 3))
    close = ")" if before == " (" else ""
    return f"{before}a correlation below about {least:.2f} goes unseen at alpha {alpha:g}{close}"


_ROWS_PER_CELL = 5
_HELP = "fewer levels would help: cut numbers (discretize) or join rare levels"
_HELP_WITH_ROWS = "more rows or fewer columns would help"
_HELP_WITH_BOTH = "more rows with values of both would help"
_MOMENTS = "moments"
_SHOWN = 3


def with_untested(findings: Sequence[Finding], oracle: Asker, *, scored: Collection[Node] = ()) -> list[Finding]:
    """Return findings and, for each node that they settle, the pairs at it that could not be tested.

    ``scored`` are nodes that a score compared with each other, which says more than the test that was not made.
    """
    known = [
        finding_of(verdict, oracle)
        for finding in findings
        if finding.fact.relation == settled.name
        for verdict in oracle.untested(finding.fact.nodes[0])
        if not (verdict.x in scored and verdict.y in scored)
    ]
    if not known:
        return list(findings)
    told = {finding.fact for finding in findings}
    return [*findings, *(one for one in _once(known) if told.isdisjoint((one.fact, *_of_pair(one))))]


def finding_of(verdict: Verdict, oracle: Asker) -> Finding:
    """Return that a pair could not be tested, with what would help."""
    return Finding(untested.fact(verdict.x, verdict.y), Evidence(oracle.name, (verdict,), _advice(verdict, oracle)))


def notes_on_untested(part: Part, duplicates: Iterable[Sequence[Node]] = ()) -> Iterator[Note]:
    """Return a sentence for each of the nearest nodes of a part that could not be tested against others."""
    others: dict[Node, set[Node]] = {}
    twins = {node for group in duplicates for node in group}
    lacking: set[Node] = set()
    undecided = [
        fact
        for fact in part.store.facts(untested)
        if twins.isdisjoint(fact.nodes)  # else the note on duplicate columns says it
        and gap.fact(*fact.nodes) not in part.store
        and adjacent.fact(*fact.nodes) not in part.store
    ]
    told = part.findings if undecided else ()
    both = {one.fact for one in told if one.fact.relation == untested.name and one.evidence.source == ROWS}
    for fact in undecided:
        for one, other in (fact.nodes, fact.nodes[::-1]):
            if part.is_inner(one):
                others.setdefault(one, set()).add(other)
                lacking |= {one} if fact in both else set()
    nearest = sorted(in_order(others), key=part.distances.__getitem__)
    shown, left = nearest[:_SHOWN], nearest[_SHOWN:]
    advice = {True: _HELP_WITH_BOTH, False: _HELP_WITH_ROWS if part.oracle == _MOMENTS else _HELP}
    for one in shown:
        few = f"too few rows to test {one!r} against {listing(others[one])}"
        unknown = f"whether they are adjacent is unknown; {advice[one in lacking]}"
        yield Note(f"{few}: {unknown}", "untested", "warning", column=one, others=[*in_order(others[one])])
    if left:
        few = f"too few rows to test {len(left)} more nodes against others"
        unknown = f"whether they are adjacent is unknown; {advice[not lacking.isdisjoint(left)]}"
        yield Note(f"{few}: {unknown}", "more untested", "warning", columns=[*left])


def _of_pair(finding: Finding) -> tuple[object, ...]:
    return adjacent.fact(*finding.fact.nodes), gap.fact(*finding.fact.nodes)


def _once(findings: Iterable[Finding]) -> Iterable[Finding]:
    return {finding.fact: finding for finding in findings}.values()


def _advice(verdict: Verdict, oracle: Asker) -> str:
    if oracle.name == _MOMENTS:
        return f"a test needs more rows than it has columns; {_HELP_WITH_ROWS}"
    data = oracle.data
    if not isinstance(data, Dataset) or "counts" not in data.can:
        return ""
    counted = data.categories
    cells = prod(len(counted.levels_of(node)) for node in (verdict.x, verdict.y, *verdict.given))
    if verdict.n is not None and verdict.n >= _ROWS_PER_CELL * cells:
        return "one of the two never varies in rows that are alike in all else, so that nothing can be compared"
    return f"{cells:,} cells need {_ROWS_PER_CELL * cells:,} rows; {_HELP}"
