"""The client of a Dask cluster: one at an address, or a small cluster in this process."""

from __future__ import annotations

import atexit
import logging
import re
from functools import cache
from importlib import import_module
from typing import Any

from apsl_backends.counting.dask_watch import ask_cluster, within
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.masking import shown_address

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
        message = f"counts='dask' needs distributed ({error}); pip install 'apsl_rules[dask]'"
        raise InvalidArgumentError(message) from error
