"""Throw damaged documents at every reader for as long as you like, and count what was tried.

    python tools/faults/fuzz.py [--seconds 60] [--seed 1]
    python tools/faults/fuzz.py --guided bif [--seconds 60]

The first draws damaged documents with hypothesis, as tests/property/test_fuzzing.py does, but anew for each seed. The
second lets atheris (extra "fuzz") change the bytes of one kind of document, guided by the lines that it reaches.
What must hold: a result, or an ApslError with one sentence. Anything else ends the run with exit code 1; keep its input
as a test.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BATCH = 300


def by_drawing(seconds: float, first: int) -> None:
    """Draw a batch for each kind of document in turn until the time is over."""
    from hypothesis import HealthCheck, given, seed, settings

    from apsl_rules.parts.file import parse_part
    from support.fuzzing import READERS, looked_at, refused_or, spoilt_parts
    from support.mutation import as_text

    tried = dict.fromkeys([*READERS, "part as a tree"], 0)

    def use(name: str, document: object) -> None:
        tried[name] += 1
        if name in READERS:
            refused_or(lambda: READERS[name].use(str(document)))
        else:
            refused_or(lambda: looked_at(parse_part(as_text(document), "spoilt.json")))

    ways = {name: reader.spoilt() for name, reader in READERS.items()} | {"part as a tree": spoilt_parts()}
    anew = settings(max_examples=BATCH, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end:
        for name, strategy in ways.items():
            seed(number)(anew(given(document=strategy)(_of(use, name))))()
        number += 1
    for name, count in tried.items():
        print(f"{count:8} {name}")
    print(f"{sum(tried.values()):8} documents tried: each gave a result or one sentence")


def _of(use: Callable[[str, object], None], name: str) -> Callable[..., None]:
    """Return the use of one kind of document as a function of its own, which is what hypothesis takes."""

    def run(document: object) -> None:
        use(name, document)

    return run


def guided(name: str, seconds: float) -> None:
    """Let coverage guide the damage to one kind of document."""
    import atheris

    with atheris.instrument_imports(include=["apsl_rules"]):
        from support.fuzzing import READERS, refused_or
    reader = READERS[name]

    def one(data: bytes) -> None:
        refused_or(lambda: reader.use(data.decode("utf-8", "surrogateescape")))

    corpus = ROOT / "build" / "fuzz" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(reader.documents):
        (corpus / f"valid-{number}").write_text(document, "utf-8")
    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={int(seconds)}", "-rss_limit_mb=4096"], one)
    atheris.Fuzz()


def main() -> None:
    """Fuzz in one of the two ways."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--guided", metavar="KIND", help="bif, spec, csv, part, knowledge, dot, ...")
    given = options.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    if given.guided:
        guided(given.guided, given.seconds)
    else:
        by_drawing(given.seconds, given.seed)


if __name__ == "__main__":
    main()
