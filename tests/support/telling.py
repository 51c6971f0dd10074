"""Short ways to tell findings in tests."""

from __future__ import annotations

from apsl_rules.evidence.evidence import Evidence, Verdict
from apsl_rules.rules.rulebooks import PAG
from apsl_rules.rules.vocabulary import Fact, Finding

_RELATIONS = {relation.name: relation for relation in PAG.relations}


def fact(text: str) -> Fact:
    """Make a fact from text such as "chain:a,b,c"."""
    relation, nodes = text.split(":")
    return _RELATIONS[relation].fact(*nodes.split(","))


def told(text: str, *, p: float | None = None) -> list[Finding]:
    """Make findings from text such as "arrow:a,b adjacent:b,c"; with p, each rests on a dependence with that p."""
    facts = [fact(word) for word in text.split()]
    verdicts = () if p is None else (Verdict("x", "y", (), "dependent", "G²", 1.0, p, 1, 100),)
    return [Finding(one, Evidence("test", verdicts)) for one in facts]
