"""The learner and the oracle that a request chooses for a source."""

from __future__ import annotations

from typing import Literal

import attrs

from apsl_rules._arguments import demand, spelt
from apsl_rules._documents import DocumentError, file_text
from apsl_rules.data import Dataset
from apsl_rules.errors import InvalidArgumentError, KnowledgeError, UnknownNameError
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning.settings import AUTO, Request
from apsl_rules.names import nearest
from apsl_rules.notes import Note
from apsl_rules.plugins import LearnerOffer, Plugins, Spec, parse_spec, pick
from apsl_rules.rules import POSSIBLE, Rulebook, head


def say_default_learner(data: Dataset, plugins: Plugins) -> str:
    """Return a sentence on the learner that "auto" chooses for a table."""
    offer, note = choose_learner(Request(plugins=plugins), frozenset({"tests", "scores", *data.can}))
    return note or f"learner 'auto' chose {offer.name!r}"


#: The learner that goes by tests.
BY_TESTS = "apsl"
#: The learner that allows hidden causes.
WITH_HIDDEN = "apsl-hidden"
#: The learner by scores for what a source gives, and how its columns are read.
BY_SCORES = {
    "counts": ("apsl-score", "the source is a table, read as discrete columns"),
    "moments": ("apsl-mixed", "the source is a table with numbers"),
}
#: Above this many nodes false discoveries are bounded unless the caller says otherwise, by this share.
WIDE, SHARE = 1000, 0.01


def is_auto(learner: object) -> bool:
    """Return whether the choice of a learner is left to the source."""
    return isinstance(learner, str) and learner == AUTO


def choose_learner(request: Request, gives: frozenset[str]) -> tuple[LearnerOffer, Note | None]:
    """Return the learner for a source, with the settings of the request, and how it was chosen if that is to be said.

    On tables the learners that refine parts by scores are right more often than the one that goes by tests alone. Where
    answers are perfect, or the source has no table, there are only tests.
    """
    plugins = request.manager
    note: Note | None = None
    if is_auto(request.learner) and request.hidden == "allowed":
        offer = find_learner(WITH_HIDDEN, plugins)
    elif is_auto(request.learner):
        name = BY_TESTS
        why = "the source is an oracle itself" if "own answers" in gives else "there is no table to score"
        for given, (scoring, reason) in BY_SCORES.items():
            if given in gives and "own answers" not in gives:
                name, why = scoring, reason
        if "perfect answers" not in gives:
            note = Note(f"learner 'auto' chose {name!r}: {why}", "learner", learner=name, why=why)
        offer = find_learner(name, plugins)
    else:
        offer = find_learner(request.learner, plugins)
    if request.certified:
        offer = _certifying(offer, plugins)
    offer = attrs.evolve(offer, spec=_adjust(offer.spec, request))
    relations = frozenset(_rulebook_of(offer, plugins).relations)
    if request.hidden == "possible" and not relations <= frozenset(POSSIBLE.relations):
        message = (
            f"the findings of the learner {offer.name!r} are of another kind than those that hidden='possible' draws; "
            "leave the learner out, or leave hidden out"
        )
        raise InvalidArgumentError(message)
    if request.hidden == "allowed" and head not in relations:
        message = (
            f"the learner {offer.name!r} assumes that no common cause is hidden; use learner={WITH_HIDDEN!r}, or leave "
            "the learner out"
        )
        raise InvalidArgumentError(message)
    _require_honouring(request.known, offer, plugins)
    _require_needs(offer, gives)
    return offer, note


def _require_needs(offer: LearnerOffer, gives: frozenset[str]) -> None:
    """Refuse a source that does not give what a learner needs."""
    lacking = sorted(offer.needs - gives)
    if lacking:
        advice = "learn from a table"
        if "moments" in gives:
            advice = "cut its numbers (discretize='quantile:3')"
        elif "counts" in gives:
            advice = "take learner='apsl-score'"
        message = (
            f"the learner {offer.name!r} needs {', '.join(lacking)}, but the source has none; {advice}, or learn by "
            "tests (learner='apsl')"
        )
        raise InvalidArgumentError(message)


