"""A mapping whose values are made when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from apsl_rules.names import Node

Value = TypeVar("Value")


class LazyMapping(Mapping[Node, Value]):
    """A mapping with known keys, whose values are made on demand."""

    def __init__(self, keys: Iterable[Node], make: Callable[[Node], Value]) -> None:
        self._values: dict[Node, Value | None] = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: Node) -> Value:
        value = self._values[key]
        if value is None:
            value = self._values[key] = self._make(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[Node]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
