"""Which learners honour background knowledge; the others refuse it, so that it is never ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apsl_rules._arguments import spelt
from apsl_rules.errors import KnowledgeError
from apsl_rules.plugins import LearnerOffer, Plugins, Spec, pick
from apsl_rules.rules import NOTHING, Knowledge


def is_given(knowledge: object) -> bool:
    """Whether anything was given as knowledge, be it nothing that could be used."""
    return bool(knowledge) if isinstance(knowledge, Knowledge | str) else knowledge is not None


def honoured(knowledge: Any, offer: LearnerOffer, spec: Spec, plugins: Plugins) -> Knowledge:
    """Return the knowledge of a run, read from its file where a path was given, if the learner honours it."""
    if isinstance(knowledge, str | Path):
        knowledge = Knowledge.read(knowledge)
    if knowledge is None:
        return NOTHING
    if not isinstance(knowledge, Knowledge):
        message = f"knowledge is {spelt(knowledge)}; give Knowledge(required=[...], ...) or the path of a TOML file"
        raise KnowledgeError(message)
    if knowledge and not _honours(offer, spec, plugins):
        able = sorted(one.name for one in plugins.learners.values() if _honours(one, one.spec, plugins))
        message = f"the learner {spec.name!r} does not honour background knowledge; use one of {', '.join(able)}"
        raise KnowledgeError(message)
    return knowledge


def _honours(offer: LearnerOffer, spec: Spec, plugins: Plugins) -> bool:
    """Return whether a learner has all its arrows from rules that knowledge can join, or promises to honour it."""
    if offer.learn is not None:
        return offer.honours_knowledge
    return pick(plugins.rulebooks, spec.rules.rulebook, "rulebook").positive
