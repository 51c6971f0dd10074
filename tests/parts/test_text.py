"""The picture of a part as text, and the part as it is printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import Part, learn
from apsl_rules.graphs.dag import Dag
from apsl_rules.parts import draw, printed
from apsl_rules.showing import wide
from support.graphs import MICRO
from support.strategies import dags


def test_the_picture_of_n8() -> None:
    """Arrows point, lines do not, and a node met again is marked; the legend has what occurs."""
    drawn = learn(MICRO["N8"], "A", depth="max").picture().splitlines()

    assert drawn == [
        "A",
        "├─── B",
        "│    └──▶ D",
        "│         └──▶ E",
        "└─── C",
        "     └──▶ D ↺",
        "",
        "──▶ points outwards   ─── direction open   ↺ drawn above",
    ]


@pytest.mark.slow
@given(dags(min_nodes=1, max_nodes=8), st.sampled_from([30, 80]))
def test_every_edge_is_drawn_once(dag: Dag, width: int) -> None:
    """The picture has a line for the target and one for each edge; too far to the right, a node begins anew."""
    part = learn(dag, dag.nodes[0], depth="max")
    tree = draw(part, width).partition("\n\n")[0].splitlines()

    assert len([line for line in tree if line.lstrip("│ ")[:1] in ("├", "└")]) == len(part.edges)
    assert len(tree) <= 1 + len(part.edges) + sum(line.endswith("↧") for line in tree)


def costs(**further: object) -> pd.DataFrame:
    """Draw a table in which two columns raise a cost."""
    random = np.random.default_rng(3)
    n = 900
    age = random.integers(18, 80, n)
    smoker = np.where(random.random(n) < 0.3, "yes", "no")
    cost = 20 * age + 900 * (smoker == "yes") + random.normal(0, 300, n)
    return pd.DataFrame({"id": range(n), "age": age, "smoker": smoker, "cost": cost, **further})


@pytest.fixture(scope="module")
def part() -> Part:
    """Return a part with probabilities, a direction by name, and a column that was set aside."""
    return learn(costs(), "cost", depth=2)


def test_figures_stand_beside_the_tree(part: Part) -> None:
    """Each edge has its probability, and each arrow its own or how its direction was known."""
    tree = part.picture().splitlines()
    (age,) = (row for row in part.rows() if row["source"] == "age")

    assert tree[0].split() == ["cost", "edge", "arrow"]
    (line,) = (line for line in tree if " age " in line)
    assert line.split()[-4:] == [f"{min(99, round(100 * age['probability']))}", "%", "by", "name"]


def test_a_printed_part_begins_with_the_answer(part: Part) -> None:
    """The sentences come first, then the tree, then what asks for something and how many notes there are besides."""
    text = str(part)
    words, tree, legend, notes = text.split("\n\n")

    assert " ".join(words.split("\n")) == part.summary()
    assert f"{tree}\n\n{legend}" == part.picture()
    assert notes.startswith("note: column 'id' is set aside")
    assert notes.endswith("more notes: part.notes")
    assert not {"nats", "rank", "rounds", "oracle", "faithfulness"} & set(text.replace(",", " ").split())
    assert "rounds" in printed(part, figures=True)
    assert printed(part, every_note=True).count("note: ") == len(part.notes)


def test_at_most_three_notes_are_printed() -> None:
    """What asks most comes first, and the others are counted."""
    frame = costs(one=1, two=2).assign(twin=lambda one: one["smoker"], gone="x")
    told = str(learn(frame.head(60), "cost", depth=2))

    assert told.count("note: ") == 3
    assert told.index("are few") < told.index("set aside")


@pytest.mark.parametrize("width", [40, 80])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    """Long names are cut in their middle, long sentences are wrapped at words, wide letters count twice."""
    name, chinese = "a_very_long_name_of_a_column_" * 4, "年齢と性別" * 12
    frame = costs().rename(columns={"age": name, "smoker": chinese})
    text = printed(learn(frame, "cost", depth=2), width)

    assert max(map(wide, text.splitlines())) <= width
    assert "…" in text


def test_a_long_chain_is_continued_below() -> None:
    """A tree of sixty levels stays as narrow as the terminal, and has every edge once."""
    chain = Dag({"v00": [], **{f"v{at:02}": [f"v{at - 1:02}"] for at in range(1, 60)}})
    text = draw(learn(chain, "v00", depth="max"), 60)

    assert max(map(len, text.splitlines())) <= 60
    assert all(f"─ v{at:02}" in text for at in range(1, 60))
    assert "↧ drawn below" in text
