"""Secrets in addresses of databases, taken out of every text that is shown: errors, notes, logs and answers.

An address can be misspelt in any way, and is then still shown without what may be a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import SplitResult, parse_qsl, unquote, unquote_plus, urlsplit

HIDDEN = "***"
#: Parameters of an address that are no secrets; the values of all others are hidden.
_SHOWN = frozenset({"account", "application_name", "charset", "database", "dataset", "dbname", "driver", "host",
                    "hostaddr", "location", "port", "region", "role", "schema", "sslmode", "user", "username",
                    "warehouse"})  # fmt: skip
#: A value that can be shown: one word, with no further parameter in it.
_WORD = re.compile(r"[\w.@+-]*")
#: A parameter whose value may have an '@', and that is no second half of a password with a '?'.
_NAMED = re.compile(rf"(?:{'|'.join(sorted(_SHOWN))}|[a-z_]*(?:pass|pwd|key|token|secret|mail)[a-z_]*)=", re.IGNORECASE)
#: A host without a user before it: a name, or an address in brackets, and a port.
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]*)?")
#: How an address begins, however many slashes it has, or an engine without any.
_ENGINES = "athena|bigquery|clickhouse|dask|databricks|druid|duckdb|exasol|flink|impala|mssql|mysql|oracle|postgres"
_ENGINES += "|postgresql|pyspark|risingwave|singlestoredb|snowflake|sqlite|tcp|tls|trino"
_HEAD = re.compile(
    rf"(?:[A-Za-z][A-Za-z0-9+.-]*:)*(?:[A-Za-z][A-Za-z0-9+.-]*)?/{{2,}}|(?:[A-Za-z][A-Za-z0-9+.-]+:)+/|(?:(?:{_ENGINES}):)+",
    re.IGNORECASE,
)
#: A path of Windows, whose colon comes after no user.
_DRIVE = re.compile(r"/*[A-Za-z]:[/\\][^:]*$")
_EXACT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PARAMETER = re.compile(r"([?&;])([^=&;#\s]*)=([^&;#\s]*(?:;(?![^=&;#\s]*=)[^&;#\s]*)*)")
_QUOTED = re.compile(
    rf"(?P<mark>['\"])(?=(?:\s|\\[tnr])*(?:{_HEAD.pattern}))(?P<inner>(?:\\.|(?!(?P=mark)).)*)(?P=mark)",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(rf"(?<![\w/:])(?:{_HEAD.pattern})\S*", re.IGNORECASE)
_SPELT = re.compile(
    r"(?<![\w])((?:ssl)?passw(?:or)?d|pwd|token|secret)(\s*=\s*)('[^']*'|\"[^\"]*\"|\S+)", re.IGNORECASE
)


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without the passwords of the addresses in it, and without some secrets that are known.

    >>> masked("no answer from 'postgres://ann:s3cret@host/sales?sslmode=require'")
    "no answer from 'postgres://ann:***@host/sales?sslmode=require'"
    """
    for secret in sorted(set(secrets), key=lambda one: (-len(one), one)):
        text = _without(text, secret)
    if "@" not in text and "=" not in text:
        return text
    pieces, end = [], 0
    for found in _QUOTED.finditer(text):
        pieces += [_tokens(text[end : found.start()]), found["mark"], shown_address(found["inner"]), found["mark"]]
        end = found.end()
    return "".join([*pieces, _tokens(text[end:])])


def masked_driver_text(text: str, secrets: Iterable[str] = ()) -> str:
    """Return what an engine says without secrets, also where it spells one as a setting, ``password=...``."""
    return _SPELT.sub(rf"\1\2{HIDDEN}", masked(text, secrets))


def _without(text: str, secret: str) -> str:
    """Take a secret out of a text as a whole word, as it is and as it is spelt in quotation marks."""
    for spelt in {secret, repr(secret)[1:-1]} - {""}:
        before, after = r"(?<!\w)" * spelt[0].isalnum(), r"(?!\w)" * spelt[-1].isalnum()
        text = re.sub(f"{before}{re.escape(spelt)}{after}", HIDDEN, text)
    return text


