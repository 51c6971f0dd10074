"""Evidence: verdicts of tests and leads of scores, in words and as data."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, inf, isnan, log, log1p, log10, nan
from typing import Any, Literal, TypeAlias, get_args

import attrs

from apsl_rules._documents import label, node_of
from apsl_rules.names import Node, shown

Decision: TypeAlias = Literal["independent", "dependent", "unreliable"]


@attrs.frozen
class Verdict:
    """One answered independence question, with the figures behind the answer where there are any.

    ``rank`` is that of the given columns, for a test that takes columns which depend on others once.

    Attributes
    ----------
    x, y, given
        The question: are x and y independent given the others?
    decision
        "independent", "dependent", or "unreliable" where there are too few rows.
    test
        The name of the test.
    statistic, p, dof, n
        The statistic, its p-value, its degrees of freedom and the number of rows, where there are any.
    log_p
        ln p, where p itself is too small to be written.
    inside, groups
        Of rows in groups, the part of the statistic that comes from inside the groups, and how many there are. The
        rest comes from their means.
    """

    x: Node
    y: Node
    given: tuple[Node, ...]
    decision: Decision
    test: str
    statistic: float | None = None
    p: float | None = None
    dof: int | None = None
    n: int | None = None
    log_p: float | None = None
    rank: int | None = None
    inside: float | None = None
    groups: int | None = None

    @property
    def independent(self) -> bool:
        """Return whether the answer is a reliable "independent"."""
        return self.decision == "independent"

    @property
    def dependent(self) -> bool:
        """Return whether the answer is a reliable "dependent"."""
        return self.decision == "dependent"

    @property
    def association(self) -> float:
        """Return the association used for ranking: the statistic, 0 where independent, above all where unmeasured."""
        if self.decision == "independent":
            return 0.0
        return self.statistic if self.statistic is not None else float("inf")


def log_p_of(verdict: Verdict) -> float:
    """Return ln p of a verdict, NaN when it has no p."""
    if verdict.log_p is not None:
        return verdict.log_p
    if verdict.p is None:
        return nan
    return log(verdict.p) if verdict.p > 0 else -inf


def weaker(one: Verdict, other: Verdict) -> bool:
    """Return whether one dependence is nearer to independence than another: larger p, or a smaller statistic."""
    mine, its = log_p_of(one), log_p_of(other)
    if mine != its and not isnan(mine) and not isnan(its):
        return mine > its
    return one.association < other.association


Kind: TypeAlias = Literal["given", "score", "test", "stated"]
#: The kinds of evidence that files may have.
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The source of background knowledge.
GIVEN = "given"
#: The source of what is told of pairs that too few rows speak for.
ROWS = "rows"
#: The source of directions that somebody finds likely.
OPINION = "opinion"
#: The source of directions that the shapes of columns speak for.
SHAPES = "column shapes"
#: The source of what environments tell: where columns are made differently, and which causes follow.
ENVIRONMENTS = "environments"


@attrs.frozen
class Evidence:
    """Where a finding comes from: the source's name, the verdicts behind it, and what they amount to in words.

    ``nats`` is how far the scored graph with the finding is ahead of the best one without it, where scores were asked.
    ``strength`` is how strong it is all in all, where its source has more to go by than the weakest verdict.

    Attributes
    ----------
    source
        The name of the test or score, or "given".
    verdicts
        The tests behind the finding.
    note
        What they amount to, in words.
    """

    source: str
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""
    nats: float | None = None
    strength: float | None = None

    @property
    def is_given(self) -> bool:
        """Return whether it is background knowledge."""
        return self.source == GIVEN

    @property
    def kind(self) -> Kind:
        """Return what kind of evidence it is: something given, a lead of a score, tests, or a bare statement."""
        if self.is_given:
            return "given"
        if self.nats is not None:
            return "score"
        return "test" if self.verdicts else "stated"

    @property
    def separator(self) -> tuple[Node, ...] | None:
        """Return the separating set, if the finding rests on one."""
        return next((verdict.given for verdict in self.verdicts if verdict.independent), None)


#: What columns that agree in every row say of each other, and of the edges of one of them.
SAME = Evidence("columns", note="they agree in every row, up to the names of their levels")
EITHER = Evidence("columns", note="a duplicate has an edge there, and no data can tell which of the two has it")


def evidence_strength(evidence: Evidence) -> float:
    """Return how strong evidence is: minus the log of the probability that its weakest verdict is wrong.

    That probability is p for "dependent" and 1 - p for "independent". With a lead in nats over the best rival it is
    1 / (1 + exp(nats)), and tests do not count. Evidence without any of these (a known graph, what the user gave) is
    infinitely strong. A source may say itself how strong its evidence is.
    """
    if evidence.strength is not None:
        return evidence.strength
    if evidence.nats is not None:
        return _log_sum(evidence.nats)
    return min((_verdict_strength(verdict) for verdict in evidence.verdicts), default=inf)


def _log_sum(nats: float) -> float:
    """Return the log of 1 + exp(nats), also where that is beyond the largest float."""
    return max(nats, 0.0) + log1p(exp(-abs(nats)))


def _verdict_strength(verdict: Verdict) -> float:
    if verdict.p is None:
        return inf if verdict.decision != "unreliable" else 0.0
    if verdict.independent:
        return -log1p(-verdict.p) if verdict.p < 1 else inf
    if verdict.log_p is not None:
        return -verdict.log_p
    return -log(verdict.p) if verdict.p > 0 else inf


def evidence_text(evidence: Evidence) -> str:
    """Describe in a line where a finding comes from; where a score decided, it is called support."""
    parts = [evidence.note] if evidence.note else []
    parts += [verdict_text(verdict) for verdict in evidence.verdicts]
    colon = "" if evidence.is_given and evidence.note.startswith("by ") else ":"
    source = f"support by {evidence.source}" if evidence.kind == "score" else evidence.source
    return f"{source}{colon} {'; '.join(parts)}" if parts else source


def times(nats: float) -> str:
    """Say how many times as probable a graph is as another one that it is so many nats ahead of.

    >>> times(-1.1), times(0.4), times(4.565), times(9.2), times(77.0)
    ('0.3 times', '1.5 times', '96 times', '9,900 times', 'over a million times')
    """
    if nats >= _MILLION:
        return "over a million times"
    factor = exp(nats)
    return f"{factor:.1f} times" if nats < _TEN else f"{round(factor, 1 - floor(log10(factor))):,.0f} times"


#: The logarithms of factors that are spelt in another way from there on.
_TEN, _MILLION = log(9.95), log(999_500)


def verdict_text(verdict: Verdict) -> str:
    """Write a verdict in a line, such as ``A ⊥ B | C (G² = 1.2, dof 2, p = 0.55, n = 1000)``.

    >>> verdict_text(Verdict("A", "B", ("C",), "independent", "G²", 1.2, 0.5488, 2, 1000))
    'A ⊥ B | C (G² = 1.2, dof 2, p = 0.549, n = 1000)'
    """
    x, y = shown(verdict.x), shown(verdict.y)
    said = {
        "independent": f"{x} ⊥ {y}",
        "dependent": f"{x} not ⊥ {y}",
        "unreliable": f"too few rows to test {x} against {y}",
    }[verdict.decision]
    given = f" | {', '.join(map(shown, verdict.given))}" if verdict.given else ""
    measured = verdict.statistic is not None and verdict.n is not None
    figures = [f"{verdict.test} = {_statistic_text(verdict)}"] if measured else []
    figures += [] if verdict.dof is None else [f"dof {verdict.dof}"]
    figures += [] if verdict.rank is None or not verdict.given else [f"rank {verdict.rank}"]
    figures += [] if verdict.p is None else [f"p = {p_text(verdict)}"]
    figures += [] if verdict.n is None else [f"n = {verdict.n}"]
    return f"{said}{given}" + (f" ({', '.join(figures)})" if figures else "")


def _statistic_text(verdict: Verdict) -> str:
    """Spell a statistic; that of rows in groups by where it comes from."""
    assert verdict.statistic is not None  # noqa: S101 - it was measured
    if verdict.inside is None or verdict.groups is None:
        return f"{verdict.statistic:.4g}"
    between = max(verdict.statistic - verdict.inside, 0.0)
    return f"{verdict.inside:.4g} (inside {verdict.groups:,} groups) + {between:.4g} (between them)"


def p_text(verdict: Verdict) -> str:
    """Spell a p-value with three digits, also far below the smallest float."""
    if verdict.p == 0 and verdict.log_p is not None:
        exponent, rest = divmod(verdict.log_p / log(10), 1)
        digits, carry = f"{exp(rest * log(10)):.2e}".split("e")
        return f"{float(digits):g}e{int(exponent) + int(carry)}"
    return f"{verdict.p:.3g}"


_FIGURES = ("statistic", "p", "log_p", "dof", "n", "rank", "inside", "groups")


def verdict_data(verdict: Verdict, name: Callable[[Node], Any] = label) -> dict[str, Any]:
    """Return a verdict as plain data, without the figures that it does not have; ``name`` writes a node."""
    figures = {figure: getattr(verdict, figure) for figure in _FIGURES}
    return {
        "x": name(verdict.x),
        "y": name(verdict.y),
        "given": [name(node) for node in verdict.given],
        "decision": verdict.decision,
        "test": verdict.test,
    } | {figure: value for figure, value in figures.items() if value is not None}


def verdict_of(data: dict[str, Any], node: Callable[[Any], Node] = node_of) -> Verdict:
    """Return the verdict that plain data stands for; ``node`` reads a node."""
    figures = {name: data.get(name) for name in _FIGURES}
    given = tuple(node(one) for one in data["given"])
    return Verdict(node(data["x"]), node(data["y"]), given, data["decision"], data["test"], **figures)


def evidence_data(evidence: Evidence, name: Callable[[Node], Any] = label) -> dict[str, Any]:
    """Return evidence as plain data; ``name`` writes a node."""
    data: dict[str, Any] = {
        "source": evidence.source,
        "note": evidence.note,
        "verdicts": [verdict_data(verdict, name) for verdict in evidence.verdicts],
    }
    figures = {"nats": evidence.nats, "strength": evidence.strength}
    return data | {figure: value for figure, value in figures.items() if value is not None}


def evidence_of(data: dict[str, Any], node: Callable[[Any], Node] = node_of) -> Evidence:
    """Return the evidence that plain data stands for; ``node`` reads a node."""
    verdicts = tuple(verdict_of(one, node) for one in data["verdicts"])
    return Evidence(data["source"], verdicts, data["note"], data.get("nats"), data.get("strength"))
