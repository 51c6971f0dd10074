"""The client of a Dask cluster, and the watch over its workers."""

from __future__ import annotations

import atexit
import logging
import re
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from functools import cache
from importlib import import_module
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

from apsl_rules.errors import ApslError, DataError, InvalidArgumentError
from apsl_rules.masking import shown_address
from apsl_rules.notes import argument

Result = TypeVar("Result")

_TRIES = 5
_PULSE = 0.5
#: Seconds without a connection, without a worker, and without an answer of a scheduler that is connected.
_UNCONNECTED, _UNMANNED, _SILENT = 7.0, 10.0, 60.0


def ask_cluster(client: Any, ask: Callable[[], Result], repair: Callable[[], None] = lambda: None) -> Result:
    """Ask a cluster, and ask again when workers were lost meanwhile; a cluster that is gone for good is an error."""
    from distributed.scheduler import KilledWorker

    watch = _Watch(client)
    last: Exception | None = None

    def attempt() -> Result:
        if last is not None:
            repair()
        return ask()

    for _ in range(_TRIES):
        try:
            return watch.wait_for(attempt)
        except ApslError:
            raise
        except (FileNotFoundError, PermissionError) as error:
            message = f"a worker cannot read a file ({error}); put files where all workers can reach them"
            raise DataError(message) from error
        except (KilledWorker, CancelledError, OSError) as error:
            last = error
        except Exception as error:
            if client.status == "running":
                raise
            last = error  # what a call says when its connection is gone is of no interest
        watch.reconnect()
    message = f"the cluster lost its workers {_TRIES} times in one round ({last}); check their memory and their logs"
    raise DataError(message) from last


class _Watch:
    """When the cluster was last connected, last answered, and last had a worker."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._connected = self._answered = self._manned = monotonic()
        self._look: Thread | None = None

    def wait_for(self, ask: Callable[[], Result]) -> Result:
        """Wait for an answer for as long as the cluster is there to give it."""
        answer = _ask(ask)
        while not wait([answer], _PULSE).done:
            self._check()
        return answer.result()

    def reconnect(self) -> None:
        """Wait until a lost connection is there again."""
        while self._client.status != "running":
            self._check()
            sleep(_PULSE / 5)

    def _check(self) -> None:
        """Return the cluster up if it has been away for too long."""
        now = monotonic()
        if self._client.status == "running":
            self._connected = now
            if self._look is None or not self._look.is_alive():
                self._look = Thread(target=self._look_for_workers, daemon=True)
                self._look.start()
        if self._client.status == "closed" or now - self._connected > _UNCONNECTED:
            message = "the connection to the Dask scheduler is lost; start the cluster anew, then learn again"
        elif now - self._answered > _SILENT:
            message = f"the Dask scheduler has not answered for {_SILENT:.0f} seconds; look at its log"
        elif self._answered - self._manned > _UNMANNED:
            message = f"the Dask cluster has had no worker for {_UNMANNED:.0f} seconds; start workers, then learn again"
        else:
            return
        raise DataError(message)

    def _look_for_workers(self) -> None:
        try:
            workers = self._client.scheduler_info()["workers"]
        except Exception:  # noqa: BLE001 - whatever is wrong, it is no answer
            return
        self._answered = monotonic()
        if workers:
            self._manned = self._answered


def within(seconds: float, ask: Callable[[], Result]) -> Result:
    """Wait some seconds for an answer, then raise TimeoutError."""
    return _ask(ask).result(seconds)


def _ask(ask: Callable[[], Result]) -> Future[Result]:
    """Ask in a thread of its own, which ends with the process if it gets no answer."""
    answer: Future[Result] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer


_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/]+:\d{1,5}|inproc://\S+")
_PATIENCE = 5
_ROWS_AT_LEAST = 1 << 16
_PARTITIONS_PER_WORKER = 2


def client_at(address: str | None) -> Any:
    """Connect to the cluster at an address, or to one in this process, which is started when first asked for."""
    if address is None:
        return _local_client()
    if "@" in address:
        message = f"the Dask address is {shown_address(address)!r}; a scheduler knows no users, so give HOST:PORT alone"
        raise InvalidArgumentError(message)
    if not _ADDRESS.fullmatch(address):
        message = f"the Dask address is {address!r}; give HOST:PORT, such as 'dask:tcp://127.0.0.1:8786'"
        raise InvalidArgumentError(message)
    distributed = _import_distributed()
    for name in [one for one in logging.root.manager.loggerDict if one.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # failures are reported as our own errors
    client = distributed.Client.__new__(distributed.Client)
    try:
        within(2 * _PATIENCE, lambda: client.__init__(address, set_as_default=False, timeout=_PATIENCE))
    except Exception as error:
        client.status = "closed"  # or else closing would wait for a lost scheduler
        reason = str(error) or f"nothing for {2 * _PATIENCE} seconds"
        message = f"no Dask scheduler answers at {address!r} ({reason}); start one, or give 'dask' for a local cluster"
        raise InvalidArgumentError(message) from error
    return client


def parts_of(client: Any, rows: int) -> int:
    """Return into how many partitions so many rows are divided."""
    workers = max(1, len(ask_cluster(client, client.scheduler_info)["workers"]))
    return max(1, min(_PARTITIONS_PER_WORKER * workers, rows // _ROWS_AT_LEAST))


@cache
def _local_client() -> Any:
    """Start a cluster of threads in this process; it ends with the process."""
    distributed = _import_distributed()
    cluster = distributed.LocalCluster(
        processes=False,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        silence_logs=50,
    )
    client = distributed.Client(cluster, set_as_default=False)

    def close() -> None:
        client.close()
        cluster.close()

    atexit.register(close)
    return client


def _import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        message = f"{argument('counts', 'dask')} needs distributed ({error}); pip install 'apsl_rules[dask]'"
        raise InvalidArgumentError(message) from error
