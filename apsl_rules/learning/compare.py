"""Several learners on one task, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from time import process_time
from typing import Any, Unpack

import attrs

from apsl_rules._arguments import listed
from apsl_rules.data import Target, join_target
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import AUTO, find_learner, is_auto
from apsl_rules.learning.progress import progress_bar
from apsl_rules.learning.request import Learner, Request, Settings
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import open_data
from apsl_rules.names import Depth, check_depth
from apsl_rules.parts import Comparison, Part
from apsl_rules.stopping import interruptible

#: The learners that are compared when none are named.
COMPARED = (AUTO, "apsl", "pcd-by-pcd", "cmb")
#: Tests that a learner may ask before it is timed, so that its time holds no loading of code.
WARMING = 5_000


@interruptible
def compare(
    source: Any,
    target: Target,
    depth: Depth = 1,
    *,
    learners: Iterable[Learner] = COMPARED,
    **settings: Unpack[Settings],
) -> Comparison:
    """Learn the same part with several learners and lay the results side by side.

    Parameters
    ----------
    source, target, depth
        As for ``learn``.
    learners
        Names ("auto" too), spec files or specs; the others are compared with the first. Without them the default,
        "auto", is compared with three rivals.
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
    source, target = join_target(source, target)
    check_depth(depth)
    if "learner" in settings:
        message = "compare takes learners, a list; leave learner out"
        raise InvalidArgumentError(message)
    request = Request.of(settings, "compare")
    given = listed("learners", learners, "learners, such as ['auto', 'apsl']")
    named = [(AUTO if is_auto(one) else find_learner(one, request.manager).name, one) for one in given]
    if not named:
        message = "no learners to compare; name at least one, such as 'apsl'"
        raise InvalidArgumentError(message)
    for name, _ in named:
        if [one for one, _ in named].count(name) > 1:
            message = f"the learner {name!r} is named twice; name each once"
            raise InvalidArgumentError(message)
    opened = open_data(source, request)
    parts: dict[str, Part] = {}
    seconds: dict[str, float] = {}
    with progress_bar("learners compared") as bar:
        for name, learner in named:
            own = attrs.evolve(request, learner=learner)
            try:
                if "own answers" not in opened.gives:
                    run_once(attrs.evolve(own, max_tests=min(WARMING, own.max_tests or WARMING)), opened, target, 1)
                begun = process_time()
                part = run_once(own, opened, target, depth)
                seconds[name] = process_time() - begun
                parts[name] = part
            except KeyboardInterrupt as stop:
                so_far = Comparison(parts, seconds) if parts else None
                raise Interrupted(part=getattr(stop, "part", None), result=so_far) from None
            bar(len(parts), len(named))
    return Comparison(parts, seconds)
