"""Several learners on one task, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import process_time
from typing import Any

from apsl_rules._arguments import listed
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import AUTO, gathered, is_auto, learner_offer
from apsl_rules.learning.learn import learn
from apsl_rules.names import Depth, Node, check_depth, check_target
from apsl_rules.parts import Comparison, Part
from apsl_rules.plugins import Plugins, Spec
from apsl_rules.stopping import interruptible

#: Tests that a learner may ask before it is timed, so that its time holds no compiling and loading of code.
WARMING = 5_000


@interruptible
def compare(
    source: Any,
    target: Node,
    depth: Depth = 1,
    *,
    learners: Iterable[str | Path | Spec],
    plugins: Plugins | Iterable[object] = (),
    **settings: Any,
) -> Comparison:
    """Learn the same part with several learners and lay the results side by side.

    Parameters
    ----------
    source, target, depth, plugins
        As for ``learn``.
    learners
        Names ("auto" too), spec files or specs; the others are compared with the first.
    settings
        Further settings of ``learn``, the same for all. Each learner asks its own questions anew, so that the tests
        and the time are its own. An interrupt raises ``Interrupted``, whose ``result`` has the learners that are done.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> dag = known_dag({"a": [], "b": [], "t": ["a", "b"], "z": ["a", "b", "t"]})
    >>> compared = compare(dag, "t", learners=["apsl", "pcd-by-pcd-paper"])
    >>> [(row["learner"], row["arrows"], row["shared"], row["same"]) for row in compared.rows()]
    [('apsl', 2, 3, 3), ('pcd-by-pcd-paper', 3, 3, 2)]
    """
    check_target(target)
    check_depth(depth)
    manager = gathered(plugins)
    given = listed("learners", learners, "learners, such as ['auto', 'apsl']")
    named = [(AUTO if is_auto(one) else learner_offer(one, manager).name, one) for one in given]
    if not named:
        message = "no learners to compare; name at least one, such as 'apsl'"
        raise InvalidArgumentError(message)
    parts: dict[str, Part] = {}
    seconds: dict[str, float] = {}
    for name, learner in named:
        if name in parts:
            message = f"the learner {name!r} is named twice; name each once"
            raise InvalidArgumentError(message)
        try:
            if not callable(getattr(source, "verdict", None)):
                # a limit would change whom the source decides on
                limits = {} if name == AUTO else {"max_tests": WARMING}
                learn(source, target, learner=learner, plugins=manager, **{**settings, **limits})
            begun = process_time()
            part = learn(source, target, depth=depth, learner=learner, plugins=manager, **settings)
            seconds[name] = process_time() - begun
            parts[name] = part
        except KeyboardInterrupt as stop:
            so_far = Comparison(parts, seconds) if parts else None
            raise Interrupted(part=getattr(stop, "part", None), result=so_far) from None
    return Comparison(parts, seconds)
