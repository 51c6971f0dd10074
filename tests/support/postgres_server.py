"""A PostgreSQL server on loopback, started for tests from Debian's package, and gone after them."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

PASSWORD = "s3cr@t/#?pw"  # noqa: S105 - of a server that lives as long as the tests
QUOTED = "s3cr%40t%2F%23%3Fpw"
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@attrs.frozen
class PostgresServer:
    """A running server; its only user needs a password."""

    port: int
    data: Path

    def address(self, table: str, database: str = "postgres") -> str:
        """Return the address of a table, with the password."""
        return f"postgres://apsl:{QUOTED}@127.0.0.1:{self.port}/{database}#{table}"

    def connect(self, **settings: Any) -> Any:
        """Return a connection of psycopg that commits at once."""
        import psycopg

        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="apsl", password=PASSWORD, dbname="postgres", autocommit=True,
            **settings,
        )  # fmt: skip


def server_programs() -> Path | None:
    """Return the folder of the programs of PostgreSQL, if it is installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    return next((folder for folder in _FOLDERS if (folder / "initdb").exists()), None)


@contextmanager
def running_server(programs: Path) -> Iterator[PostgresServer]:
    """Run a server, as an unprivileged user where this is root, since PostgreSQL refuses root."""
    folder = Path(tempfile.mkdtemp(prefix="apsl-postgres-"))
    as_user: dict[str, Any] = {}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    secret, data = folder / "password", folder / "data"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("-U", "apsl", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    subprocess.run([programs / "initdb", "-D", data, *options], check=True, capture_output=True, cwd=folder, **as_user)
    settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder), "fsync": "off",
                "shared_buffers": "32MB", "logging_collector": "off"}  # fmt: skip
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), *words],
            stdout=log, stderr=log, cwd=folder, **as_user,
        )  # fmt: skip
    try:
        found = PostgresServer(port, data)
        _await(found, server)
        yield found
    finally:
        server.send_signal(signal.SIGINT)  # which does not wait for clients
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _await(server: PostgresServer, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers."""
    import psycopg

    for _ in range(200):
        assert process.poll() is None, (server.data.parent / "log").read_text()
        try:
            server.connect(connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    message = "the server does not answer"
    raise TimeoutError(message)
