"""How a run goes: from a request and a source to a part."""

from __future__ import annotations

from apsl_rules.learning.api import WARMING, blanket, blanket_of, compare, dry_run, learn, learn_graph
from apsl_rules.learning.asked_again import AskedAgain, ask_again
from apsl_rules.learning.describing import describe, first_rows
from apsl_rules.learning.findings import Copies, FindingList, FindingsFromTests, Visitor
from apsl_rules.learning.frontier import Distances
from apsl_rules.learning.many import learn_many, stability
from apsl_rules.learning.notes import finding_of, may_share_hidden_cause, notes_against_given
from apsl_rules.learning.progress import Bar, Visits, show_progress, with_bar
from apsl_rules.learning.run import run_once, taken_apart, without_copies
from apsl_rules.learning.settings import (
    AUTO,
    KEPT_READING,
    READING,
    SETTINGS,
    Request,
    Settings,
    setting,
    settings_on,
    with_settings,
)
from apsl_rules.learning.source import (
    Source,
    find_learner,
    nodes_of,
    open_data,
    open_source,
    rivals,
    say_default_learner,
)

__all__ = [
    "AUTO",
    "KEPT_READING",
    "READING",
    "SETTINGS",
    "WARMING",
    "AskedAgain",
    "Bar",
    "Copies",
    "Distances",
    "FindingList",
    "FindingsFromTests",
    "Request",
    "Settings",
    "Source",
    "Visitor",
    "Visits",
    "ask_again",
    "blanket",
    "blanket_of",
    "compare",
    "describe",
    "dry_run",
    "find_learner",
    "finding_of",
    "first_rows",
    "learn",
    "learn_graph",
    "learn_many",
    "may_share_hidden_cause",
    "nodes_of",
    "notes_against_given",
    "open_data",
    "open_source",
    "rivals",
    "run_once",
    "say_default_learner",
    "setting",
    "settings_on",
    "show_progress",
    "stability",
    "taken_apart",
    "with_bar",
    "with_settings",
    "without_copies",
]
