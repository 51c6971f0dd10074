"""Which nodes are causes of a target, for sure, perhaps, or not."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias, Unpack

import attrs

from apsl_rules._documents import label
from apsl_rules.effects.estimate import least_direction, require_different
from apsl_rules.effects.opening import open_structure, read_as
from apsl_rules.effects.orientations import SURE_DIRECTION, Orientation, neighbourhood_of, with_sure_arrows
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import Evidence, Verdict, evidence_data, evidence_text
from apsl_rules.learning import Request, Settings, Source, open_data, run_once, with_bar, with_settings
from apsl_rules.names import Node, in_order, listing, require_known, shown
from apsl_rules.notes import argument
from apsl_rules.oracles import Oracle
from apsl_rules.parts import Part
from apsl_rules.showing import NotebookView
from apsl_rules.stopping import interruptible

Ancestry: TypeAlias = Literal["always", "never", "depends", "unknown"]


@attrs.frozen
class Case:
    """The answer in the graphs with one orientation of the edges at the node; None where nothing could be tested.

    ``reason`` says what decides: an edge of the part, or the test in ``verdict``.

    Attributes
    ----------
    orientation
        How the edges at the node point in this case.
    is_cause
        Whether the node is a cause then; None where nothing could be tested.
    """

    orientation: Orientation
    is_cause: bool | None
    reason: str
    verdict: Verdict | None = None


@attrs.frozen(slots=False, repr=False)
class Answer(NotebookView):
    """Whether a node is a cause of a target in all graphs that are left open, in none, or in some.

    ``explicit`` is True where the cause is one in all graphs through the same arrows (None if that is not tested).

    Attributes
    ----------
    cause, target
        The two nodes that were asked about.
    answer
        "always", "never", "depends" or "unknown".
    cases
        The answer for each way in which the open edges at the cause can point.
    part
        The part that the answer was worked out from.
    """

    cause: Node
    target: Node
    answer: Ancestry
    cases: tuple[Case, ...]
    part: Part
    explicit: bool | None = None

    @property
    def tests(self) -> tuple[Verdict, ...]:
        """Return the tests that decide, each once."""
        return tuple(dict.fromkeys(case.verdict for case in self.cases if case.verdict is not None))

    def __repr__(self) -> str:
        return f"<Answer: {shown(self.cause)} is a cause of {shown(self.target)}: {self.answer}>"

    def __str__(self) -> str:
        x, t = shown(self.cause), shown(self.target)
        is_known = self.part.settings.get("alpha") is None
        missed = "" if is_known else ", as far as the tests can tell; they may miss a weak effect"
        told = {
            "always": f"{x} is a cause of {t} in every graph that the part leaves open",
            "never": f"{x} is a cause of {t} in no graph that the part leaves open{missed}",
            "depends": f"whether {x} is a cause of {t} depends on lines that the part leaves open",
            "unknown": f"whether {x} is a cause of {t} is unknown: too few rows to test it",
        }
        how = {True: " (by the same arrows in all)", False: " (by different arrows)", None: ""}[self.explicit]
        lines = [f"{self.answer}: {told[self.answer]}{how}"]
        for case in self.cases:
            says = {True: "a cause", False: "no cause", None: "unknown"}[case.is_cause]
            under = f"if {case.orientation}: " if case.orientation.arrows else ""
            lines.append(f"  {under}{says}; {case.reason}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return {
            "cause": label(self.cause),
            "target": label(self.target),
            "answer": self.answer,
            "explicit": self.explicit,
            "cases": [
                {
                    "assumes": [[label(tail), label(head)] for tail, head in case.orientation.arrows],
                    "parents": [label(node) for node in case.orientation.parents],
                    "is_cause": case.is_cause,
                    "reason": case.reason,
                    **({} if case.verdict is None else {"test": _data(case.verdict)}),
                }
                for case in self.cases
            ],
        }

    def to_json(self) -> str:
        """Return the answer as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


