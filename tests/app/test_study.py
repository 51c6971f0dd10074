"""Studies: what a person says is taken, kept in a file, and learned again by a script and a command, byte for byte."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from base64 import b64decode
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules.app.study import History, Study, changed
from apsl_rules.app.takeaway import COMMAND, FILES, read_study, script_text, study_text
from apsl_rules.app.work import Work
from apsl_rules.data import example_table
from apsl_rules.errors import ApslError
from apsl_rules.server import Limits

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
ODD = ["age, sex", "a=b", 'quote"', "*", "[x]", "naïve", "two\nlines", "' or '"]


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Draw a study of a few columns with names of any kind."""
    names = draw(st.lists(NAMES | st.sampled_from(ODD), min_size=4, max_size=6, unique=True))
    column = st.sampled_from(names)
    study = Study(source=draw(NAMES))
    for _ in range(draw(st.integers(0, 8))):
        what = draw(
            st.sampled_from(["kind", "drop", "missing", "setting", "target", "depth", "hidden", "arrow", "answer"])
        )
        choices: dict[str, dict[str, object]] = {
            "kind": {"kind": draw(st.sampled_from(["category", "ordered", "number", None]))},
            "drop": {"out": draw(st.booleans())},
            "missing": {"codes": draw(st.lists(NAMES, max_size=2))},
            "setting": draw(
                st.sampled_from(
                    [
                        {"name": "groups", "value": "none"},
                        {"name": "groups", "value": names[:2]},
                        {"name": "missing", "value": "complete"},
                        {"name": "keep", "value": None},
                    ]
                )
            ),
            "depth": {"depth": draw(st.sampled_from([1, 2, "max"]))},
            "hidden": {"hidden": draw(st.sampled_from(["possible", "excluded", "allowed"]))},
            "arrow": {
                "from": names[0],
                "to": draw(column),
                "says": draw(st.sampled_from(["required", "forbidden", None])),
            },
            "answer": {"answer": {"id": "sort", "reply": [[draw(column), "before"]], "target": names[1]}},
        }
        try:
            study = changed(study, what, {"column": draw(column), **choices.get(what, {})})
        except ApslError:
            continue
    return study


@given(studies())
@settings(max_examples=40)
def test_a_study_comes_back_from_its_file_and_from_data(study: Study) -> None:
    """Whatever was said, with whatever names."""
    assert Study.of(study.to_dict()) == study
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(study_text(study), "utf-8")
        assert read_study(path) == study
    compile(script_text(study), "study.py", "exec")


def test_what_is_left_out_takes_along_what_was_said_of_it() -> None:
    """Otherwise the knowledge would name a column that is not there."""
    study = changed(Study("t.csv"), "arrow", {"from": "a", "to": "b", "says": "forbidden"})
    study = changed(study, "kind", {"column": "a", "kind": "category"})
    study = changed(study, "answer", {"answer": {"id": "roots", "reply": [["a", "yes"], ["c", "yes"]]}})
    study = changed(study, "drop", {"column": "a", "out": True})

    assert (study.knowledge.forbidden, study.kinds, study.drop) == ((), {}, ("a",))
    assert [one.reply for one in study.knowledge.answers] == [(("c", "yes"),)]


def test_changes_are_taken_back_and_made_again() -> None:
    """A new change forgets what was taken back."""
    history = History([Study("t.csv")])
    for depth in (2, 3):
        history.add(changed(history.now, "depth", {"depth": depth}))
    history.move(-1)
    assert (history.now.depth, history.can_undo, history.can_redo) == (2, True, True)
    history.move(1)
    assert history.now.depth == 3
    history.move(-2)
    history.add(changed(history.now, "target", {"column": "a"}))
    assert (history.now.depth, history.now.target, history.can_redo) == (1, "a", False)


@pytest.mark.parametrize(
    ("what", "given", "says"),
    [
        ("nonsense", {}, "there is no change 'nonsense'"),
        ("kind", {"column": "a", "kind": "colour"}, "the kind of 'a' is 'colour'"),
        ("kind", {"kind": "number"}, "column is None"),
        ("missing", {"column": "a", "codes": "999"}, "give words or numbers"),
        ("depth", {"depth": 0}, "depth"),
        ("hidden", {"hidden": "maybe"}, "hidden"),
        ("arrow", {"from": "a", "to": "a", "says": "required"}, "two different nodes"),
        ("answer", {"answer": {"id": "sort", "reply": [["a", "later"]]}}, "'later'"),
    ],
)
def test_what_makes_no_sense_is_refused(what: str, given: dict[str, object], says: str) -> None:
    """In one sentence, and the study stays as it was."""
    with pytest.raises(ApslError, match=says):
        changed(Study("t.csv"), what, given)


def test_script_and_command_learn_the_same_part(tmp_path: Path) -> None:
    """In fresh processes, from the files that one takes away; and so does the worker that showed the part."""
    pd.read_csv(example_table()).head(1000).to_csv(tmp_path / "asia, small.csv", index=False)
    study = Study("asia, small.csv")
    for what, said in (
        ("target", {"column": "either"}),
        ("depth", {"depth": 2}),
        ("drop", {"column": "xray", "out": True}),
        ("kind", {"column": "smoke", "kind": "category"}),
        ("arrow", {"from": "dysp", "to": "bronc", "says": "forbidden"}),
        ("answer", {"answer": {"id": "sort", "reply": [["tub", "before"]], "by": "ward 3", "target": "either"}}),
    ):
        study = changed(study, what, said)
    (tmp_path / "study.toml").write_text(study_text(study))
    (tmp_path / "study.py").write_text(script_text(study))
    work = Work(Limits((tmp_path.resolve(),)))
    shown = b64decode(work.do("take", study, {"what": "part.json"}, lambda *_: None)["content"])
    apsl = str(Path(sys.executable).parent / "apsl")
    for command in ([sys.executable, "study.py"], [apsl, *COMMAND.split()[1:]]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert (tmp_path / "part.json").read_bytes() == shown
        (tmp_path / "part.json").unlink()


@pytest.mark.parametrize("source", ["clinic.csv", "asia"])
def test_everything_can_be_taken_away(source: str, tmp_path: Path) -> None:
    """Of a table, and of a network, which has no rows to estimate effects from."""
    (tmp_path / "clinic.csv").write_bytes(example_table().read_bytes())
    work, study = Work(Limits((tmp_path.resolve(),))), Study(source, target="either")
    for name in FILES:
        if name == "effects.csv" and source == "asia":
            with pytest.raises(ApslError, match="has no rows"):
                work.do("take", study, {"what": name}, lambda *_: None)
            continue
        taken = work.do("take", study, {"what": name}, lambda *_: None)
        assert taken["name"] == name
        assert len(b64decode(taken["content"])) > 50
