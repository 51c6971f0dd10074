"""Names and arguments: checked before they reach anything that would only raise, and shown in a fixed order."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from numbers import Integral, Real
from os import PathLike, fsencode, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

from apsl_rules.errors import InvalidArgumentError, UnknownNodeError

_LONGEST = 60


def spelt(value: object) -> str:
    """Spell what was given on one line, whatever it is; a long or large thing is named by its kind.

    >>> spelt([1, 2]), spelt("x" * 100)
    ('[1, 2]', 'a str')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, too deep
        text = ""
    if text and len(text) <= _LONGEST and "\n" not in text:
        return text
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def demand(holds: bool, message: str, argument: str | None = None) -> None:  # noqa: FBT001 - a condition, said first
    """Refuse with a sentence unless a condition holds."""
    if not holds:
        raise InvalidArgumentError(message, argument=argument)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a number that a float can be; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def whole_number(name: str, value: object, least: int, most: int = 2**63) -> int:
    """Take a whole number from a bound on, and up to one that no run could reach."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    kind = "" if is_whole(value) else "a whole number, "
    far = f" and at most {most:,}" if is_whole(value) and value > most else ""
    raise InvalidArgumentError(argument=name, value=value, advice=f"give {kind}{least} or more{far}")


def chosen(name: str, value: object, allowed: Collection[str]) -> None:
    """Refuse what is none of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgumentError(argument=name, value=value, advice=f"give {' or '.join(map(repr, allowed))}")


def path_text(value: object, what: str) -> str:
    """Take the path of a file as text."""
    if isinstance(value, str | PathLike):
        path = fspath(value)
        if isinstance(path, str) and path and "\0" not in path and _has_bytes(path):
            return path
    raise InvalidArgumentError(argument=what, value=value, advice="give the path of a file")


def _has_bytes(path: str) -> bool:
    """Whether the file system has bytes for a path; a lone surrogate may have none."""
    try:
        fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def listed(name: str, value: object, of: str, *, letters: bool = False) -> list[Any]:
    """Take a list of something, and no text, which would fall into its letters, unless these are meant."""
    if isinstance(value, bytes) or not isinstance(value, Iterable) or (isinstance(value, str) and not letters):
        raise InvalidArgumentError(argument=name, value=value, advice=f"give a list of {of}")
    return list(value)


def mapping(name: str, value: object, example: str) -> dict[Any, Any]:
    """Take a mapping, and an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(argument=name, value=value, advice=f"give a dict, such as {example}")
    return dict(value)


Node: TypeAlias = Hashable
Pair: TypeAlias = frozenset[Node]
#: How far a part reaches: K, or all that is connected with the target.
Depth: TypeAlias = int | Literal["max"]

_SHOWN = 8
_MOST_BITS = 13_288  # 4,000 digits
#: How many tuples deep a label may be nested.
DEEPEST = 50


def order_key(node: Node) -> tuple[Any, ...]:
    """Return the sort key that orders labels of any kind the same way on every run.

    Numbers sort by value, strings as strings, tuples element by element, and labels of different kinds by kind.

    >>> sorted(["b", 10, 2, ("a", 1)], key=order_key)
    [2, 10, 'b', ('a', 1)]
    """
    if isinstance(node, str):
        return ("str", node)
    if isinstance(node, int | float):
        return ("number", node)
    if isinstance(node, tuple):
        return ("tuple", tuple(order_key(part) for part in node))
    return (type(node).__name__, repr(node))


def in_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Sort nodes by name, so that no result depends on column order or hash order."""
    return tuple(sorted(nodes, key=order_key))


def shown(node: Node) -> str:
    r"""Spell a label on one line: control characters are escaped, an empty label is quoted.

    >>> shown("blood pressure"), shown("a\nb"), shown("")
    ('blood pressure', 'a\\nb', "''")
    """
    text = str(node)
    if not text.isprintable():
        text = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return text or "''"


