"""A learning task: all that a learner needs to know, checked and ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from apsl_rules.names import Depth, Node
from apsl_rules.oracles import Asker, Counts
from apsl_rules.plugins.learner_spec import Spec
from apsl_rules.plugins.manager import Plugins
from apsl_rules.plugins.offers import FinderSettings
from apsl_rules.rules import NOTHING, Knowledge


@attrs.frozen(eq=False)
class Task:
    """Learn the part around a target to a depth, with an oracle, as a spec says; ``settings`` go into the result.

    A learner with code of its own sees ``knowledge`` only if its offer says that it honours it.
    """

    target: Node
    depth: Depth
    spec: Spec
    oracle: Asker
    plugins: Plugins
    finder_settings: FinderSettings
    settings: Mapping[str, Any]
    threads: int = 1
    knowledge: Knowledge = NOTHING


@attrs.frozen
class Progress:
    """A sign of life: the node just visited, how many that makes, how many are known to wait, and the counts."""

    node: Node
    visited: int
    known: int
    counts: Counts
