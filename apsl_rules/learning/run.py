"""The loop that every learner runs in: visit, fire the rules, decide who is visited next, until the part is settled."""

from __future__ import annotations

from time import monotonic

import attrs

from apsl_rules.errors import LimitReachedError
from apsl_rules.learning.assembly import Assembly
from apsl_rules.learning.findings import FindingsFromTests
from apsl_rules.learning.frontier import FRONTIERS, everyone
from apsl_rules.names import Depth, Node, in_order, listing
from apsl_rules.parts import Part, inside
from apsl_rules.plugins import Context, Findings, LearnerOffer
from apsl_rules.stopping import INTERRUPTED, Stop

#: Seconds that a run which has reached its end may still take to tell the rules what it has found.
_LAST_WORDS = 1.0


@attrs.define(eq=False)
class Run:
    """A run: what part is asked for, and the state that it has reached."""

    target: Node
    depth: Depth
    nodes: tuple[Node, ...]
    state: Assembly


def learn_part(offer: LearnerOffer, context: Context) -> Part:
    """Learn the part that a context asks for.

    A limit ends the run with the last whole state; the part says so. An interrupt does the same and raises
    ``Interrupted``, which carries the part.
    """
    run = Run(context.target, context.depth, context.asker.nodes, Assembly.start(context))
    stop = context.asker.stop
    try:
        return stop.run(lambda: _finish(offer, context, run))
    except LimitReachedError as limit:
        reason = str(limit)
    except KeyboardInterrupt:
        stop.set(INTERRUPTED)
        reason = "an interrupt"
    except BaseException:
        context.asker.flush()
        raise
    return Stop(monotonic() + _LAST_WORDS).run(lambda: run.state.part(_open_end(run, reason)))


def _finish(offer: LearnerOffer, context: Context, run: Run) -> Part:
    findings: Findings = (offer.findings or FindingsFromTests)(context)
    frontier = everyone if findings.whole else FRONTIERS[context.spec.frontier.grow]
    for nodes in frontier(run):
        context.asker.within_limits()
        run.state = findings.join(run.state, nodes)
    return run.state.part()


def _open_end(run: Run, reason: str) -> str:
    """Say where a run stopped and what it leaves open."""
    state = run.state
    near = [node for node, far in state.distances.items() if inside(run.depth, far) and node not in state.visited]
    unseen = f"{listing(in_order(near))} still to visit" if near else "all nodes of the asked part are visited"
    visits = f"{len(state.visited)} visit{'' if len(state.visited) == 1 else 's'}"
    open_end = "edges marked line may still be open" if state.visited else "nothing is learned yet"
    return f"stopped at {reason} after {visits}; {unseen}; {open_end}"
