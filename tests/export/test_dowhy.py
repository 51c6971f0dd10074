"""Models for DoWhy: what is refused before it is asked, and what DoWhy itself makes of the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, export, learn
from apsl_rules.errors import ApslError, MissingPackageError
from apsl_rules.parts.marked_graph import MarkedGraph

ROOT = Path(__file__).parents[2]
FRAME = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 3)), columns=list("axt"))
TRIANGLE = Dag({"a": [], "x": ["a"], "t": ["a", "x"]})

#: Run where DoWhy is, on a table and a part that was learned from it: their estimates, and what a hidden cause becomes.
ASKED = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import pandas as pd
from apsl_rules import Dag, export
from apsl_rules import load_part
from apsl_rules.parts import MarkedGraph

frame = pd.read_csv(sys.argv[1])
models = [
    export.to_dowhy(Dag({"a": [], "x": ["a"], "t": ["a", "x"]}), data=frame, treatment="x", outcome="t"),
    load_part(sys.argv[2]).to("dowhy", data=frame, treatment="x"),
]
estimands = [model.identify_effect() for model in models]
estimates = [
    model.estimate_effect(estimand, method_name="backdoor.linear_regression").value
    for model, estimand in zip(models, estimands)
]
hidden = MarkedGraph("axt", arrows=["at"], bidirected=["xt"], hidden=True)
confounded = export.to_dowhy(hidden, data=frame, treatment="x", outcome="t")
print(json.dumps({
    "adjusted": [estimand.get_backdoor_variables() for estimand in estimands],
    "estimates": estimates,
    "observed": dict(confounded._graph._graph.nodes(data="observed")),
    "arrows": sorted(export.from_networkx(models[0]._graph._graph).arrows),
}))
"""


def test_what_dowhy_cannot_take_is_refused() -> None:
    """Lines, edges that may be hidden causes, columns that are not there, and a graph without a target."""
    line = MarkedGraph("axt", arrows=["xt"], lines=["ax"])
    circle = MarkedGraph("axt", partial=["xt"], hidden=True)
    for graph, options, said in (
        (line, {"data": FRAME, "outcome": "t"}, "give open_edges='direct'"),
        (circle, {"data": FRAME, "outcome": "t"}, "the edge of x and t may be either"),
        (TRIANGLE, {"data": FRAME}, "only a part has a target to estimate an effect on; name a column with outcome="),
        (TRIANGLE, {"data": FRAME, "outcome": "x"}, "are both x; name two columns"),
        (TRIANGLE, {"data": FRAME, "outcome": "z"}, "unknown outcome 'z'"),
        (
            TRIANGLE,
            {"data": FRAME.drop(columns="a"), "outcome": "t"},
            "no column 'a', which DoWhy would take for hidden",
        ),
        (TRIANGLE, {"data": "rows.csv", "outcome": "t"}, "give a table in memory"),
    ):
        with pytest.raises(ApslError, match=said):
            export.to_dowhy(graph, treatment="x", **options)


def test_without_dowhy_it_says_how_to_install_it() -> None:
    """The target of a part is the outcome."""
    pytest.importorskip("networkx")
    try:
        import dowhy  # noqa: F401
    except ImportError:
        with pytest.raises(MissingPackageError, match="pip install dowhy"):
            learn(TRIANGLE, "t", depth="max").to("dowhy", data=FRAME, treatment="x", open_edges="direct")


@pytest.mark.release
def test_dowhy_estimates_with_our_graphs(tmp_path: Path) -> None:
    """It adjusts for the right column, sees a hidden cause as unobserved, and its graph comes back as it was."""
    sys.path.append(str(ROOT / "tools" / "tournament"))
    from environments import python_of

    random = np.random.default_rng(7)
    a = random.normal(size=2000)
    x = a + random.normal(size=2000)
    frame = pd.DataFrame({"a": a, "x": x, "t": 0.5 * x + a + random.normal(size=2000)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    order = Knowledge(tiers=[["a"], ["x"], ["t"]])
    learn(frame, "t", depth="max", knowledge=order, hidden="excluded").save(tmp_path / "part.json")
    ours = os.pathsep.join(str(ROOT / folder) for folder in (".", "backends", "specs"))
    done = subprocess.run(
        [str(python_of("DoWhy")), "-c", ASKED, str(tmp_path / "rows.csv"), str(tmp_path / "part.json")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ours},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    assert found["adjusted"] == [["a"], ["a"]]
    assert found["estimates"] == pytest.approx([0.5, 0.5], abs=0.06)
    assert found["observed"] == {"a": "yes", "x": "yes", "t": "yes", "hidden cause of t and x": "no"}
    assert found["arrows"] == [["a", "t"], ["a", "x"], ["x", "t"]]
