"""Which view shows which result; ``NotebookView`` asks here."""

from __future__ import annotations

from functools import singledispatch

from apsl_rules.data import MixedTable, Table
from apsl_rules.effects import Answer, Effect, Effects, Fitted, Grounds
from apsl_rules.graphs import Dag, Pdag
from apsl_rules.graphs.networks import Network
from apsl_rules.neighbours import Blanket
from apsl_rules.notebook import part_views, result_views
from apsl_rules.notebook.pieces import card, title
from apsl_rules.parts import Comparison, LearnedGraph, MarkedGraph, Part, Parts, Stability
from apsl_rules.rules import Conflict, Proof


@singledispatch
def html_of(result: object) -> str:
    """Return a result as HTML without scripts."""
    return card(title(_repr(result)))


def _repr(result: object) -> str:
    from apsl_rules.notebook.pieces import text

    return text(repr(result))


html_of.register(Proof, part_views.proof_html)
html_of.register(Conflict, part_views.conflict_html)
html_of.register(Part, part_views.part_html)
html_of.register(Parts, part_views.parts_html)
html_of.register(Stability, part_views.stability_html)
html_of.register(Comparison, part_views.comparison_html)
html_of.register(LearnedGraph, result_views.learned_graph_html)
html_of.register(MarkedGraph, result_views.marked_graph_html)
html_of.register(Dag, result_views.known_graph_html)
html_of.register(Pdag, result_views.known_graph_html)
html_of.register(Network, result_views.network_html)
html_of.register(Blanket, result_views.blanket_html)
html_of.register(Table, result_views.table_html)
html_of.register(MixedTable, result_views.table_html)
html_of.register(Effect, result_views.effect_html)
html_of.register(Effects, result_views.effects_html)
html_of.register(Grounds, result_views.grounds_html)
html_of.register(Answer, result_views.answer_html)
html_of.register(Fitted, result_views.fitted_html)
