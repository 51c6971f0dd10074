"""The process that answers calls: a question as a line of JSON on standard input, its answer on standard output.

It has loaded what learning needs before it is asked. Whatever a file does to it, the server lives on: it is ended when
the time of a call is up, and its memory is bounded.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from typing import Any

from apsl_rules.data import example_table
from apsl_rules.errors import ApslError
from apsl_rules.learning import learn
from apsl_rules.masking import masked
from apsl_rules.server.answers import answer
from apsl_rules.server.limits import Limits, plain_data

_MEMORY = 4 * 2**30


def main() -> None:
    """Answer the questions on standard input until there are no more."""
    _bound_memory()
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):
        learn(example_table(), "either")  # loads all that the first question would wait for
        for line in sys.stdin.buffer:
            found = _answered(json.loads(line))
            out.write(json.dumps(plain_data(found), allow_nan=False).encode() + b"\n")
            out.flush()


def _answered(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, or the sentence that says why there is none."""
    try:
        return {"answer": answer(question["tool"], question["arguments"], Limits.of(question["limits"]))}
    except ApslError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "it takes more memory than one call may; give a smaller table, or a smaller depth"}
    except Exception as error:  # noqa: BLE001 - the client gets a sentence, whatever went wrong
        first = (str(error).splitlines() or [""])[0]
        return {"error": masked(f"internal error ({type(error).__name__}: {first}); please report it")}


def _bound_memory() -> None:
    """Let the system refuse more memory than one call may take, where it can."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
