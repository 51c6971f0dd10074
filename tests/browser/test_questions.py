"""The box of questions in a real browser: sort by clicking, and take the answers away as a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apsl_rules import Knowledge, Part, learn, network
from apsl_rules.graphs.networks import sample
from support.viewing import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def part() -> Part:
    """Return the part around a node of asia."""
    return learn(sample(network("asia"), 2000, seed=1), "either", depth=2)


def test_answers_are_sorted_by_clicking_and_saved(opened: Callable[..., Page], part: Part, tmp_path: Path) -> None:
    """The file that the page saves is one that a knowledge file is, with who answers."""
    page = opened(part)
    page.browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    summary = page.find("#questions summary")
    assert summary.text == "3 questions would settle 6 edges"
    assert not page.find("#save-answers").is_enabled()
    summary.click()

    page.find("#questions [data-question='sort'] [data-item='\"tub\"'] [data-word='after']").click()
    page.find("#questions [data-question='sort'] [data-item='\"lung\"'] [data-word='before']").click()
    page.find("#answer-by").send_keys("ward 3")
    page.find("#answer-date").send_keys("2026-11-18")
    page.find("#save-answers").click()
    kept = Knowledge.read(waited(tmp_path / "answers.toml"))

    (given,) = kept.answers
    assert (given.id, given.by, given.date, given.target) == ("sort", "ward 3", "2026-11-18", "either")
    assert dict(given.reply) == {"tub": "after", "lung": "before"}
    assert ("either", "tub") in part.answer("sort", dict(given.reply), by=given.by).arrows


def test_a_word_is_taken_back_by_dont_know(opened: Callable[..., Page], part: Part) -> None:
    """Then there is nothing to save."""
    page = opened(part)
    page.find("#questions summary").click()
    row = "#questions [data-question='sort'] [data-item='\"tub\"']"
    page.find(f"{row} [data-word='after']").click()
    assert page.find(f"{row} [data-word='after']").get_attribute("aria-pressed") == "true"
    page.find(f'{row} [data-word="don\'t know"]').click()

    assert not page.find("#save-answers").is_enabled()


def test_an_answered_part_has_no_question_on_what_was_told(opened: Callable[..., Page], part: Part) -> None:
    """A part of which everything is known has no box."""
    told = part
    for _ in range(9):
        first = next(iter(told.questions()), None)
        if first is None:
            break
        word = first.choices[0]
        told = told.answer(first.id, dict.fromkeys(first.items, word) if first.kind == "sort" else {})
        if first.kind != "sort":
            break
    page = opened(told)

    assert all("[data-question='sort']" not in one.text for one in page.all("#questions"))
    assert "either" in page.find("#heading").text


def waited(path: Path) -> Path:
    """Wait until a file is there."""
    for _ in range(100):
        if path.exists():
            return path
        time.sleep(0.1)
    pytest.fail(f"{path} was not saved")
