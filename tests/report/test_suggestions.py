"""Suggested directions and kinds of columns in the page and in the still drawings."""

from __future__ import annotations

from functools import cache

import attrs

from apsl_rules import learn, network
from apsl_rules.data import ColumnKind
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts import Part
from apsl_rules.views.edges import Look, edges_of
from apsl_rules.views.page_data import page_data
from apsl_rules.views.svg import svg


@cache
def learned(least: float) -> Part:
    """Learn a part with some directions that are hardly supported."""
    return learn(sample(network("insurance"), 300, seed=4), "MakeModel", depth=2, min_direction=least)


def test_a_suggestion_has_a_look_of_its_own() -> None:
    """It is drawn as a line whose head is hollow, from the moment of its proof on."""
    part = learned(0.9)
    looks = {edge.pair: edge.last for edge in edges_of(part)}
    for (x, y), look in looks.items():
        assert (look is Look.MAYBE_AHEAD) == ((x, y) in part.all_suggested)
        assert (look is Look.MAYBE_BACK) == ((y, x) in part.all_suggested)
        assert (look in {Look.AHEAD, Look.BACK}) == bool({(x, y), (y, x)} & part.all_arrows)
    drawn = svg(part)
    x, y = next(iter(part.suggested))
    assert f'data-source="{x}" data-target="{y}" data-mark="line"' in drawn
    assert "line: direction suggested" in drawn
    assert "line: direction suggested" not in svg(learned(0.0))


def test_matplotlib_draws_a_hollow_head() -> None:
    """The head of a suggestion has the colour of the background."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib.patches import Polygon

    part = learned(0.9)
    heads = [one for one in part.plot().patches if isinstance(one, Polygon)]
    hollow = [one for one in heads if one.get_facecolor() == (1.0, 1.0, 1.0, 1.0)]
    assert (len(heads), len(hollow)) == (len(part.arrows) + len(part.suggested), len(part.suggested))


def test_the_page_has_the_columns_of_the_members() -> None:
    """Kinds, details and missing values of the nodes of the part, not of others."""
    kinds = (ColumnKind("MakeModel", "category", "5 levels", 2), ColumnKind("id", "set aside", "identifier"))
    part = attrs.evolve(learned(0.9), columns=kinds)
    data = page_data(part)
    columns = {
        name: node["column"] for name, node in zip(data["names"], data["nodes"], strict=False) if "column" in node
    }
    assert columns == {"MakeModel": {"kind": "category", "detail": "5 levels", "missing": 2}}
    figures = {figure["name"] for edge in data["edges"] for figure in edge["figures"]}
    assert figures == {"edge", "direction"}
