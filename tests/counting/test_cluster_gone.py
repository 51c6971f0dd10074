"""A cluster that is not there, or goes away: one sentence, no traceback, no endless wait."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep

import pytest

from apsl_backends.engines.dask import ScatteredEngine
from apsl_backends.engines.opening import counted_table, moments_of_table
from apsl_rules import learn, network
from apsl_rules.errors import ApslError, DataError
from apsl_rules.graphs.networks.sampling import sample, simulate
from support.cluster import SENTENCES, Cluster, run_cluster
from support.mixed import draw_mixed
from support.terminal import apsl

pytestmark = [pytest.mark.slow, pytest.mark.release]

PAUSING = """
import sys
from apsl_rules import hookimpl

@hookimpl
def apsl_progress(progress):
    print("visited", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers, and end them."""
    with run_cluster(tmp_path) as begun:
        yield begun


@pytest.mark.slow
@pytest.mark.parametrize("who", SENTENCES)
def test_a_run_ends_when_its_cluster_is_gone(who: str, cluster: Cluster, tmp_path: Path) -> None:
    """When the scheduler or all workers are killed after the first visit, the command ends with one sentence."""
    simulate(network("asia"), 2000, tmp_path / "rows.parquet", seed=5)
    (tmp_path / "pausing.py").write_text(PAUSING, "utf-8")
    command = [str(Path(sys.executable).with_name("apsl")), "--plugin", "pausing", "learn", "rows.parquet"]
    run = subprocess.Popen(
        [*command, "-t", "dysp", "-k", "2", "--quiet", "--learner", "apsl", "--counts", f"dask:{cluster.address}"],
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert run.stdout is not None
        assert run.stdout.readline() == "visited\n"
        cluster.kill(who)
        _, said = run.communicate("\n" * 100, timeout=60)
    finally:
        run.kill()
        run.wait()

    assert (run.returncode, said) == (1, f"apsl: {SENTENCES[who]}\n")


@pytest.mark.slow
@pytest.mark.parametrize("who", SENTENCES)
def test_a_round_under_way_ends_too(who: str, cluster: Cluster) -> None:
    """Rounds that stopped workers keep waiting are given up once they or their scheduler are killed.

    Counts, sums of products and columns that are being gathered end with the same sentence.
    """
    engine = partial(ScatteredEngine, address=cluster.address)
    counts = counted_table(engine, sample(network("asia"), 2000, seed=5))
    complete = moments_of_table(engine, draw_mixed(3, 3, 1200))
    gaps = moments_of_table(engine, draw_mixed(3, 3, 1200, 6, 0.08))
    rounds: list[Callable[[], object]] = [
        lambda: counts.joints([(0, 1, 2)], 100),
        lambda: complete.covariance([0, 1, 4]),
        lambda: gaps.covariance([0, 1, 4]),
        lambda: gaps.test_rows([(0, 4, 1)]),
    ]
    assert counts.joints([(0, 1)], 100)[0] is not None
    for worker in cluster.workers:
        worker.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(len(rounds)) as pool:
        waiting = [pool.submit(one) for one in rounds]
        sleep(1)
        assert not any(one.done() for one in waiting)
        cluster.kill(who)

        for one in waiting:
            with pytest.raises(DataError, match=SENTENCES[who]):
                one.result(60)


@pytest.mark.slow
def test_a_cluster_without_workers_is_told_from_the_start(cluster: Cluster) -> None:
    """Rows that no worker is there to take are not waited for without end."""
    cluster.kill("workers")

    with pytest.raises(ApslError, match=SENTENCES["workers"]):
        learn(sample(network("asia"), 200, seed=5), "either", counts=f"dask:{cluster.address}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nonsense", "the Dask address is 'nonsense'; give HOST:PORT, such as 'dask:tcp://127.0.0.1:8786'"),
        ("127.0.0.1:port", "the Dask address is '127.0.0.1:port'; give HOST:PORT"),
        ("127.0.0.1:1", "no Dask scheduler answers at '127.0.0.1:1' ("),
        ("http://127.0.0.1:1", "no Dask scheduler answers at 'http://127.0.0.1:1' (unknown address scheme 'http'"),
        ("tls://127.0.0.1:1", "no Dask scheduler answers at 'tls://127.0.0.1:1' (TLS expects"),
    ],
)
def test_a_bad_address_gets_one_line(address: str, sentence: str, tmp_path: Path) -> None:
    """An address that is none, or where nobody answers, is told in one line, without a traceback or a log."""
    simulate(network("asia"), 100, tmp_path / "rows.csv", seed=5)
    done = apsl("learn", "rows.csv", "-t", "either", "--counts", f"dask:{address}", folder=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"apsl: {sentence}")
    assert done.err.count("\n") == 1


@pytest.mark.slow
def test_a_port_of_somebody_else_is_no_scheduler(tmp_path: Path) -> None:
    """A server that takes the connection and says nothing is not waited for without end."""
    simulate(network("asia"), 100, tmp_path / "rows.csv", seed=5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        done = apsl("learn", "rows.csv", "-t", "either", "--counts", f"dask:{address}", folder=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"apsl: no Dask scheduler answers at '{address}' (")
    assert done.err.endswith("); start one, or give 'dask' for a local cluster\n")
    assert done.err.count("\n") == 1
