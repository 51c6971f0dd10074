"""Docstrings: whatever the public names lead to says what it is, attribute by attribute and argument by argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_type_hints

import attrs
import pytest

import apsl_rules
from apsl_rules.effects import Effects, Fitted, Grounds
from apsl_rules.parts import Edge, MarkedGraph
from apsl_rules.views.widget import PartWidget


def public_functions() -> dict[str, Any]:
    """Return the functions among the public names."""
    found = {name: getattr(apsl_rules, name) for name in apsl_rules.__all__}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


@cache
def public_classes() -> tuple[type, ...]:
    """Return the classes that a user meets: public ones, those that functions return, and those of their attributes."""
    ahead: list[type] = [Edge, Effects, Fitted, Grounds, MarkedGraph, PartWidget]  # named for type hints alone
    ahead += [value for name in apsl_rules.__all__ if inspect.isclass(value := getattr(apsl_rules, name))]
    for function in public_functions().values():
        ahead += _classes_in(_hints(function).get("return"))
    found: dict[type, None] = {}
    while ahead:
        one = ahead.pop()
        if one not in found:
            found[one] = None
            ahead += [other for member in _members(one).values() for other in _classes_in(member)]
            ahead += [other for other in one.__mro__[1:] if other.__module__.startswith("apsl_rules.")]
    return tuple(sorted(found, key=lambda one: (one.__module__, one.__qualname__)))


def _members(one: type) -> dict[str, Any]:
    """Return the public attributes of a class with their types, and what its methods return."""
    fields = {field.name: field.type for field in attrs.fields(one)} if attrs.has(one) else {}
    hints = _hints(one)
    found = {name: hints.get(name, kind) for name, kind in fields.items()}
    for name, member in vars(one).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if inspect.isfunction(function):
            found[name] = _hints(function).get("return")
    return {name: kind for name, kind in found.items() if not name.startswith("_")}


def _hints(one: Any) -> dict[str, Any]:
    try:
        return get_type_hints(one)
    except NameError:  # a name for type hints alone
        return {}


def _classes_in(kind: Any) -> Iterator[type]:
    """Find our classes in a type."""
    if inspect.isclass(kind) and kind.__module__.startswith("apsl_rules.") and not issubclass(kind, Exception):
        yield kind
    for inner in get_args(kind):
        yield from _classes_in(inner)


def undocumented(one: type) -> list[str]:
    """Return the attributes that the docstring of a class does not name, and members without a docstring."""
    text = one.__doc__ or ""
    fields = [field.name for field in attrs.fields(one)] if attrs.has(one) else []
    named = {
        name
        for name in fields
        if f"``{name}``" in text or re.search(rf"^    (?:\w+, )*{name}(?:, \w+)*$", text, re.MULTILINE)
    }
    missing = [name for name in fields if not name.startswith("_") and name not in named]
    for name, member in vars(one).items():
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        described = inspect.isfunction(function) or isinstance(member, classmethod | staticmethod)
        if described and not name.startswith("_") and not inspect.getdoc(function):
            missing.append(f"{name}()")
    return missing if text else ["the class itself", *missing]


@pytest.mark.parametrize("one", public_classes(), ids=lambda one: one.__qualname__)
def test_every_attribute_of_a_class_is_described(one: type) -> None:
    """The docstring of the class names every public attribute, and every method and property has one of its own."""
    assert undocumented(one) == []


@pytest.mark.parametrize("name", public_functions())
def test_every_argument_of_a_function_is_described(name: str) -> None:
    """The docstring of a function names each of its arguments."""
    function = public_functions()[name]
    text = inspect.getdoc(function) or ""
    named = set(re.findall(r"\w+", text))

    assert [one for one in inspect.signature(function).parameters if one not in named] == []


def test_the_classes_are_those_that_users_meet() -> None:
    """The search finds results of every kind, and what they are made of."""
    names = {one.__name__ for one in public_classes()}

    assert names >= {
        "Answer",
        "Blanket",
        "Comparison",
        "Conflict",
        "Effect",
        "Fitted",
        "Knowledge",
        "LearnedGraph",
        "Network",
        "Part",
        "Parts",
        "Proof",
        "Stability",
        "Step",
        "Verdict",
    }


def test_a_gap_is_found() -> None:
    """A class with an attribute or a method that nothing describes is told apart from one that describes all."""

    @attrs.frozen
    class Half:
        """Has ``one`` thing."""

        one: int
        other: int

        def method(self) -> None: ...

    assert undocumented(Half) == ["other", "method()"]
