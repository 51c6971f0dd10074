"""Golden parts: the canonical form of every case is what it was, in this process and from every other engine.

After a change that moves parts on purpose, ``PYTHONPATH=tests python tests/golden/test_golden_parts.py`` writes the
hashes again; the commit says which parts moved and why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from apsl_rules import learn
from support.canonical import canonical, canonical_hash
from support.databases import in_postgres, stored
from support.golden import Case, cases, frames, resumed
from support.postgres_server import PostgresServer

HASHES = Path(__file__).with_name("hashes.json")
FRAMES = ("asia", "asia with gaps", "alarm", "mixed", "mixed with gaps", "numbers")
ELSEWHERE = ("duckdb", "sqlite", "dask", pytest.param("postgres", marks=pytest.mark.slow))


def by_engine(name: str) -> list[Case]:
    """Return the cases on a table that other engines repeat: some learners, one target."""
    wanted = ({"learner": "auto"}, {"learner": "apsl"}, {"learner": "apsl-mixed"}, {"hidden": "allowed"})
    settings = [{"hidden": "excluded"} | one for one in wanted]
    return [case for case in cases() if case.frame == name and dict(case.settings) in settings]


def elsewhere(engine: str, frame: str, folder: Path, request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any]]:
    """Store a table in an engine; return the source, and the settings that it needs."""
    rows = frames()[frame]
    if engine == "sqlite":
        return stored(rows, "sqlite", folder), {}
    if engine == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        return in_postgres(rows, server), {}
    rows.to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet", {"counts": engine}


def test_there_are_more_than_three_hundred_cases_with_names_of_their_own() -> None:
    """No case hides another, and every hash belongs to one."""
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) > 300
    assert sorted(names) == sorted(json.loads(HASHES.read_text()))


def test_every_part_is_what_it_was() -> None:
    """The canonical form of each case has the hash that was written when it was last looked at."""
    kept = json.loads(HASHES.read_text())
    moved = [case.name for case in cases() if canonical_hash(case.learn()) != kept[case.name]]
    assert moved == []


@pytest.mark.parametrize("engine", ELSEWHERE)
@pytest.mark.parametrize("frame", FRAMES)
def test_the_part_is_the_same_from_another_engine(
    engine: str, frame: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Rows in DuckDB, SQLite, PostgreSQL or Dask give the canonical form that rows in memory give."""
    source, how = elsewhere(engine, frame, tmp_path, request)
    chosen = by_engine(frame)
    assert chosen
    for case in chosen:
        part = learn(source, case.target, depth=2, **case.settings, **how)
        here = learn(frames()[frame], case.target, depth=2, **case.settings)
        assert canonical(part) == canonical(here), case.name


@pytest.mark.parametrize("frame", ["asia", "alarm", "mixed"])
@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_a_resumed_run_gives_the_part_of_a_whole_one(frame: str, learner: str, tmp_path: Path) -> None:
    """Answers that a limited run left change no mark, finding or figure."""
    target = {"asia": "dysp", "alarm": "HR", "mixed": "dose"}[frame]
    case = Case(
        frame, lambda: learn(frames()[frame], target), frame, {"hidden": "excluded", "learner": learner}, target
    )
    whole = canonical(learn(frames()[frame], target, depth=2, **case.settings))
    again = canonical(resumed(tmp_path, case))
    assert again | {"counts": 0} == whole | {"counts": 0}


def test_parts_do_not_depend_on_the_order_of_hashes() -> None:
    """Processes with different orders of sets learn the same parts, with hidden causes allowed and without."""
    program = "from support.canonical import canonical_hash\nfrom support.golden import cases\n"
    program += "print([canonical_hash(c.learn()) for n, c in enumerate(cases()) if n % 16 == 0 or 'allowed' in c.name])"
    seen = set()
    for seed in "123":
        changed = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(HASHES.parents[1])}
        seen.add(subprocess.run([sys.executable, "-c", program], env=changed, capture_output=True, check=True).stdout)
    assert len(seen) == 1


if __name__ == "__main__":
    written = {case.name: canonical_hash(case.learn()) for case in cases()}
    HASHES.write_text(json.dumps(written, indent=0, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
