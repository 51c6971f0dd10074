"""Background knowledge on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def test_a_file_and_single_arrows_are_joined(tmp_path: Path) -> None:
    """Tiers from a file and a required arrow beside them orient asia's lines, and the saved part keeps both."""
    known = tmp_path / "known.toml"
    known.write_text('tiers = [["smoke"], ["lung", "bronc"]]\n')

    done = apsl_here(
        "learn",
        "asia",
        "-t",
        "smoke",
        "--knowledge",
        str(known),
        "--require",
        "asia",
        "tub",
        "--out",
        str(tmp_path / "p"),
    )
    why = apsl_here("why", str(tmp_path / "p"), "smoke", "bronc")

    assert done.code == 0
    assert "direction open" not in done.out
    assert done.out.count("──▶ ") + done.out.count("◀── ") > 2
    assert "[given: bronc is in tier 2 and smoke in tier 1]" in why.words
    assert json.loads((tmp_path / "p").read_text())["knowledge"]["required"]


def test_contradictions_with_the_source_are_shown() -> None:
    """A required edge that a test separates holds, and the contradiction is printed beside it."""
    asked = ("asia", "-t", "asia", "--require", "asia", "xray")

    done = apsl_here("learn", *asked)
    why = apsl_here("why", "asia", "asia", "xray", *asked[1:])

    told = " ".join(done.out.split())
    assert "note: contradiction: asia and xray: found adjacent and found apart; kept the edge" in told
    assert "the data contradict what was given of asia and xray" in told
    assert why.out.startswith("asia -> xray   [given]")


def test_mistakes_end_in_one_sentence(tmp_path: Path) -> None:
    """Unknown nodes, contradictory knowledge, a missing file and a learner that cannot know: exit 1, one sentence."""
    base = ("learn", "asia", "-t", "smoke")
    mistakes = {
        ("--require", "smok", "lung"): "unknown node in --require 'smok'; did you mean 'smoke'?",
        ("--require", "smoke", "lung", "--forbid", "smoke", "lung"): "is both required and forbidden",
        ("--knowledge", str(tmp_path / "none.toml")): "cannot be read",
        (
            "--apart",
            "smoke",
            "lung",
            "--learner",
            "apsl-paper",
        ): "use one of apsl, apsl-fs, apsl-hidden, apsl-mixed, apsl-score, cmb",
    }

    for options, sentence in mistakes.items():
        done = apsl_here(*base, *options)

        assert done.code == 1
        assert sentence in done.err
        assert len(done.err.strip().splitlines()) == 1
