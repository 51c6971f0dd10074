"""Serve the page on loopback until the person leaves, and open their browser."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

import attrs
import uvicorn

from apsl_rules.app.guard import CONNECTIONS, PromptConnection
from apsl_rules.app.session import Session, require_source
from apsl_rules.app.study import Study, changed
from apsl_rules.app.takeaway import read_study
from apsl_rules.app.web import make_app
from apsl_rules.app.workers import Worker
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.server import Limits

__all__ = ["Limits", "Study", "changed", "read_study", "require_source", "serve"]

_HOST = "127.0.0.1"


@attrs.frozen
class Address:
    """Where the page is, and the token that opens it; what follows # is never sent, and stays out of every log."""

    port: int
    token: str

    def __str__(self) -> str:
        return f"http://{_HOST}:{self.port}/#{self.token}"


class _Server(uvicorn.Server):
    """A server whose first interrupt stops the work, and whose next one ends it."""

    def __init__(self, config: uvicorn.Config, session: Session, say: Callable[[str], None]) -> None:
        super().__init__(config)
        self._session, self._say = session, say
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop what the worker does, or end the server."""
        session = self._session
        is_asked = sig == signal.SIGINT  # whoever ends the process by another signal means it
        if is_asked and session.is_busy and session.jobs != self._stopped and self._loop is not None:
            self._stopped = session.jobs
            self._loop.call_soon_threadsafe(session.stop)
            self._say("stopped; the page shows what was found by then. Ctrl-C again ends the page.")
            return
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; streams of events end first, since what is open is waited for."""
        self._session.closing.set()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)


def serve(
    worker: Worker,
    limits: Limits,
    study: Study,
    *,
    keep: Path | None = None,
    port: int = 0,
    browse: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page for a study in the first folder of the limits; ``keep`` is a file that follows every change."""
    bound = _bound(port)
    address = Address(bound.getsockname()[1], secrets.token_urlsafe(24))
    session = Session(worker, limits, study, keep)
    settings: dict[str, Any] = {
        "http": PromptConnection,
        "ws": "none",
        "loop": "asyncio",
        "access_log": False,
        "log_level": "error",
        "server_header": False,
        "limit_concurrency": CONNECTIONS,
        "timeout_keep_alive": 10,
        "timeout_graceful_shutdown": 2,
        "h11_max_incomplete_event_size": 1 << 14,
        "proxy_headers": False,
    }
    config = uvicorn.Config(make_app(session, address.token, address.port), **settings)
    say(f"the page is at {address}\nCtrl-C ends it.")
    if browse:  # some browsers come back only when they are closed
        Thread(target=webbrowser.open, args=(str(address),), daemon=True).start()
    with suppress(KeyboardInterrupt):
        _Server(config, session, say).run(sockets=[bound])


def _bound(port: int) -> socket.socket:
    """Return a socket on loopback that listens, so that a browser that comes at once is heard."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.bind((_HOST, port))
    except (OSError, OverflowError) as error:
        bound.close()
        why = getattr(error, "strerror", None) or error
        message = f"port {port} cannot be used: {why}; give another one, or none for one that is free"
        raise InvalidArgumentError(message) from error
    bound.listen(CONNECTIONS)
    return bound
