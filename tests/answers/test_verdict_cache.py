"""The verdict cache: a second run asks nothing, another alpha reuses the figures, and no file is spoilt."""

from __future__ import annotations

import gc
import math
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from threading import Thread
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from apsl_backends.answers import verdict_file as verdictcache
from apsl_backends.answers.cached_oracle import CachedOracle
from apsl_backends.answers.verdict_file import Answer, VerdictCache
from apsl_backends.independence.count_tests import GSquare
from apsl_rules import learn, network
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import CacheFileError, UnknownNodeError
from apsl_rules.evidence.evidence import Decision, Verdict
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node, order_key
from apsl_rules.oracles.protocol import Oracle, Search
from apsl_rules.parts.file import part_json
from support.terminal import apsl


class Chi(Oracle):
    """Test by χ², the strata of Z summed; fewer than five rows in a stratum make it unreliable; counts its work."""

    name = "chi"
    data: Table

    def __init__(self, data: Table, alpha: float, *, p_known: bool = True) -> None:
        self.nodes = data.names
        self.data, self.alpha, self.p_known, self.asked = data, alpha, p_known, 0

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer one question the slow way."""
        self.asked += 1
        figures = measure(self.data, x, y, tuple(given))
        if figures is None:
            return Verdict(x, y, tuple(given), "unreliable", self.name, n=self.data.rows)
        statistic, dof, p = figures
        decision: Decision = "independent" if p > self.alpha else "dependent"
        told = p if self.p_known else None
        return Verdict(x, y, tuple(given), decision, self.name, statistic, told, dof, self.data.rows, math.log(p))


@cache
def measure(data: Table, x: Node, y: Node, given: tuple[Node, ...]) -> tuple[float, int, float] | None:
    """Return statistic, degrees of freedom and p, or None when a stratum is too small."""
    row_x, row_y = (data.codes[data.place[node]] for node in (x, y))
    strata = np.zeros(data.rows, dtype=int)
    for node in sorted(given, key=order_key):
        strata = strata * 9 + data.codes[data.place[node]]
    statistic, dof = 0.0, 0
    for stratum in np.unique(strata):
        here = strata == stratum
        if here.sum() < 5:
            return None
        cells = np.zeros((9, 9))
        np.add.at(cells, (row_x[here], row_y[here]), 1)
        part = chi2_contingency(cells[cells.any(axis=1)][:, cells.any(axis=0)], correction=False)
        statistic, dof = statistic + float(part.statistic), dof + int(part.dof)
    return statistic, dof, float(chi2.sf(statistic, dof))


@pytest.fixture(scope="module")
def data() -> Table:
    """Return sixty rows of a chain a - b - c and two other columns."""
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 60)
    b = (a + (rng.random(60) < 0.2)) % 2
    c = (b + (rng.random(60) < 0.3)) % 3
    return coded_table(np.stack([a, b, c, rng.integers(0, 3, 60), rng.integers(0, 2, 60)], axis=1), names="abcde")


def cached(data: Table, kept: VerdictCache, alpha: float, **options: object) -> tuple[Chi, CachedOracle]:
    """Put the cache before a fresh oracle."""
    oracle = Chi(data, alpha)
    return oracle, CachedOracle(oracle, kept, key_of=data.fingerprint_of, alpha=alpha, options=options)


def all_searches(nodes: Sequence[Node]) -> list[Search]:
    """Return the searches of every pair in the pool of the others, with and without a member that must be in."""
    return [
        Search(x, y, pool, must, size)
        for x, y in combinations(nodes, 2)
        for pool in [tuple(node for node in nodes if node not in (x, y))]
        for must in ((), pool[1:2])
        for size in (None, 2)
    ]


# --- the same answers ----------------------------------------------------------------------------------------------


def test_a_warm_run_asks_nothing(data: Table, tmp_path: Path) -> None:
    """Verdicts, sweeps and searches from the cache equal those of the oracle, which is not asked again."""
    queries = [(x, y, z) for x, y in combinations("abcde", 2) for z in ((), tuple(set("abc") - {x, y}))]
    searches = all_searches("abcde")
    plain = Chi(data, 0.05)
    for warm in (False, True):
        with VerdictCache(tmp_path / "v.sqlite") as kept:
            oracle, front = cached(data, kept, 0.05)
            assert (front.nodes, front.name, front.perfect) == (plain.nodes, plain.name, plain.perfect)
            assert list(front.verdicts(queries)) == list(plain.verdicts(queries))
            assert list(front.separators(searches)) == list(plain.separators(searches))
            for node in "abcde":
                sweep = front.associations(node)
                assert list(sweep) == list(plain.associations(node))
                assert sweep[1:3] == list(sweep)[1:3]
                assert sweep.verdict_on("a" if node != "a" else "b").x == node
                for unreliable in get_args(Decision):
                    ranked = plain.associations(node).ranked(unreliable=unreliable)
                    assert sweep.ranked(unreliable=unreliable) == ranked
            assert (oracle.asked == 0) == warm
            assert (front.misses == 0) == warm
            assert (front.hits > 0) == warm


@settings(deadline=None)
@given(first=st.floats(0.001, 0.9), second=st.floats(0.001, 0.9))
def test_another_alpha_gives_what_the_oracle_would_give(data: Table, first: float, second: float) -> None:
    """Whatever was kept at one alpha, the answers at another are those of a run without a cache."""
    searches = all_searches("abcd")
    with VerdictCache(":memory:") as kept:
        for alpha in (first, second, first):
            oracle, front = cached(data, kept, alpha)
            assert list(front.separators(searches)) == list(Chi(data, alpha).separators(searches))
            assert front.verdict("a", "c", ["b"]) == Chi(data, alpha).verdict("a", "c", ["b"])
            assert list(front.associations("a")) == list(Chi(data, alpha).associations("a"))
        assert oracle.asked == 0


def test_figures_are_free_at_another_alpha(data: Table, tmp_path: Path) -> None:
    """Tests and sweeps kept at one alpha are decided at another without asking; the symmetric question is the same."""
    with VerdictCache(tmp_path / "v.sqlite") as kept:
        _, front = cached(data, kept, 0.01)
        front.verdict("a", "b", ["c", "d"])
        front.associations("e")
        oracle, front = cached(data, kept, 0.5)
        assert front.verdict("b", "a", ["d", "c"]).given == ("d", "c")
        assert front.associations("e")[0].x == "e"
        assert oracle.asked == 0


def test_a_larger_alpha_reuses_searches(data: Table) -> None:
    """A failed search stands at every larger alpha, and a found separator while its p is above alpha."""
    with VerdictCache(":memory:") as kept:
        _, low = cached(data, kept, 0.001)
        failed = low.separator("a", "b", ["c"], max_size=0)
        assert not failed.found
        found = low.separator("a", "e", ["c"])
        assert found.verdict is not None
        assert found.verdict.p is not None
        oracle, high = cached(data, kept, found.verdict.p * 0.99)
        assert not high.separator("a", "b", ["c"], max_size=0).found
        assert high.separator("a", "e", ["c"]) == found
        assert oracle.asked == 0
        _, beyond = cached(data, kept, found.verdict.p)
        assert beyond.separator("a", "e", ["c"], max_size=0).given is None


def test_a_compiled_oracle(data: Table) -> None:
    """What the counting kernels find comes back from the cache figure by figure, at another alpha too."""
    searches = all_searches("abcde")
    with VerdictCache(":memory:") as kept:
        for alpha in (0.01, 0.05, 0.01, 0.05):
            plain = GSquare(data, alpha=alpha)
            front = CachedOracle(plain, kept, key_of=data.fingerprint_of, alpha=alpha, options={"dof": "adjusted"})
            assert list(front.separators(searches)) == list(plain.separators(searches))
            for node in data.names:
                assert list(front.associations(node)) == list(plain.associations(node))
        assert front.misses == 0


# --- keys ----------------------------------------------------------------------------------------------------------


def test_what_changes_the_key(data: Table) -> None:
    """A changed cell, another option and another pool order are other questions; a renamed column is the same."""
    with VerdictCache(":memory:") as kept:
        _, front = cached(data, kept, 0.05, dof="adjusted")
        front.verdict("a", "b", ["c"])
        front.separator("a", "c", ["b", "d"])
        front.associations("a")
        renamed = Table(tuple("vwxyz"), data.codes, data.cards, data.levels, data.incomplete)
        oracle, again = cached(renamed, kept, 0.05, dof="adjusted")
        assert again.verdict("v", "w", ["x"]).given == ("x",)
        again.separator("v", "x", ["w", "y"])
        again.associations("v")
        assert oracle.asked == 0
        oracle, other = cached(data, kept, 0.05, dof="full")
        other.verdict("a", "b", ["c"])
        assert oracle.asked == 1
        codes = data.codes.copy()
        codes[2, 11] = 1 - min(codes[2, 11], 1)
        changed = Table(data.names, codes, data.cards, data.levels, data.incomplete)
        oracle, other = cached(changed, kept, 0.05, dof="adjusted")
        other.verdict("a", "b", ["c"])
        assert oracle.asked == 1
        other.associations("a")
        assert oracle.asked == 5
        oracle, other = cached(data, kept, 0.05, dof="adjusted")
        other.separator("a", "c", ["d", "b"])
        other.separator("a", "c", ["b", "d"], max_size=1)
        other.separator("a", "c", ["d"], must_include=["b"])
        assert other.misses == 3
        with pytest.raises(UnknownNodeError, match="unknown column 'q'"):
            other.verdict("a", "q")


def test_answers_without_figures_are_not_kept(data: Table) -> None:
    """A verdict that only says dependent or independent could not be decided again, so the oracle is asked anew."""
    with VerdictCache(":memory:") as kept:
        oracle = Chi(data, 0.05, p_known=False)
        front = CachedOracle(oracle, kept, key_of=data.fingerprint_of, alpha=0.05)
        for _ in range(2):
            front.verdict("a", "b")
            front.associations("a")
            front.separator("a", "b", ["c"], max_size=0)
        assert oracle.asked == 12
        assert len(kept) == 0


def test_answers_of_no_reliable_test_are_kept(data: Table) -> None:
    """A search in which nothing could be tested says so again at any alpha."""
    crowded = ("c", "d", "e")
    with VerdictCache(":memory:") as kept:
        for alpha in (0.05, 0.2):
            oracle, front = cached(data, kept, alpha)
            outcome = front.separator("a", "b", crowded, must_include=crowded)
            assert (outcome.given, outcome.verdict, outcome.tests) == (None, None, 1)
            assert front.verdict("a", "b", crowded).decision == "unreliable"
        assert oracle.asked == 0


# --- the file ------------------------------------------------------------------------------------------------------


def test_answers_are_found_before_and_after_they_are_written(tmp_path: Path) -> None:
    """What is kept is found at once, and is in the file after closing; the first answer stays."""
    path = tmp_path / "v.sqlite"
    keys = [f"k{number}".encode() for number in range(1_203)]
    with VerdictCache(path) as kept:
        kept.keep([Answer(b"k0", b"range", 0.1, 0.2)])
        assert kept.find([b"k0"], 0.1) == {b"k0": b"range"}
        assert kept.find([b"k0"], 0.2) == {}
        kept.keep(Answer(key, key) for key in keys)
        assert kept.find(keys, 0.5) == {key: key for key in keys}
        kept.flush()
        kept.keep([Answer(b"k1", b"late")])
        assert len(kept) == len(keys) + 1
    with VerdictCache(path) as kept:
        assert kept.find([b"k0", b"k1", b"none"], 0.5) == {b"k0": b"k0", b"k1": b"k1"}
        assert kept.find([b"k0"], 0.15) == {b"k0": b"range"}


def test_a_forgotten_cache_is_written(tmp_path: Path) -> None:
    """A cache that nobody closed is written when it goes away."""
    kept = VerdictCache(tmp_path / "v.sqlite")
    kept.keep([Answer(b"k", b"v")])
    del kept
    gc.collect()
    with VerdictCache(tmp_path / "v.sqlite") as again:
        assert again.find([b"k"], 0.5) == {b"k": b"v"}


def test_old_answers_are_written_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers reach the file when time has passed, so that a killed run loses little."""
    with VerdictCache(tmp_path / "v.sqlite") as kept:
        monkeypatch.setattr(verdictcache, "_BATCH_SECONDS", 0.0)
        kept.keep([Answer(b"k", b"v")])
        with VerdictCache(tmp_path / "v.sqlite") as other:
            assert other.find([b"k"], 0.5) == {b"k": b"v"}