def find_learner(learner: object, plugins: Plugins) -> LearnerOffer:
    """Return the learner of a name, of a spec file or of a spec."""
    if isinstance(learner, LearnerOffer):
        return learner
    if isinstance(learner, Spec):
        return _with_code(learner, plugins)
    known = isinstance(learner, str) or hasattr(learner, "__fspath__")
    demand(
        known,
        f"the learner is {spelt(learner)}; give the name of one, a spec file *.toml, or a Spec",
        argument="learner",
    )
    if str(learner).endswith(".toml"):
        try:
            text = file_text(str(learner))
        except DocumentError as error:
            message = f"the spec file {str(learner)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        return _with_code(parse_spec(text, f"spec file {str(learner)!r}"), plugins)
    return pick(plugins.learners, str(learner), "learner")


def _with_code(spec: Spec, plugins: Plugins) -> LearnerOffer:
    """Return a user's own spec with the code of any learner of the same kind."""
    known = {"local": LearnerOffer(spec)} | {offer.spec.kind: offer for offer in plugins.learners.values()}
    if spec.kind not in known:
        message = f"unknown kind {spec.kind!r} in spec {spec.name!r}{nearest(spec.kind, known)}"
        raise UnknownNameError(message)
    return attrs.evolve(known[spec.kind], spec=spec)


def _adjust(spec: Spec, request: Request) -> Spec:
    """Replace settings of a spec by those that the caller gave; no limit is no part of a spec."""
    tests, neighbours, rules = spec.tests, spec.neighbours, spec.rules
    if request.alpha is not None:
        tests = attrs.evolve(tests, alpha=request.alpha)
    if isinstance(request.max_conditioning, int):
        tests = attrs.evolve(tests, max_conditioning=int(request.max_conditioning))
    if request.finder is not None:
        neighbours = attrs.evolve(neighbours, finder=request.finder)
    if request.conflicts is not None:
        rules = attrs.evolve(rules, conflicts=request.conflicts)
    return attrs.evolve(spec, tests=tests, neighbours=neighbours, rules=rules)


def _certifying(offer: LearnerOffer, plugins: Plugins) -> LearnerOffer:
    """Return a learner that certifies what its search finds; one that has no such option is refused."""
    if "certified" not in offer.spec.options:
        able = sorted(one.name for one in plugins.learners.values() if "certified" in one.spec.options)
        message = f"certified=True needs a learner that searches by score: {', '.join(able)}; {offer.name!r} does not"
        raise InvalidArgumentError(message)
    return attrs.evolve(offer, spec=attrs.evolve(offer.spec, options={**offer.spec.options, "certified": True}))


def _require_honouring(knowledge: Knowledge, offer: LearnerOffer, plugins: Plugins) -> None:
    """Refuse background knowledge for a learner that does not honour it."""
    if knowledge and not _honours(offer, plugins):
        able = sorted(one.name for one in plugins.learners.values() if _honours(one, plugins))
        message = f"the learner {offer.name!r} does not honour background knowledge; use one of {', '.join(able)}"
        raise KnowledgeError(message)


def _honours(offer: LearnerOffer, plugins: Plugins) -> bool:
    """Return whether a learner has all its arrows from rules that knowledge can join, or promises to honour it."""
    return (offer.findings is None or offer.honours_knowledge) and _rulebook_of(offer, plugins).positive


def _rulebook_of(offer: LearnerOffer, plugins: Plugins) -> Rulebook:
    return pick(plugins.rulebooks, offer.spec.rules.rulebook, "rulebook")


def false_discovery_rate(fdr: float | Literal["auto", "none"], nodes: int, *, perfect: bool) -> float | None:
    """Return the share of false discoveries to allow among so many nodes, or None for no bound."""
    if fdr == "auto":
        return SHARE if nodes > WIDE and not perfect else None
    return None if perfect or fdr == "none" else fdr


def rivals(plugins: Plugins) -> tuple[str, ...]:
    """Return the learners that are compared when none are named: the default, that by tests, and rivals of plugins."""
    return (AUTO, BY_TESTS, *(offer.name for offer in plugins.learners.values() if offer.rival))