def _tokens(text: str) -> str:
    return _TOKEN.sub(lambda found: shown_address(found[0]), text)


def shown_address(address: str) -> str:
    """Return an address without its secrets; one that cannot be read, without all that may be one."""
    url, table = split_table(address)
    parts = address_parts(address)
    if parts is None:
        return _boldly_masked(address)
    where = parts.netloc
    if "@" in where:
        user, _, host = where.rpartition("@")
        name, mark, _ = user.partition(":")
        where = f"{name}:{HIDDEN}@{host}" if mark else where
    scheme = url[: url.index("://")]
    query = "&".join(f"{name}={value if _is_shown(name, value) else HIDDEN}" for name, value in _parameters(parts))
    return f"{scheme}://{where}{parts.path}{'?' if query else ''}{query}{'' if table is None else f'#{table}'}"


def _boldly_masked(text: str) -> str:
    """Hide all from the first colon after the beginning of an address to its last '@'."""
    before, mark, after = text.rpartition("@")
    head = _HEAD.match(text, len(text) - len(text.lstrip()))
    start = head.end() if head else 0
    user, colon, _ = before[start:].partition(":")
    if mark and colon:
        text = f"{text[:start]}{user}:{HIDDEN}@{after}"
    return _PARAMETER.sub(lambda one: one[0] if _is_shown(one[2], one[3]) else f"{one[1]}{one[2]}={HIDDEN}", text)


def _is_shown(name: str, value: str) -> bool:
    return name.casefold() in _SHOWN and _WORD.fullmatch(value) is not None


def _parameters(parts: SplitResult) -> list[tuple[str, str]]:
    return parse_qsl(parts.query, keep_blank_values=True)


def split_table(address: str) -> tuple[str, str | None]:
    """Return the address of a database and the name of the table after it, if there is one."""
    before, _, name = address.rpartition("#")
    return (before, name or None) if before else (address, None)


def address_parts(address: str) -> SplitResult | None:
    """Return an address in parts, or None where a password in it may be cut in two."""
    url, table = split_table(address)
    try:
        parts = urlsplit(url) if _EXACT.match(url) else None
    except ValueError:
        return None
    return None if parts is None or _is_torn(parts, table) else parts


def _is_torn(parts: SplitResult, table: str | None) -> bool:
    """Return whether a password may have been cut in two, so that none of its halves would be hidden."""
    if "@" in parts.netloc:
        return "@" in parts.path + parts.fragment + (table or "") or _has_unnamed(parts.query)
    if not _HOST.fullmatch(parts.netloc):
        return True
    if ":" not in (parts.netloc or parts.path) or parts.netloc.startswith("["):
        return False
    is_file = bool(parts.netloc) or _DRIVE.match(parts.path) is not None
    beyond = parts.path + parts.fragment + ("" if parts.path and is_file else table or "")
    return "@" in beyond or _has_unnamed(parts.query)


def _has_unnamed(query: str) -> bool:
    """Return whether a parameter that no database knows has an '@'."""
    return any("@" in one and not _NAMED.match(one) for one in query.split("&"))


def secrets_of(address: str) -> Iterator[str]:
    """Yield what an address has that must not be shown, as it is spelt and as it is meant."""
    parts = address_parts(address)
    if parts is None:
        head = _HEAD.search(address)
        user = address[head.end() if head else 0 :].rpartition("@")[0]
    else:
        user = parts.netloc.rpartition("@")[0]
    password = user.partition(":")[2]
    yield from filter(None, {password, unquote(password), unquote_plus(password)})
    for _, name, value in _PARAMETER.findall(address):
        for meant in (value, unquote(value), unquote_plus(value)):
            if meant and not _is_shown(unquote_plus(name), meant):
                yield meant
