"""Recording and replay: the learner cannot tell the replay from the original."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_backends.answers.cached_oracle import RecordingOracle, ReplayOracle
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import learn, network
from apsl_rules.errors import DataError
from apsl_rules.parts.file import part_json


@pytest.mark.parametrize("learner", ["apsl", "apsl-paper"])
def test_a_replayed_run_is_the_recorded_run(learner: str, tmp_path: Path) -> None:
    """A run on the replay saves the same bytes as the run that was recorded."""
    recorder = RecordingOracle(DSeparation(network("child").dag))
    part = learn(recorder, "LungFlow", depth=2, learner=learner)
    recorder.save(tmp_path / "child.recording")

    again = learn(ReplayOracle(tmp_path / "child.recording"), "LungFlow", depth=2, learner=learner)

    assert part_json(again) == part_json(part)


def test_a_question_that_was_not_recorded_is_refused(tmp_path: Path) -> None:
    """The replay invents nothing."""
    recorder = RecordingOracle(DSeparation(network("alarm").dag))
    learn(recorder, "HISTORY")
    recorder.save(tmp_path / "alarm.recording")

    with pytest.raises(DataError, match="has no answer to"):
        learn(ReplayOracle(tmp_path / "alarm.recording"), "HREKG")


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    """A missing file and a file of another kind get one sentence each."""
    (tmp_path / "other.recording").write_text("{}", "utf-8")

    with pytest.raises(DataError, match="is no recording of an oracle"):
        ReplayOracle(tmp_path / "other.recording")
    with pytest.raises(DataError, match="cannot be read"):
        ReplayOracle(tmp_path / "missing.recording")