def foreign(path: Path) -> None:
    """Write the sqlite file of another program."""
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE birds (name TEXT)")
    database.commit()
    database.close()


def later(path: Path) -> None:
    """Write a cache of a format to come."""
    VerdictCache(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def damaged(path: Path) -> None:
    """Write a cache and spoil its pages."""
    with VerdictCache(path) as kept:
        kept.keep(Answer(f"k{number}".encode(), b"v" * 100) for number in range(2_000))
    raw = bytearray(path.read_bytes())
    raw[100:] = b"\x7f" * (len(raw) - 100)
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("a,b\n1,2\n" * 200), "file is not a database"),
        (lambda path: path.write_text("short"), "file is not a database"),
        (foreign, "is the sqlite file of another program, not a verdict cache; give another path"),
        (later, "has format 99, this release reads 3"),
        (damaged, "cannot use .* as a verdict cache .*undamaged"),
        (lambda path: path.mkdir(), "cannot use .* as a verdict cache .*give another path"),
    ],
    ids=["text", "short", "foreign", "later", "damaged", "folder"],
)
def test_other_files_are_refused_and_left_alone(make: object, sentence: str, tmp_path: Path) -> None:
    """A file that is no usable cache is named in one sentence and keeps every byte."""
    path = tmp_path / "v.sqlite"
    assert callable(make)
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(CacheFileError, match=sentence):
        VerdictCache(path)
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A path in a missing folder is refused, and so is a question after closing."""
    with pytest.raises(CacheFileError, match="in a folder that can be written"):
        VerdictCache(tmp_path / "none" / "v.sqlite")
    kept = VerdictCache(tmp_path / "v.sqlite")
    kept.close()
    kept.close()
    with pytest.raises(CacheFileError, match="closed"):
        kept.find([b"k"], 0.5)


PROGRAM = """
import sys
from apsl_backends.answers.verdict_file import Answer, VerdictCache
path, start = sys.argv[1], int(sys.argv[2])
with VerdictCache(path) as kept:
    for number in range(start, start + 600):
        key = number.to_bytes(4, "big")
        if key not in kept.find([key], 0.5):
            kept.keep([Answer(key, key)])
        if number % 20 == 0:
            kept.flush()