def listing(nodes: Collection[Node]) -> str:
    """Spell out a few nodes for a message: all of a short list, the first ones of a long list; a set by name.

    >>> listing({"b", "a"})
    "'a', 'b'"
    """
    ordered = in_order(nodes) if isinstance(nodes, AbstractSet) else list(nodes)
    shown = [repr(node) for node in ordered[:_SHOWN]]
    rest = len(nodes) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "") if shown else "none"


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, which is plural unless the number is 1.

    >>> count_of(1, "node"), count_of(1200, "node"), count_of(0, "child", "children")
    ('1 node', '1,200 nodes', '0 children')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def spell_bytes(number: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> spell_bytes(1), spell_bytes(1536), spell_bytes(3 << 30)
    ('1 byte', '1.5 KiB', '3.0 GiB')
    """
    size, unit = float(number), ""
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:  # noqa: PLR2004 - the next unit
            break
        size, unit = size / 1024, larger
    return f"{size:,.1f} {unit}" if unit else count_of(number, "byte")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'X'?" for the known word nearest to a misspelt one, or nothing.

    >>> nearest("Smoke", ["Smoker", "Lung"])
    "; did you mean 'Smoker'?"
    """
    words = list(known)
    folded = {other.casefold(): other for other in reversed(words)}
    hits = get_close_matches(word.casefold(), folded, n=1)
    return f"; did you mean {folded[hits[0]]!r}?" if hits else ""


def near_file(file: Path) -> str:
    """Return "; did you mean 'X'?" for the file of the same folder whose name is nearest, or nothing."""
    try:
        names = sorted(one.name for one in file.parent.iterdir() if one.is_file())
    except OSError:
        return ""
    folder = "" if file.parent == Path() else f"{file.parent}/"
    return nearest(f"{folder}{file.name}", [f"{folder}{name}" for name in names])


def check_labels(nodes: Iterable[Node]) -> None:
    """Refuse labels that cannot be told apart, ordered, spelt or saved: what equals nothing, nests, or has no end."""
    unusual: list[Any] = [node for node in nodes if not isinstance(node, str)]
    for node in unusual:
        try:
            bool(node == node)  # noqa: PLR0124 - pandas' NA will not say
        except (TypeError, ValueError) as error:
            message = f"{spelt(node)} cannot be a label, since it equals nothing; give text, a number or a tuple"
            raise InvalidArgumentError(message) from error
    level: list[Any] = [node for node in unusual if isinstance(node, tuple | int)]
    for _ in range(DEEPEST + 1):
        if any(isinstance(one, int) and one.bit_length() > _MOST_BITS for one in level):
            message = "a label is a number of more than 4,000 digits; give a shorter one"
            raise InvalidArgumentError(message)
        level = [one for outer in level if isinstance(outer, tuple) for one in outer]
        if not level:
            return
    message = f"a label is nested more than {DEEPEST} tuples deep; give a flatter one"
    raise InvalidArgumentError(message)


def check_target(target: object, role: str = "target") -> None:
    """Refuse what cannot name a node, such as a column of values, before any work is done."""
    is_array = hasattr(target, "__array__") and getattr(target, "shape", ()) != ()
    try:
        hash(target)
    except TypeError as error:
        if not is_array:
            message = f"the {role} is {spelt(target)}; give the name of one node"
            raise UnknownNodeError(message) from error
    if is_array:
        message = (
            f"the {role} is {spelt(target)}, which holds values; the {role} is the name of a column of the table, so "
            f"join X and y first: learn(X.assign(y=y), 'y')"
        )
        raise UnknownNodeError(message)
    check_labels([target])


def require_known(node: Node, nodes: Collection[Node], role: str) -> None:
    """Raise a sentence naming the nearest known node when a node is not among the nodes."""
    if not isinstance(node, str):
        check_target(node, role)
    if node not in nodes:
        raise UnknownNodeError(_unknown(node, nodes, role))


def _unknown(node: Node, nodes: Collection[Node], role: str) -> str:
    what = "columns" if role.startswith("column") else "nodes"
    hint = nearest(str(node), map(str, nodes)) or f"; the {what} are {listing(nodes)}"
    return f"unknown {role} {node!r}{hint}"


def check_depth(depth: Depth) -> None:
    """Refuse a depth that is neither a whole number from 1 on nor "max"."""
    if isinstance(depth, int) and not isinstance(depth, bool) and depth >= 1:
        return
    if isinstance(depth, str) and depth == "max":
        return
    raise InvalidArgumentError(
        argument="depth", value=depth, advice="give a whole number from 1 on, or 'max' for the whole connected part"
    )


def inside(depth: Depth, distance: int) -> bool:
    """Return whether all edges of a node at this distance belong to the part: it is at most K - 1."""
    return depth == "max" or distance < depth


def _may_join(text: str, names: set[str]) -> bool:
    """Return whether text could name a category that several columns are joined into, which only their rows tell."""
    parts = text.split("|")
    is_stem = bool(text) and sum(name.startswith(text) for name in names) > 2  # noqa: PLR2004 - two are no category
    return is_stem or (len(parts) > 2 and names.issuperset({*parts} - {"…"}))  # noqa: PLR2004


def node_named(text: str, nodes: tuple[Node, ...], role: str) -> Node:
    """Return the node whose label reads like a word of a user."""
    matches = [node for node in nodes if str(node) == text]
    if not matches and _may_join(text, {str(node) for node in nodes}):
        return text
    if not matches:
        raise UnknownNodeError(_unknown(text, nodes, role))
    if any(node != matches[0] for node in matches):
        message = f"{role} {text!r} is ambiguous: the labels {listing(matches)} all read so"
        raise UnknownNodeError(message)
    return matches[0]
