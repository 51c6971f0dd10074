"""The pages read easily: most sentences are short."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MEDIAN, LONG = 18, 35  # words; at most a fifth of the sentences are long


def sentences(text: str) -> list[int]:
    """Return the number of words of each sentence of a page: no code, tables, headings or addresses."""
    prose = re.sub(r"^```.*?^```$|^(?:\||#|:::|!\[|<).*?$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", prose))
    starts = re.sub(r"^\s*(?:[-*]|\d+\.)\s", "\n\n", prose, flags=re.MULTILINE)
    found = [piece for paragraph in re.split(r"\n\s*\n", starts) for piece in re.split(r"(?<=[.:?!])\s", paragraph)]
    counts = [len(re.findall(r"[\w’'.-]*\w", piece)) for piece in found]
    return [count for count in counts if count > 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short(page: Path) -> None:
    """Half of the sentences of a page have at most eighteen words, and few have more than thirty-five."""
    counts = sentences(page.read_text("utf-8"))
    if counts:
        long = sum(count > LONG for count in counts)
        assert statistics.median(counts) <= MEDIAN, f"{page.name}: median {statistics.median(counts)}"
        assert long <= max(1, len(counts) // 5), f"{page.name}: {long} of {len(counts)} sentences are long"


def test_long_sentences_are_counted() -> None:
    """Words are counted without code, tables and headings; a colon ends a sentence as a stop does."""
    prose = "One two three. Four five `six` seven: eight nine ten."
    text = f"# A heading\n\n{prose}\n\n| a | table |\n\n```\nno words here\n```\n"

    assert sentences(text) == [3, 4, 3]
    assert sentences(" ".join(["word"] * 40) + ".") == [40]
