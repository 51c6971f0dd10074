"""What the worker answers: charts of columns given others, sentences that can be clicked, and what is known so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules.app.controls import clickable, controls, in_words
from apsl_rules.app.study import Study, changed
from apsl_rules.app.work import Work
from apsl_rules.errors import ApslError
from apsl_rules.learning import learn
from apsl_rules.notes import Sentence, argument
from apsl_rules.parts import Part, part_json
from apsl_rules.plugins import Progress, hookimpl
from apsl_rules.server import Limits


def silent(*_said: Any) -> None:
    """Take what is told of progress."""


def table(rows: int = 600) -> pd.DataFrame:
    """Return two numbers and two categories, each joined to the others through two numbers and a category."""
    draw = np.random.default_rng(4)
    base, site = draw.normal(0, 1, rows), draw.choice(["n", "s"], rows)
    left = 2 * base + 3 * (site == "s") + draw.normal(0, 1, rows)
    right = -base + (site == "s") + draw.normal(0, 1, rows)
    sick = np.where(base + draw.normal(0, 1, rows) > 0, "yes", "no")
    frame = pd.DataFrame({"base": base, "site": site, "left": left, "right": right, "sick": sick})
    frame.loc[::50, "base"] = np.nan
    return frame


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Work, Study, pd.DataFrame]:
    """Return a worker with a study of the table."""
    frame = table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    return Work(Limits((tmp_path.resolve(),))), Study("t.csv", target="left"), pd.read_csv(tmp_path / "t.csv")


def test_numbers_given_others_are_what_a_line_leaves(desk: tuple[Work, Study, pd.DataFrame]) -> None:
    """As least squares with an intercept and an indicator leaves it, in the rows that have all values."""
    work, study, frame = desk
    chart = work.do("given", study, {"x": "left", "y": "right", "given": ["base", "site"]}, silent)
    whole = frame.dropna()
    design = np.column_stack([np.ones(len(whole)), whole["base"], whole["site"] == "s"]).astype(float)
    left, right = (
        whole[one] - design @ np.linalg.lstsq(design, whole[one].to_numpy(), rcond=None)[0] for one in ("left", "right")
    )
    kept = np.linspace(0, len(whole) - 1, 400).astype(int)

    assert (chart["kind"], chart["rows"], chart["given"]) == ("points", len(whole), ["base", "site"])
    assert np.allclose(chart["points"], np.column_stack([left, right])[kept], atol=1e-8)
    boxes = work.do("given", study, {"x": "right", "y": "sick", "given": ["base"]}, silent)
    line = np.polyfit(whole["base"], whole["right"], 1)
    rest = whole["right"] - np.polyval(line, whole["base"])
    assert boxes["nodes"] == ["sick", "right"]
    assert np.allclose(
        boxes["boxes"], [np.quantile(rest[whole["sick"] == one], [0, 0.25, 0.5, 0.75, 1]) for one in ("no", "yes")]
    )


def test_categories_given_others_are_counted_in_strata(desk: tuple[Work, Study, pd.DataFrame]) -> None:
    """The largest strata first, a number cut at its terciles; no row is lost."""
    work, study, frame = desk
    chart = work.do("given", study, {"x": "site", "y": "sick", "given": ["base"]}, silent)
    whole = frame.dropna()
    ends = np.quantile(whole["base"], [1 / 3, 2 / 3])
    stratum = np.searchsorted(ends, whole["base"])
    expected = [
        pd.crosstab(whole["site"][stratum == one], whole["sick"][stratum == one]).to_numpy().tolist()
        for one in range(3)
    ]

    assert sorted(one["counts"] for one in chart["strata"]) == sorted(expected)
    assert sum(one["rows"] for one in chart["strata"]) == len(whole)
    assert chart["others"] == {"strata": 0, "rows": 0}
    assert {one["words"].split()[0] for one in chart["strata"]} == {"base"}
    plain = work.do("given", study, {"x": "site", "y": "sick", "given": []}, silent)
    assert plain["strata"][0]["counts"] == pd.crosstab(frame["site"], frame["sick"]).to_numpy().tolist()
    with pytest.raises(ApslError, match="nowhere"):
        work.do("given", study, {"x": "nowhere", "y": "sick"}, silent)


def test_sentences_become_changes_that_are_made(desk: tuple[Work, Study, pd.DataFrame]) -> None:
    """What a click says is what the study takes, and the words stand where nothing can be clicked."""
    ungrouped = argument("groups", "none", python="groups=None")
    said = Sentence(f"take it back with {argument('kinds', {'id': 'category'})}, or give {ungrouped}")
    pieces = clickable(said)
    assert isinstance(pieces, list)
    words, kind, between, none = pieces
    assert isinstance(kind, dict)
    assert isinstance(none, dict)
    assert (words, between) == ("take it back with ", ", or give ")
    study = desk[1]
    for one in (kind, none):
        study = changed(study, one["change"]["what"], one["change"])
    assert (study.kinds, study.further) == ({"id": "category"}, {"groups": "none"})
    assert study.settings["groups"] is None
    assert in_words(said) == "take it back with “id: category”, or give “groups: none”"
    assert clickable("plain") == "plain"


def test_declared_settings_have_controls(desk: tuple[Work, Study, pd.DataFrame]) -> None:
    """Groups are columns, a rule is chosen among its words; what is not a setting of the page is refused."""
    known = {one["name"]: one for one in controls()}
    assert (known["groups"]["what"], known["groups"]["words"]) == ("columns", ["none"])
    assert known["missing"]["what"] == "words"
    work, study, _frame = desk
    for name, value, why in (("threads", 2, "no setting"), ("groups", {}, "groups is")):
        with pytest.raises(ApslError, match=why):
            changed(study, "setting", {"name": name, "value": value})
    with pytest.raises(ApslError, match="perhaps"):
        work.do("describe", changed(study, "setting", {"name": "missing", "value": "perhaps"}), {}, silent)


@pytest.mark.parametrize("settings", [{}, {"hidden": "excluded"}, {"hidden": "allowed"}, {"learner": "apsl"}])
def test_what_is_known_so_far_is_drawn_and_changes_nothing(settings: dict[str, Any]) -> None:
    """Every visit can draw the part that it has by then; the finished part is the same, byte for byte."""
    drawn: list[Part] = []

    class Watcher:
        @hookimpl
        def apsl_progress(self, progress: Progress) -> None:
            drawn.append(progress.so_far())
            assert "<svg" in drawn[-1].svg()

    frame = table()
    watched = learn(frame, "left", depth=2, plugins=[Watcher()], **settings)
    assert part_json(watched) == part_json(learn(frame, "left", depth=2, **settings))
    assert drawn
    assert all(one.incomplete for one in drawn)
    assert set(drawn[-1].nodes) == set(watched.nodes)
    assert {frozenset(one) for one in drawn[-1].edges} & {frozenset(one) for one in watched.edges}
    assert settings or not drawn[-1].arrows  # where hidden causes are possible, arrows are decided at the end


def test_the_part_is_shown_while_it_grows(
    desk: tuple[Work, Study, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawings come with the visits, in order, and phases with their counts."""
    monkeypatch.setattr("apsl_rules.app.work._BEFORE_DRAWING", 0.0)
    monkeypatch.setattr("apsl_rules.app.work._DRAWN_AT_MOST", 0)
    told: list[tuple[Any, ...]] = []
    study = changed(changed(desk[1], "hidden", {"hidden": "allowed"}), "depth", {"depth": 2})
    desk[0].do("learn", study, {}, lambda *said: told.append(said))
    visits = [(done, of, drawing) for what, done, of, drawing in told if what == "nodes visited"]
    assert [done for done, _, _ in visits] == sorted(done for done, _, _ in visits)
    assert any(drawing and "<svg" in drawing for _, _, drawing in visits)
    assert any(what == "tests done" and done for what, done, _, _ in told)
    assert told[0][0].startswith("reading t.csv")


def test_a_column_that_is_left_out_is_listed_once(desk: tuple[Work, Study, pd.DataFrame]) -> None:
    """As left out, with the button that takes it in again."""
    work, study, _ = desk
    found = work.do("describe", changed(study, "drop", {"column": "site", "out": True}), {}, silent)

    assert [one["kind"] for one in found["columns"] if one["name"] == "site"] == ["left out"]
