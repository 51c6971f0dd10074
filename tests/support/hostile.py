"""Addresses with a secret in them, spelt as people misspell them, and where such a text may be shown."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from urllib.parse import quote

import pandas as pd
from hypothesis import strategies as st

from apsl_rules import learn, stability, table
from apsl_rules.errors import ApslError
from apsl_rules.learning import dry_run

#: What no text may show; it is in the middle of every password.
SECRET = "S3cr3tW0rd"  # noqa: S105 - a word to look for
#: Forms in which a password may have any character.
_FORMS = (
    "postgres://u:{}@127.0.0.1:1/d#t",
    "postgres://u:{}@127.0.0.1:1/d?sslmode=require#t",
    " postgres://u:{}@127.0.0.1:1/d#t",
    "\tPostgreSQL://u:{}@127.0.0.1:1/d",
    "postgres:/u:{}@127.0.0.1:1/d#t",
    "postgres:///u:{}@127.0.0.1:1/d#t",
    "postgres:////u:{}@127.0.0.1:1/d#t",
    "postgres:u:{}@127.0.0.1:1/d#t",
    "postgres//u:{}@127.0.0.1:1/d#t",
    "//u:{}@127.0.0.1:1/d#t",
    "u:{}@127.0.0.1:1/d#t",
    "dask:tcp://u:{}@127.0.0.1:1",
    "dask:u:{}@127.0.0.1:1",
    "http://u:{}@127.0.0.1:1/rows.csv",
    "mysql+pymysql://u:{}@127.0.0.1:1/d#t",
    "sqlite://u:{}@rows.db#t",
)
#: Forms in which it is spelt as addresses spell it.
_QUOTED_FORMS = (
    "postgres://127.0.0.1:1/d?user=u&password={}#t",
    "postgres:/127.0.0.1:1/d?password={}",
    " sqlite:///rows.db?key={}#t",
    "postgres://127.0.0.1:1/d?sslmode=require;password={}#t",
)
_ODD = st.text(st.sampled_from("@/?#:&=%'\"\\ ;,+aé7*$([{"), max_size=3)


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Draw an address with a password that has the secret in it."""
    password = draw(_ODD) + SECRET + draw(_ODD)
    if draw(st.booleans()):
        return draw(st.sampled_from(_FORMS)).format(password)
    return draw(st.sampled_from((*_FORMS, *_QUOTED_FORMS))).format(quote(password, safe=""))


_ROWS = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 1, 1, 0]})
#: What a user may do with an address.
USES: dict[str, Callable[[str], object]] = {
    "learn": lambda address: learn(address, "a"),
    "dry run": lambda address: dry_run(address, "a"),
    "table": table,
    "stability": lambda address: stability(address, "a", resamples=2),
    "counts": lambda address: learn(_ROWS, "a", counts=address),
    "learner": lambda address: learn(_ROWS, "a", learner=address),
    "knowledge": lambda address: learn(_ROWS, "a", knowledge=address),
}
#: Those that take the path of a file and no address; what the system says of it comes as the cause.
FILES = frozenset({"learner", "knowledge"})


def said_of(address: str, use: str) -> str:
    """Return all that Python says when an address is used, down to the causes of what is raised."""
    try:
        return repr(USES[use](address))
    except ApslError as error:
        return str(error) if use in FILES else "".join(traceback.format_exception(error))
