"""A report as a list of blocks, written as Markdown with pictures beside it or as one HTML page with all inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from textwrap import fill

import attrs

from apsl_rules._files import write_text

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\*(\S.*?)\*"), r"<em>\1</em>"),
    (re.compile(r"\[([^\]]+)\]\(([^)]+)\)"), r'<a href="\2">\1</a>'),
)
_LINE = 120
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
td:last-child { white-space: normal; }
pre { background: #8882; padding: 0.8rem; overflow-x: auto; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption { font-size: 0.85rem; opacity: 0.8; }
"""


@attrs.frozen
class Heading:
    """A title of some level."""

    text: str
    level: int = 2

    def markdown(self, _pictures: str) -> str:
        """Return the block as Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        """Return the block as HTML."""
        return f"<h{self.level}>{_inline(self.text)}</h{self.level}>"


@attrs.frozen
class Text:
    """A paragraph, with Markdown's backticks, stars and links."""

    text: str

    def markdown(self, _pictures: str) -> str:
        """Return the block as Markdown."""
        return _filled(self.text)

    def html(self) -> str:
        """Return the block as HTML."""
        return f"<p>{_inline(self.text)}</p>"


@attrs.frozen
class Points:
    """A list of points."""

    items: tuple[str, ...]

    def markdown(self, _pictures: str) -> str:
        """Return the block as Markdown."""
        return "\n".join(_filled(item, "- ") for item in self.items)

    def html(self) -> str:
        """Return the block as HTML."""
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in self.items) + "</ul>"


@attrs.frozen
class Code:
    """Lines to be typed."""

    text: str
    language: str

    def markdown(self, _pictures: str) -> str:
        """Return the block as Markdown."""
        return f"```{self.language}\n{self.text}\n```"

    def html(self) -> str:
        """Return the block as HTML."""
        return f"<pre>{escape(self.text)}</pre>"


@attrs.frozen
class Table:
    """Rows of cells under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self, _pictures: str) -> str:
        """Return the block as Markdown."""
        return "\n".join(map(_row, (self.head, ("---",) * len(self.head), *self.rows)))

    def html(self) -> str:
        """Return the block as HTML."""
        head = "".join(f"<th>{_inline(cell)}</th>" for cell in self.head)
        rows = ("".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


@attrs.frozen
class Picture:
    """A drawing with a name for its file and a caption."""

    name: str
    svg: str
    caption: str

    def markdown(self, pictures: str) -> str:
        """Return the block as Markdown."""
        return f"![{self.caption}]({pictures}/{self.name}.svg)"

    def html(self) -> str:
        """Return the block as HTML."""
        return f"<figure>{self.svg}<figcaption>{_inline(self.caption)}</figcaption></figure>"


Block = Heading | Text | Points | Code | Table | Picture


def write_markdown(blocks: Sequence[Block], page: Path, pictures: Path) -> None:
    """Write a page, and its pictures into a folder."""
    pictures.mkdir(parents=True, exist_ok=True)
    for block in blocks:
        if isinstance(block, Picture):
            write_text(pictures / f"{block.name}.svg", block.svg)
    write_text(page, as_markdown(blocks, pictures.relative_to(page.parent).as_posix()))


def as_markdown(blocks: Iterable[Block], pictures: str) -> str:
    """Return the text of a page whose pictures are in a folder."""
    return "\n\n".join(block.markdown(pictures) for block in blocks) + "\n"


def as_html(blocks: Iterable[Block], title: str) -> str:
    """Return one page that needs no other file."""
    body = "\n".join(block.html() for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _filled(text: str, begin: str = "") -> str:
    """Break a paragraph into lines."""
    after = " " * len(begin)
    return fill(
        text, _LINE, initial_indent=begin, subsequent_indent=after, break_long_words=False, break_on_hyphens=False
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _inline(text: str) -> str:
    spelt = escape(text, quote=False)
    for pattern, put in _INLINE:
        spelt = pattern.sub(put, spelt)
    return spelt
