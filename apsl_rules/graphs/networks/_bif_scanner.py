"""The words of a BIF file, each with its line and column for messages.

Blanks, commas, bars and comments only separate words, as the format's own description has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NoReturn, TypeAlias

import attrs

from apsl_rules.errors import NetworkFileError

Kind: TypeAlias = Literal["word", "quoted", "symbol", "end"]

_TOKEN = re.compile(
    r"""(?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )*+
    (?: (?P<symbol> [(){}\[\];] )
      | " (?P<quoted> (?: [^"\\] | \\. )* ) "
      | (?P<word> (?: (?!//|/\*) [^\s,|(){}\[\];"] )+ )
      | (?P<unclosed> "|/ )
    )""",
    re.DOTALL | re.VERBOSE,
)
_NUMBERS = re.compile(r"[0-9eE.+\-,\s]*+(?=;)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.<>=+%:/-]+")


@attrs.frozen
class Token:
    """One word, quoted text or symbol, and the place where it starts; "end" stands after the last one."""

    kind: Kind
    text: str
    start: int

    def is_symbol(self, symbol: str) -> bool:
        """Return whether this is a symbol, not a quoted name that looks like one."""
        return self.kind == "symbol" and self.text == symbol

    def is_word(self, word: str) -> bool:
        """Return whether this is a keyword, not a quoted name that looks like one."""
        return self.kind == "word" and self.text == word

    def is_name(self) -> bool:
        """Return whether this can be the name of a variable or of a level."""
        return self.kind in {"word", "quoted"}

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text)


class Scanner:
    """Reads the text of a BIF file word by word."""

    def __init__(self, text: str, origin: str) -> None:
        self._text = text
        self._origin = origin
        self._position = 0

    def take(self) -> Token:
        """Take the next token."""
        found = _TOKEN.match(self._text, self._position)
        if found is None:
            self._position = len(self._text)
            return Token("end", "", self._position)
        self._position = found.end()
        if found["unclosed"]:
            what = "quoted name" if found["unclosed"] == '"' else "comment"
            self.fail(found.start("unclosed"), f"this {what} is never closed")
        if found["symbol"]:
            return Token("symbol", found["symbol"], found.start("symbol"))
        if found["word"]:
            return Token("word", found["word"], found.start("word"))
        return Token("quoted", _unescape(found["quoted"]), found.start("quoted") - 1)

    def expect(self, expected: str, place: str) -> Token:
        """Take the symbol or keyword that must come next; ``place`` says where, for the message."""
        token = self.take()
        if not token.is_symbol(expected) and not token.is_word(expected):
            self.fail(token.start, f"expected {expected!r} {place}, found {token}")
        return token

    def name(self, what: str) -> Token:
        """Take a name, plain or quoted."""
        token = self.take()
        if not token.is_name():
            self.fail(token.start, f"expected {what}, found {token}")
        return token

    def names(self, closing: str, what: str) -> list[Token]:
        """Take names up to a closing symbol, and the symbol."""
        found = []
        while (token := self.take()).is_name():
            found.append(token)
        if not token.is_symbol(closing):
            self.fail(token.start, f"expected {what} or {closing!r}, found {token}")
        return found

    def numbers(self) -> list[float]:
        """Take numbers up to a semicolon, and the semicolon."""
        start = self._position
        run = _NUMBERS.match(self._text, start)
        if run is not None:
            self._position = run.end() + 1
            try:
                return [float(word) for word in run.group().replace(",", " ").split()]
            except ValueError:
                pass  # the slower reader below names the wrong word
        return [float(token.text) for token in self.number_tokens(start)]

    def number_tokens(self, start: int) -> list[Token]:
        """Go back to the start of a run of numbers and take it word by word."""
        self._position = start
        found = []
        while not (token := self.take()).is_symbol(";"):
            if token.kind != "word" or not _NUMBER.fullmatch(token.text):
                self.fail(token.start, f"expected a probability or ';', found {token}")
            found.append(token)
        return found

    def entries(self) -> Iterator[Token]:
        """Return the first token of each entry of a block, up to its closing brace and without properties."""
        while not (token := self.take()).is_symbol("}"):
            if token.is_word("property"):
                self._skip_property(token)
            else:
                yield token

    def _skip_property(self, keyword: Token) -> None:
        while not (token := self.take()).is_symbol(";"):
            if token.kind == "end" or token.is_symbol("{") or token.is_symbol("}"):
                self.fail(keyword.start, "this property has no ';' at its end")

    @property
    def position(self) -> int:
        """Return the place up to which the text was taken."""
        return self._position

    def fail(self, start: int, sentence: str) -> NoReturn:
        """Raise an error that names the file, the line and the column."""
        line = self._text.count("\n", 0, start) + 1
        column = start - self._text.rfind("\n", 0, start)
        message = f"{self._origin}:{line}:{column}: {sentence}"
        raise NetworkFileError(message)


def quote_name(name: str) -> str:
    """Write a name so that it is read back as it is, in quotes where it needs them.

    >>> print(quote_name("V_E_REIN"), quote_name("more than one"))
    V_E_REIN "more than one"
    """
    if _PLAIN.fullmatch(name):
        return name
    return '"' + "".join(_ESCAPES.get(character, character) for character in name) + '"'


def _unescape(body: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), body, flags=re.DOTALL)