@with_settings(min_direction=SURE_DIRECTION)
@interruptible
@with_bar("causes", of_phases=True)
def causes(source: Any, cause: Node, target: Node, *, data: Any = None, **settings: Unpack[Settings]) -> Answer:
    """Say whether a node is a cause of a target: in all graphs that are left open, in none, or in some.

    ``source`` is what ``learn`` takes, and the edges at the cause are learned from it; or a part, with the table or
    whatever it was learned from as ``data``. The arrows of a known graph are all known. ``settings`` are those of
    ``learn``.

    Examples
    --------
    >>> from apsl_rules import causes, Dag, learn
    >>> rain = Dag({"Rain": [], "Sprinkler": [], "Wet": ["Rain", "Sprinkler"], "Slip": ["Wet"]})
    >>> causes(rain, "Rain", "Slip").answer, causes(rain, "Slip", "Rain").answer
    ('always', 'never')
    """
    require_different(cause, target)
    if isinstance(source, Part):
        if data is None:
            message = f"a part answers no further tests; give the table that it was learned from as {argument('data')}"
            raise InvalidArgumentError(message)
        part = source
        request = Request.of(read_as(part, data, settings), caller="causes")
        opened = open_data(data, request)
        _require(part.nodes, cause, target)
    else:
        request, opened = open_structure(source, settings)
        _require(opened.oracle(0.01).nodes, cause, target)
        part = run_once(request, opened, cause, 1)
        if data is not None:
            opened = open_data(data, Request.of(settings, caller="causes"))
    sure = with_sure_arrows(part, least_direction(settings))
    return answer(sure, cause, target, _oracle(part, opened, request))


def _require(nodes: Any, cause: Node, target: Node) -> None:
    require_known(cause, nodes, "cause")
    require_known(target, nodes, "target")


def _oracle(part: Part, opened: Source, request: Request) -> Oracle:
    """Return the oracle at the alpha that the part was learned with."""
    alpha = request.alpha or part.settings.get("alpha") or 0.01
    return opened.oracle(float(alpha), request.threads)


def answer(part: Part, cause: Node, target: Node, oracle: Oracle) -> Answer:
    """Decide for every orientation of the edges at a node whether it is a cause of a target."""
    around = neighbourhood_of(part, cause)
    cases = tuple(_case(part, one, target, oracle) for one in around.orientations())
    found = {case.is_cause for case in cases}
    told: Ancestry = "unknown"
    if found in ({True}, {False}):
        told = "always" if found == {True} else "never"
    elif True in found and False in found:
        told = "depends"
    explicit = None
    if told == "always" and around.siblings and target not in around.children:
        given = in_order({*around.parents, *around.siblings} - {target})
        verdict = oracle.verdict(cause, target, given)
        explicit = None if verdict.decision == "unreliable" else target not in around.siblings and verdict.dependent
    return Answer(cause, target, told, cases, part, explicit)


def _case(part: Part, orientation: Orientation, target: Node, oracle: Oracle) -> Case:
    cause = orientation.cause
    if target in orientation.parents:
        return Case(orientation, is_cause=False, reason=f"{shown(target)} is a cause of {shown(cause)}")
    if target in orientation.children:
        why = "the part has the arrow" if (cause, target) in part.all_arrows else "the line would be an arrow"
        return Case(orientation, is_cause=True, reason=why)
    if not orientation.children:
        return Case(orientation, is_cause=False, reason=f"no arrow leads away from {shown(cause)}")
    verdict = oracle.verdict(cause, target, orientation.parents)
    text = evidence_text(Evidence(verdict.test, (verdict,)))
    if verdict.decision == "unreliable":
        given = listing(orientation.parents)
        why = f"it cannot be tested given {given}: there are too few rows, or one of the two does not vary in them"
        return Case(orientation, None, why, verdict)
    return Case(orientation, verdict.dependent, text, verdict)


def _data(verdict: Verdict) -> dict[str, Any]:
    data = evidence_data(Evidence(verdict.test, (verdict,)))
    tests: list[dict[str, Any]] = data["verdicts"]
    return tests[0]
