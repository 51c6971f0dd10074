"""The process that answers one call: a question as JSON on standard input, its answer on standard output.

Whatever a file does to it, the server lives on: it is ended when its time is up, and its memory is bounded.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

from apsl_rules.errors import ApslError
from apsl_rules.masking import masked
from apsl_rules.server.answers import answer
from apsl_rules.server.limits import Limits, plain_data

_MEMORY = 4 * 2**30


def main() -> None:
    """Answer the question on standard input."""
    _bound_memory()
    question = json.loads(sys.stdin.buffer.read())
    with redirect_stdout(sys.stderr):
        found = _answered(question)
    sys.stdout.buffer.write(json.dumps(plain_data(found), allow_nan=False).encode())


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
