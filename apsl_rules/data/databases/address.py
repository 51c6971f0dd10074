"""Addresses of tables in databases, which are shown without their secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, unquote_plus, urlsplit

import attrs

from apsl_rules.errors import ApslError, DataError
from apsl_rules.names import Node

if TYPE_CHECKING:
    from apsl_rules.data.databases.connection import Opened

Result = TypeVar("Result")

HIDDEN = "***"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: A host without a user before it: a name, or an address in brackets, and a port.
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]*)?")
#: Parameters of an address that are no secrets; the values of all others are hidden.
_SHOWN = frozenset({"account", "charset", "database", "dataset", "driver", "location", "port", "region", "role",
                    "schema", "sslmode", "warehouse"})  # fmt: skip


def is_database(source: object) -> bool:
    """Return whether a source is the address of a table in a database, such as ``sqlite:///file.db#table``."""
    return isinstance(source, DatabaseTable) or (isinstance(source, str) and _SCHEME.match(source) is not None)


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
        return self.address.rpartition("#")[0] or self.address

    @cached_property
    def table(self) -> str | None:
        """Return the name of the table, as the address spells it."""
        before, _, name = self.address.rpartition("#")
        return name if before and name else None

    @cached_property
    def parts(self) -> SplitResult:
        """Return the address in parts."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            parts = None
        if parts is None:
            message = (
                "the address of the database cannot be read; give one such as 'postgres://user@host/database#table'"
            )
            raise DataError(message)
        if self._is_torn(parts):
            message = (
                "the address of the database has an '@' after the end of its host, or a port that is no number; write "
                "'/' in a password as %2F, '#' as %23 and '?' as %3F"
            )
            raise DataError(message)
        return parts

    def _is_torn(self, parts: SplitResult) -> bool:
        """Return whether a password may have been cut in two, so that none of its halves would be hidden."""
        if "@" in parts.netloc:
            return False
        if not _HOST.fullmatch(parts.netloc):
            return True
        if ":" not in parts.netloc or parts.netloc.startswith("["):
            return False
        beyond = parts.path + parts.fragment + ("" if parts.path else self.table or "")
        return "@" in beyond or any("@" in one and "=" not in one for one in parts.query.split("&"))

    @property
    def engine(self) -> str:
        """Return the name of the engine, in small letters."""
        return self.parts.scheme.casefold()

    @cached_property
    def shown(self) -> str:
        """Return the address without secrets."""
        return self._shown_url if self.table is None else f"{self._shown_url}#{self.table}"

    @cached_property
    def _shown_url(self) -> str:
        """Return the address of the database without secrets."""
        parts = self.parts
        where = parts.netloc
        if "@" in where:
            user, _, host = where.rpartition("@")
            name, mark, _ = user.partition(":")
            where = f"{name}:{HIDDEN}@{host}" if mark else f"{name}@{host}"
        given = parse_qsl(parts.query, keep_blank_values=True)
        query = "&".join(f"{name}={value if name.casefold() in _SHOWN else HIDDEN}" for name, value in given)
        return f"{parts.scheme}://{where}{parts.path}{'?' if query else ''}{query}"

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """Return what must not be shown, as it is spelt and as it is meant, longest first."""
        spelt = [self.address, self.url]
        user, mark, _ = self.parts.netloc.rpartition("@")
        password = user.partition(":")[2] if mark else ""
        spelt += [password, unquote(password), unquote_plus(password)]
        for name, value in parse_qsl(self.parts.query):
            if name.casefold() not in _SHOWN:
                spelt += [value]
        spelt += [one.partition("=")[2] for one in self.parts.query.split("&") if "=" in one]
        known = {value for name, value in parse_qsl(self.parts.query) if name.casefold() in _SHOWN}
        return tuple(sorted({one for one in spelt if one and one not in known}, key=len, reverse=True))

    def redact(self, text: str) -> str:
        """Return a text without the secrets of the address."""
        whole = {self.url: self._shown_url, self.address: self.shown}
        for secret in self._secrets:
            text = text.replace(secret, whole.get(secret, HIDDEN))
        return text

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
