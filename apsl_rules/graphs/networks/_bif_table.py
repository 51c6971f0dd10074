"""The entries of one probability block of a BIF file, read into an array."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import NoReturn, TypeAlias

import numpy as np

from apsl_rules.graphs.networks._bif_scanner import Scanner, Token
from apsl_rules.graphs.networks.network import TOLERANCE, Probabilities
from apsl_rules.names import count_of, listing, nearest

#: The place of each level of a variable.
Levels: TypeAlias = dict[str, int]
Places: TypeAlias = tuple[int, ...]

_LARGEST = 50_000_000


class TableReader:
    """Reads rows, defaults and whole tables; the array has the variable itself as its last axis."""

    def __init__(self, scanner: Scanner, names: list[Token], levels: Mapping[str, Levels]) -> None:
        self._scanner = scanner
        self._name, *self._parents = names
        self._levels = [levels[parent.text] for parent in self._parents]
        self._size = len(levels[self._name.text])
        self._shape = tuple(len(places) for places in self._levels)

    def read(self) -> Probabilities:
        """Read all entries up to the closing brace of the block."""
        numbers = prod(self._shape) * self._size
        if numbers > _LARGEST:
            self._fail(self._name, f"takes {numbers} numbers; at most {_LARGEST} can be read")
        rows: dict[Places, list[float]] = {}
        default: list[float] | None = None
        for token in self._scanner.entries():
            if token.is_symbol("("):
                places = self._places(token)
                if places in rows:
                    self._fail(token, f"has the row ({self._spell(places)}) twice")
                rows[places] = self._row(token)
            elif token.is_word("default") and default is None:
                default = self._row(token)
            elif token.is_word("table") and not rows:
                rows = self._whole(token)
            else:
                self._fail(token, f"has {token} where a row, 'default', 'property', '}}' or a single 'table' can stand")
        return self._fill(rows, default)

    def _places(self, opening: Token) -> Places:
        """Read the levels of the parents in front of a row."""
        tokens = self._scanner.names(")", "a level")
        if len(tokens) != len(self._parents):
            self._fail(
                opening, f"has a row for {count_of(len(tokens), 'level')}, but {count_of(len(self._parents), 'parent')}"
            )
        for parent, levels, token in zip(self._parents, self._levels, tokens, strict=True):
            if token.text not in levels:
                hint = nearest(token.text, levels) or f"; its levels are {listing(levels)}"
                self._scanner.fail(token.start, f"the variable {parent.text!r} has no level {token.text!r}{hint}")
        return tuple(levels[token.text] for levels, token in zip(self._levels, tokens, strict=True))

    def _row(self, entry: Token) -> list[float]:
        row = self._numbers(entry, self._size)
        self._check_sum(entry, row)
        return row

    def _whole(self, entry: Token) -> dict[Places, list[float]]:
        """Read a table: for each level of the variable all rows, the last parent changing fastest."""
        rows = prod(self._shape)
        values = self._numbers(entry, rows * self._size)
        whole = {places: values[row::rows] for row, places in enumerate(product(*map(range, self._shape)))}
        for row in whole.values():
            self._check_sum(entry, row)
        return whole

    def _numbers(self, entry: Token, expected: int) -> list[float]:
        start = self._scanner.position
        values = self._scanner.numbers()
        if len(values) != expected:
            self._fail(entry, f"has {len(values)} probabilities here, but {expected} are needed")
        if min(values) < 0:
            wrong = self._scanner.number_tokens(start)[values.index(min(values))]
            self._fail(wrong, f"has the negative probability {wrong.text}")
        return values

    def _check_sum(self, entry: Token, row: list[float]) -> None:
        if not abs(sum(row) - 1) <= TOLERANCE:
            self._fail(entry, f"has probabilities that sum to {sum(row):.6g} instead of 1")

    def _fill(self, rows: Mapping[Places, list[float]], default: list[float] | None) -> Probabilities:
        table = np.empty((*self._shape, self._size))
        for places in product(*map(range, self._shape)):
            row = rows.get(places, default)
            if row is None:
                entry = f"row for ({self._spell(places)})" if places else "'table'"
                self._fail(self._name, f"has no {entry} and no 'default'")
            table[places] = row
        return table

    def _spell(self, places: Places) -> str:
        return ", ".join(list(levels)[place] for levels, place in zip(self._levels, places, strict=True))

    def _fail(self, token: Token, sentence: str) -> NoReturn:
        self._scanner.fail(token.start, f"the variable {self._name.text!r} {sentence}")