"""


def test_processes_share_a_file(tmp_path: Path) -> None:
    """Several processes that make and fill one file at the same time lose nothing."""
    path = tmp_path / "v.sqlite"
    runs = [subprocess.Popen([sys.executable, "-c", PROGRAM, path, str(start)]) for start in (0, 200, 400, 0)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0, 0, 0]
    with VerdictCache(path) as kept:
        keys = [number.to_bytes(4, "big") for number in range(1_000)]
        assert kept.find(keys, 0.5) == {key: key for key in keys}
        assert len(kept) == 1_000


def test_threads_share_a_cache(tmp_path: Path) -> None:
    """Threads may ask and keep at the same time."""
    with VerdictCache(tmp_path / "v.sqlite") as kept:

        def fill(start: int) -> None:
            for number in range(start, start + 300):
                key = number.to_bytes(4, "big")
                kept.keep([Answer(key, key)])
                kept.find([key], 0.5)

        threads = [Thread(target=fill, args=(start,)) for start in (0, 150)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(kept) == 450


def test_a_run_with_a_cache_asks_what_a_run_without_one_asks(tmp_path: Path) -> None:
    """With no cache, a cold and a warm one the saved part is the same to the last byte, its counts included."""
    rows = sample(network("alarm"), 300, seed=5)

    plain = part_json(learn(rows, "HR", depth=2, learner="apsl"))
    cold, warm = (part_json(learn(rows, "HR", depth=2, learner="apsl", cache=tmp_path / "v.sqlite")) for _ in range(2))

    assert plain == cold == warm


def test_an_elimination_is_kept_for_the_same_names_only(tmp_path: Path) -> None:
    """Two equal columns tie, and ties go by name: other names for the same columns must not get the kept outcome."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 200)
    y = (x + (rng.random(200) < 0.1)) % 2
    columns = np.stack([x, y, y], axis=1)

    for names in (["x", "b", "a"], ["x", "a", "b"]):
        data = coded_table(columns, names=names)
        plain = learn(data, "x", learner="apsl")
        kept = learn(data, "x", learner="apsl", cache=tmp_path / "v.sqlite")

        assert part_json(kept) == part_json(plain)


