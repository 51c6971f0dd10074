"""A Dask cluster of processes of its own, which a test may kill."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import attrs
import pytest
from distributed import Client

SENTENCES = {
    "scheduler": "the connection to the Dask scheduler is lost; start the cluster anew, then learn again",
    "workers": "the Dask cluster has had no worker for 10 seconds; start workers, then learn again",
}


@attrs.frozen
class Cluster:
    """A scheduler and its workers, each a process of its own on this machine."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def kill(self, who: str) -> None:
        """End the scheduler or all workers at once, without a word of leave."""
        for process in [self.scheduler] if who == "scheduler" else self.workers:
            process.kill()
            process.wait()


@contextmanager
def run_cluster(folder: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers, and end them by their ids."""
    told = folder / "scheduler.json"
    dask = [sys.executable, "-m"]
    quiet: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["--host", "127.0.0.1", "--no-dashboard"]
    begun = [
        subprocess.Popen(
            [*dask, "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(told), *words],
            **quiet,
        )
    ]
    try:
        address = _address(told)
        begun += [
            subprocess.Popen(
                [*dask, "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1", *words],
                **quiet,
            )
            for _ in range(2)
        ]
        with Client(address) as client:
            client.wait_for_workers(2, timeout=120)
        yield Cluster(address, begun[0], begun[1:])
    finally:
        for process in begun:
            process.kill()
            process.wait()


def _address(told: Path) -> str:
    """Wait until a scheduler has written where it is."""
    end = monotonic() + 60
    while monotonic() < end:
        try:
            return str(json.loads(told.read_text("utf-8"))["address"])
        except (FileNotFoundError, ValueError):
            sleep(0.1)
    pytest.fail("the scheduler did not start")
