"""The workers of a cluster: what they load, and that one of them may be lost in the middle of a round."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep

import pytest
from distributed import Client

from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
from apsl_backends.engines.opening import counted, moments, moments_of_table
from apsl_rules import hookimpl, learn, network
from apsl_rules.data import FileTable
from apsl_rules.graphs.networks.sampling import simulate
from support.cluster import Cluster, run_cluster
from support.counted import essence
from support.mixed import draw_mixed, write_mixed

pytestmark = pytest.mark.slow

#: What a worker may load for us besides ourselves; what Dask has loaded before is its own affair.
LIGHT = {"apsl_rules", "apsl_backends", "attr", "attrs", "numpy", "pyarrow"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers, and end them."""
    with run_cluster(tmp_path) as begun:
        yield begun


def test_workers_load_nothing_heavy(cluster: Cluster, tmp_path: Path) -> None:
    """Reading, counting, sums, tests and comparisons load pyarrow, numpy and ourselves; no pandas, no scipy."""
    path = write_mixed(tmp_path / "rows.parquet", draw_mixed(3, 3, 1200, 6, 0.08))
    with Client(cluster.address, set_as_default=False) as client:
        before = packages_of(client)
        counts = counted(DaskEngine(FileTable(path), client=client), discretize="quantile:3")
        assert counts.joints([(0, 1)], 100)[0] is not None
        assert counts.complete([(0, 1)])[0] < 1200
        source = moments(DaskEngine(FileTable(path), client=client))
        assert source.covariance([0, 1, 4]).shape[0] > 3
        assert source.test_rows([(0, 4, 1)]).rows[0] < 1200
        assert source.duplicates([[0, 1, 2]]) == []
        loaded = packages_of(client) - before

    assert {"apsl_backends", "pyarrow"} <= loaded
    assert loaded <= LIGHT
    assert not (loaded | before) & {"pandas", "scipy", "sklearn", "matplotlib", "rich", "narwhals", "duckdb", "polars"}


def packages_of(client: Client) -> set[str]:
    """Return the packages that the workers have loaded, but those of Python itself."""

    def loaded() -> set[str]:  # inside, so that it is sent as it stands: workers cannot import tests
        import sys

        names = {name.partition(".")[0] for name in sys.modules}
        return {name for name in names if name not in sys.stdlib_module_names and not name.startswith("_")}

    return set().union(*client.run(loaded).values())


def test_a_worker_lost_in_a_round_of_moments_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """While both workers are at a round one is killed: the other takes its rows, and the answer has the same bits.

    Rows from files are read again, and rows of this process are sent again.
    """
    drawn = draw_mixed(3, 3, 1200)
    path = write_mixed(tmp_path / "rows.parquet", drawn)
    sources = [
        moments(DaskEngine(FileTable(path), address=cluster.address)),
        moments_of_table(partial(ScatteredEngine, address=cluster.address), drawn),
    ]
    before = [source.covariance(range(6)).tobytes() for source in sources]
    for worker in cluster.workers:
        worker.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(len(sources)) as pool:
        waiting = [pool.submit(source.covariance, range(6)) for source in sources]
        sleep(1)
        assert not any(one.done() for one in waiting)
        cluster.workers[0].kill()
        cluster.workers[1].send_signal(signal.SIGCONT)

        assert [one.result(60).tobytes() for one in waiting] == before


class KillAWorker:
    """Kills a worker when the first node has been visited."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.killed = False

    @hookimpl
    def apsl_progress(self) -> None:
        """Kill, once."""
        if not self.killed:
            self._cluster.workers[0].kill()
            self.killed = True


@pytest.mark.parametrize("missing", [None, 0.05])
def test_a_part_is_the_same_when_a_worker_is_lost(missing: float | None, cluster: Cluster, tmp_path: Path) -> None:
    """A part of a table of categories, and of one with numbers and missing values, is that of memory all the same."""
    path = str(tmp_path / "rows.parquet")
    if missing is None:
        simulate(network("asia"), 2000, path, seed=5)
    else:
        write_mixed(Path(path), draw_mixed(3, 3, 1200, 6, missing))
    target = "dysp" if missing is None else "c0"
    killer = KillAWorker(cluster)
    part = learn(path, target, depth=2, counts=f"dask:{cluster.address}", plugins=[killer])

    assert killer.killed
    assert essence(part) == essence(learn(path, target, depth=2))