_FULL = """
import resource, sys
from apsl_backends.answers.verdict_file import Answer, VerdictCache
from apsl_rules.errors import CacheFileError

cache = VerdictCache(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768))
if sys.argv[2] == "told":
    for number in range(100):
        try:
            cache.keep(Answer(f"{number} {at}".encode(), bytes(100)) for at in range(1_000))
        except CacheFileError as error:
            print(error)
            break
else:
    cache.keep(Answer(f"{at}".encode(), bytes(100)) for at in range(900))
"""


@pytest.mark.parametrize("how", ["told", "forgotten"])
def test_a_disk_without_room_is_told_once(how: str, tmp_path: Path) -> None:
    """What cannot be written is told in one sentence, also by a cache that nobody closes, and never as a traceback."""
    command = [sys.executable, "-c", _FULL, str(tmp_path / "full.sqlite"), how]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0
    told = done.stdout if how == "told" else done.stderr
    assert told.startswith(f"cannot use {str(tmp_path / 'full.sqlite')!r} as a verdict cache (")
    assert len((done.stdout + done.stderr).splitlines()) == 1


@pytest.mark.slow
def test_a_run_on_a_disk_without_room_ends_with_the_sentence_alone(tmp_path: Path) -> None:
    """`--resume` where the answers find no room: exit code 1 and one sentence."""
    pd.DataFrame(sample(network("alarm"), 2000, seed=1).codes.T, columns=network("alarm").dag.nodes).to_csv(
        tmp_path / "rows.csv", index=False
    )
    words = ["learn", "rows.csv", "-t", "HR", "-k", "3", "-l", "apsl"]
    assert apsl(*words, folder=tmp_path).code == 0  # so that kernels need no room any more
    words += ["--out", "part.json", "--resume"]
    command = ["sh", "-c", 'ulimit -f 32; exec "$@"', "sh", str(Path(sys.executable).with_name("apsl")), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith("apsl: cannot use 'part.json.answers' as a verdict cache (")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "part.json").exists()


@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_columns_with_the_same_content_are_told_apart(target: str, tmp_path: Path) -> None:
    """A cache keeps sweeps and eliminations of a column by its place too: those of its duplicate differ."""
    random = np.random.default_rng(1)
    first = random.integers(0, 3, 500)
    noisy = np.where(random.random(500) < 0.8, first, random.integers(0, 3, 500))
    frame = pd.DataFrame({"a": first, "c": noisy, "b": first})
    plain = learn(frame, target, depth=2, learner="apsl")

    for _ in range(2):
        kept = learn(frame, target, depth=2, learner="apsl", cache=tmp_path / "answers")
        assert (kept.arrows, kept.lines, kept.notes) == (plain.arrows, plain.lines, plain.notes)
