"""Ask the tests of a part again on its data, and compare each answer with the one stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from apsl_rules.errors import DataError
from apsl_rules.evidence import Verdict, verdict_text
from apsl_rules.learning.settings import KEPT_READING, Request, Settings
from apsl_rules.learning.source import Source, open_data
from apsl_rules.names import count_of
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins

_FIGURES = ("decision", "statistic", "p", "log_p", "dof", "n")
#: Any alpha, for oracles whose answers are perfect.
_ALPHA = 0.01


@attrs.frozen
class AskedAgain:
    """What came of asking the tests of a part again.

    Attributes
    ----------
    tests
        How many tests were asked.
    others
        How many figures come from something else than the test, by its name.
    leads
        How many findings rest on the lead of a score, which is not computed again.
    faults
        What is not as stated, in a sentence each.
    """

    tests: int
    others: Mapping[str, int]
    leads: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        told = f"{count_of(self.tests, 'test')} asked again on the data"
        told += "".join(f"; {count_of(some, 'figure')} of {name} not asked again" for name, some in self.others.items())
        return told + (f"; {count_of(self.leads, 'lead')} of scores not computed again" if self.leads else "")


def ask_again(part: Part, source: Any, plugins: Plugins, *, counts: str | None = None) -> AskedAgain:
    """Ask every test behind the findings of a part again, on data that are read as they were for it."""
    opened = _open_alike(part, source, plugins, counts)
    alpha = part.settings.get("alpha") or _ALPHA
    oracle = opened.oracle(alpha)
    missing = [node for finding in part.findings for node in finding.fact.nodes if node not in oracle.nodes]
    if missing:
        message = f"the data have no usable column {missing[0]!r}, which the part has; give the data that it is from"
        raise DataError(message)
    evidence = [finding.evidence for finding in part.ledger.findings]
    stated = list(dict.fromkeys(verdict for one in evidence for verdict in one.verdicts))
    answers = oracle.verdicts([(one.x, one.y, one.given) for one in stated])
    pairs = list(zip(stated, answers, strict=True))
    others = Counter(one.test for one, answer in pairs if one.test != answer.test)
    faults = [fault for one, answer in pairs if one.test == answer.test for fault in _faults(one, answer)]
    if opened.fingerprint != part.data:
        faults.insert(0, "the data are not those of the part: their fingerprint is another")
    leads = sum(one.nats is not None for one in evidence)
    return AskedAgain(len(stated) - others.total(), others, leads, tuple(faults))


def _open_alike(part: Part, source: Any, plugins: Plugins, counts: str | None) -> Source:
    """Open data with the settings of the part; give the kind of each column that would be read as another."""
    settings: Settings = {"plugins": plugins, "oracle": part.oracle, "counts": counts}
    given: Any = {name: part.settings[name] for name in KEPT_READING if part.settings.get(name) is not None}
    settings.update(given)
    if "levels" in part.settings:
        settings["options"] = {"levels": part.settings["levels"]}
    opened = open_data(source, Request.of(settings, "verify"))
    then = {one.name: one.kind for one in part.columns}
    changed = {one.name: then[one.name] for one in opened.columns if then.get(one.name, one.kind) != one.kind}
    if not changed:
        return opened
    settings["kinds"] = {name: kind for name, kind in changed.items() if kind != "set aside"}
    settings["drop"] = [name for name, kind in changed.items() if kind == "set aside"]
    return open_data(source, Request.of(settings, "verify"))


def _faults(stated: Verdict, answer: Verdict) -> Iterator[str]:
    """Say which figures of a test are not as stated."""
    names = [name for name in _FIGURES if getattr(stated, name) != getattr(answer, name)]
    if stated.given and stated.rank != answer.rank:
        names.append("rank")
    if names:
        verb = "is" if len(names) == 1 else "are"
        told = f"{', '.join(names)} of the test {verdict_text(stated)} {verb} not as stated"
        yield f"{told}: it gives {verdict_text(answer)}"
