"""Throw damaged documents at every reader for as long as you like, and count what was tried.

    python tools/faults/fuzz.py [--seconds 60] [--seed 1]
    python tools/faults/fuzz.py --guided bif [--seconds 60]
    python tools/faults/fuzz.py --tables 10000 [--seed 1] [--processes 2]
    python tools/faults/fuzz.py --addresses 10000 [--seed 1]

The first draws damaged documents with hypothesis, as tests/property/test_fuzzing.py does, but anew for each seed. The
second lets atheris (extra "fuzz") change the bytes of one kind of document, guided by the lines that it reaches.
The third draws tables by number, seed * 1,000,000 onwards: missing values, few rows, copies, repeated rows, and learns
from each in three ways; the fourth misspells addresses. tests/support/hostile_tables.py says what must hold of the
parts, and no text may show a password.
What must hold of the others: a result, or an ApslError with one sentence. Anything else ends the run with exit code 1;
keep its input as a test.
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


def by_tables(tables: int, first: int, processes: int) -> int:
    """Learn from so many tables, and return how many promises were broken."""
    from multiprocessing import get_context

    broken: dict[str, list[str]] = {}
    numbers = range(first * 1_000_000, first * 1_000_000 + tables)
    with get_context("spawn").Pool(processes) as pool:
        for done, found in enumerate(pool.imap(_faults, numbers, chunksize=8), 1):
            for promise, seen in found:
                broken.setdefault(promise, []).append(seen)
                print(f"{promise}: {seen}", flush=True)
            if done % 500 == 0:
                print(f"{done:8} tables", flush=True)
    for promise, seen_of in broken.items():
        print(f"{len(seen_of):8} times broken: {promise}")
    print(f"{tables:8} tables tried, each learned from in three ways")
    return sum(map(len, broken.values()))


def _faults(number: int) -> list[tuple[str, str]]:
    sys.path.insert(0, str(ROOT / "tests"))
    from support.hostile_tables import faults

    return list(faults(number))


def by_addresses(most: int, first: int) -> None:
    """Use so many addresses in every way, and look for their secret in all that is said."""
    from hypothesis import HealthCheck, given, seed, settings

    from apsl_rules.masking import shown_address
    from support.hostile import FILES, SECRET, USES, addresses, said_of

    def use(address: str) -> None:
        said = [shown_address(address), *(said_of(address, one) for one in USES if one not in FILES)]
        if any(SECRET in one for one in said):
            message = f"a text shows the password of {address!r}"
            raise ValueError(message)

    anew = settings(max_examples=most, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    seed(first)(anew(given(address=addresses())(use)))()
    print(f"{most:8} addresses tried at most: no text showed a password")


def main() -> None:
    """Fuzz in one of the four ways."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--guided", metavar="KIND", help="bif, spec, csv, part, knowledge, dot, ...")
    options.add_argument("--tables", type=int, metavar="N", help="draw so many tables")
    options.add_argument("--processes", type=int, default=1, help="that learn from them")
    options.add_argument("--addresses", type=int, metavar="N", help="draw so many addresses")
    given = options.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    if given.tables:
        sys.exit(1 if by_tables(given.tables, given.seed, given.processes) else 0)
    if given.addresses:
        by_addresses(given.addresses, given.seed)
    elif given.guided:
        guided(given.guided, given.seconds)
    else:
        by_drawing(given.seconds, given.seed)


if __name__ == "__main__":
    main()
