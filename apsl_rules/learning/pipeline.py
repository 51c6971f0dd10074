"""One run from a request and an opened source to a part: every front door goes through here."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from apsl_rules.data.counts import CachedCounts
from apsl_rules.errors import Interrupted
from apsl_rules.learning.choose import choose_learner, false_discovery_rate
from apsl_rules.learning.request import Request
from apsl_rules.learning.run import learn_part
from apsl_rules.learning.source import Source
from apsl_rules.learning.untested import notes_on_untested
from apsl_rules.names import Depth, Node, require_known
from apsl_rules.oracles import Asker, Oracle
from apsl_rules.parts import Part
from apsl_rules.plugins import Context, FinderSettings, LearnerOffer, pick


def run_once(request: Request, source: Source, target: Node, depth: Depth, *, oracle: Oracle | None = None) -> Part:
    """Learn one part; ``oracle`` is one that other runs on the same source ask as well.

    The part says how its learner was chosen. An interrupt raises ``Interrupted``, which carries the part so far.
    """
    offer, chosen = choose_learner(request, source.gives)
    answering = oracle or source.oracle(offer.spec.tests.alpha, request.threads)
    asker = Asker(answering, origin=source.origin, max_tests=request.max_tests, max_seconds=request.max_seconds)
    require_known(target, asker.nodes, "target")
    request.known.require_nodes(asker.nodes)
    rounds_before = source.rounds
    part = learn_part(offer, _context(request, source, offer, asker, target=target, depth=depth))
    try:
        asker.flush()
        notes = (chosen, *part.notes, *notes_on_untested(part), *source.notes(part, rounds_before))
        part = attrs.evolve(part, notes=_listed(notes))
    except KeyboardInterrupt:
        raise Interrupted(part=part) from None
    if asker.stop.is_interrupted:
        raise Interrupted(part=part)
    return part


def _listed(notes: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for note in notes if note))


def _context(
    request: Request, source: Source, offer: LearnerOffer, asker: Asker, *, target: Node, depth: Depth
) -> Context:
    """Put together what a learner is given."""
    spec, plugins = offer.spec, request.manager
    unlimited = request.max_conditioning == "none" or (asker.perfect and request.max_conditioning is None)
    largest = None if unlimited else spec.tests.max_conditioning
    heeds_bound = pick(plugins.finders, spec.neighbours.finder, "finder").heeds_bound
    rate = false_discovery_rate(request.fdr, len(asker.nodes), perfect=asker.perfect) if heeds_bound else None
    unreliable = None if spec.neighbours.unreliable == "finder" else spec.neighbours.unreliable
    reading = {name: value for name, value in request.reading.items() if isinstance(value, str | int | float)}
    reading.pop("cache", None)
    is_elsewhere = isinstance(source.counts, CachedCounts)
    return Context(
        target=target,
        depth=depth,
        spec=spec,
        asker=asker,
        plugins=plugins,
        finder_settings=FinderSettings(largest, unreliable, rate, spec.options),
        settings={
            "alpha": None if asker.perfect else spec.tests.alpha,
            "max_conditioning": largest,
            "fdr": rate,
            **spec.options,
            **reading,
        },
        data=source.counts,
        # a limit is met at one place, and counts from elsewhere are asked for in the same rounds
        threads=1 if request.is_limited or is_elsewhere else request.threads,
        knowledge=request.known,
    )
