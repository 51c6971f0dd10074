"""How a run goes: from a request and a source to a part."""

from __future__ import annotations

from apsl_rules.learning.blanket import blanket_of, find_blanket
from apsl_rules.learning.choose import AUTO, find_learner, load_plugins
from apsl_rules.learning.compare import COMPARED, WARMING, compare
from apsl_rules.learning.default_learner import say_default_learner
from apsl_rules.learning.dry_run import dry_run
from apsl_rules.learning.learn import learn
from apsl_rules.learning.many import learn_many
from apsl_rules.learning.named_source import nodes_of, open_source
from apsl_rules.learning.part_notes import may_share_hidden_cause
from apsl_rules.learning.progress import Bar, Visits, show_progress
from apsl_rules.learning.request import Request, Settings, load_knowledge
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import Source, open_data
from apsl_rules.learning.stability import stability
from apsl_rules.learning.untested import finding_of
from apsl_rules.learning.whole_graph import learn_graph

__all__ = [
    "AUTO",
    "COMPARED",
    "WARMING",
    "Bar",
    "Request",
    "Settings",
    "Source",
    "Visits",
    "blanket_of",
    "compare",
    "dry_run",
    "find_blanket",
    "find_learner",
    "finding_of",
    "learn",
    "learn_graph",
    "learn_many",
    "load_knowledge",
    "load_plugins",
    "may_share_hidden_cause",
    "nodes_of",
    "open_data",
    "open_source",
    "run_once",
    "say_default_learner",
    "show_progress",
    "stability",
]
