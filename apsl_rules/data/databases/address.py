"""Addresses of tables in databases, which are shown without their secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult

import attrs

from apsl_rules.data.readers.paths import is_there
from apsl_rules.errors import ApslError, DataError
from apsl_rules.masking import address_parts, masked_driver_text, secrets_of, shown_address, split_table
from apsl_rules.names import Node

if TYPE_CHECKING:
    from apsl_rules.data.databases.connection import Opened

Result = TypeVar("Result")

_EXACT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: What may be meant as an address, though it has another number of slashes, or none, or blanks before it.
_LIKE_ADDRESS = re.compile(
    r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://|(?:[A-Za-z][A-Za-z0-9+.-]+:)+/|[^/\\]+:.*@|[^/]*//[^/]*:.*@)", re.DOTALL
)


def is_database(source: object) -> bool:
    """Return whether a source is the address of a table in a database, such as ``sqlite:///file.db#table``.

    One that is misspelt is one too, so that what is wrong with it is said without its password.
    """
    if isinstance(source, str):
        return _LIKE_ADDRESS.match(source) is not None and not is_there(source)
    return isinstance(source, DatabaseTable)


def is_ibis_table(source: object) -> bool:
    """Return whether a source is a table expression of ibis."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "ibis" and hasattr(source, "group_by") and hasattr(source, "schema")


@attrs.frozen(slots=False, repr=False)
class DatabaseTable:
    """A table of a database by its address, ``postgres://user@host/db#table``; passwords in it are never shown."""

    address: str = attrs.field()

    @cached_property
    def url(self) -> str:
        """Return the address of the database, with its secrets."""
        return split_table(self.address)[0]

    @cached_property
    def table(self) -> str | None:
        """Return the name of the table, as the address spells it."""
        return split_table(self.address)[1]

    @cached_property
    def parts(self) -> SplitResult:
        """Return the address in parts."""
        parts = address_parts(self.address)
        if parts is not None:
            return parts
        if _EXACT.match(self.address):
            message = (
                "the address of the database cannot be read: it has an '@' after the end of its host, or a port that "
                "is no number; write '/' in a password as %2F, '#' as %23 and '?' as %3F"
            )
        else:
            message = (
                f"{self.shown!r} is neither a file nor the address of a database; an address begins with its engine, a "
                "colon and two slashes, such as 'postgres://user@host/database#table'"
            )
        raise DataError(message)

    @property
    def engine(self) -> str:
        """Return the name of the engine, in small letters."""
        return self.parts.scheme.casefold()

    @cached_property
    def shown(self) -> str:
        """Return the address without secrets."""
        return shown_address(self.address)

    def redact(self, text: str) -> str:
        """Return what an engine says without the secrets of the address."""
        for whole, shown in ((self.address, self.shown), (self.url, shown_address(self.url))):
            text = text.replace(whole, shown)
        return masked_driver_text(text, secrets_of(self.address))

    def __repr__(self) -> str:
        return f"DatabaseTable({self.shown!r})"

    def __str__(self) -> str:
        return self.shown

    @cached_property
    def opened(self) -> Opened:
        """Return the table, connected once."""
        from apsl_rules.data.databases.connection import connect

        return connect(self)

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names of the columns, for which the database is asked."""
        return self.opened.names


def shown_source(source: object) -> str:
    """Return the name of a source for people, without the secrets of an address."""
    return str(DatabaseTable(source) if isinstance(source, str) and is_database(source) else source)


def ask(call: Callable[[], Result], origin: str, redact: Callable[[str], str] = str) -> Result:
    """Return what a database answers; every failure becomes one sentence without secrets.

    What the database raised is not kept as a cause, since it may tell the address.
    """
    try:
        return call()
    except (ApslError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        stopped = _is_interrupt(error)
        told = redact(first_line(error))
    if stopped:
        raise KeyboardInterrupt
    message = f"the database cannot answer for {origin!r} ({told}); check the address, the table and your rights"
    raise DataError(message)


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _is_interrupt(error: Any) -> bool:
    """Return whether an engine was interrupted by the user."""
    kind, text = type(error).__name__, str(error).casefold()
    return kind == "InterruptException" or (kind in {"OperationalError", "RuntimeError"} and "interrupted" in text)
