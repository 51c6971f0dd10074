"""Serve the page on loopback until the person leaves: its addresses, what it asks for and says; open their browser."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import webbrowser
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

import attrs
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from apsl_rules.app.controls import clickable
from apsl_rules.app.guard import CONNECTIONS, Guard, PromptConnection, Refused, pieces, said
from apsl_rules.app.session import Session, require_source
from apsl_rules.app.study import Study, changed
from apsl_rules.app.takeaway import FILES, read_study
from apsl_rules.app.workers import MOST_ROWS, Worker
from apsl_rules.data import example_table
from apsl_rules.data.readers import TABLE_ENDINGS
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.server import Limits

#: Seconds between two lines that keep a stream of events open.
_ALIVE = 15.0
#: The most streams of events: tabs that look at the page.
_MOST_TABS = 20
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
#: The files of the report that are the page's as well.
_SHARED = ("base.css", "elements.js")
_QUESTIONS = ("answer", "effect", "check", "given")

Handler = Callable[[Request], Awaitable[Response]]


def make_app(session: Session, token: str, port: int) -> Guard:
    """Return the application around a session."""
    pages = Pages(session)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(session.run())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    routes = [
        Route("/", pages.file),
        Route("/page/{name}", pages.file),
        Route("/report/{ticket}", pages.report),
        Route("/api/state", _speaking(pages.state)),
        Route("/api/columns", _speaking(pages.columns)),
        Route("/api/files", _speaking(pages.files)),
        Route("/api/events", _speaking(pages.events)),
        Route("/api/drawing", _speaking(pages.drawing)),
        Route("/api/take/{what}", _speaking(pages.take)),
        Route("/api/change", _speaking(pages.change), methods=["POST"]),
        Route("/api/ask", _speaking(pages.ask), methods=["POST"]),
        Route("/api/stop", _speaking(pages.stop), methods=["POST"]),
        Route("/api/example", _speaking(pages.example), methods=["POST"]),
        Route("/api/file", _speaking(pages.drop), methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, port)


def _speaking(handler: Handler) -> Handler:
    """Return a handler whose refusals are one sentence each."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as refused:
            # what was not read is not worth reading: the connection ends with the answer
            return JSONResponse({"error": refused.sentence}, refused.status, {"connection": "close"})
        except ApslError as error:
            return JSONResponse({"error": clickable(error.sentence)}, 400)
        except OSError as error:
            return JSONResponse({"error": f"the folder cannot be used: {error.strerror or error}"}, 400)

    return handle


async def _data(request: Request) -> dict[str, Any]:
    """Return what a request says, as data."""
    try:
        found = json.loads(await said(request))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("what", ""), str):
        raise Refused(400, "the request is no JSON of the page; reload it")
    return found


class Pages:
    """What each address answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._assets = _assets()
        self._tabs = 0

    # --- files of the page and reports -------------------------------------------------------------------------------

    async def file(self, request: Request) -> Response:
        """Return a file of the page, which says nothing of the table."""
        name = request.path_params.get("name", "index.html")
        if name not in self._assets:
            return PlainTextResponse("there is no such file", 404)
        return Response(self._assets[name], media_type=_TYPES[Path(name).suffix])

    async def report(self, request: Request) -> Response:
        """Return a report by its ticket."""
        found = self._session.report(request.path_params["ticket"])
        if found is None:
            return PlainTextResponse("this report is gone; reload the page", 404)
        return Response(found, media_type="text/html")

    # --- what the page asks for --------------------------------------------------------------------------------------

    async def state(self, _request: Request) -> Response:
        """Return what the page shows."""
        return JSONResponse(self._session.state())

    async def columns(self, _request: Request) -> Response:
        """Return the columns of the table."""
        return JSONResponse(self._session.columns())

    async def files(self, _request: Request) -> Response:
        """Return what can be opened."""
        return JSONResponse(self._session.files())

    async def events(self, _request: Request) -> Response:
        """Return a stream that has the state whenever it changes."""
        if self._tabs >= _MOST_TABS:
            raise Refused(503, f"{_MOST_TABS} tabs look at this page already; close one")

        async def stream() -> AsyncIterator[str]:
            self._tabs += 1
            event = self._session.listen()
            closing = asyncio.create_task(self._session.closing.wait())
            try:
                while not self._session.closing.is_set():
                    waiting = asyncio.create_task(event.wait())
                    await asyncio.wait((waiting, closing), timeout=_ALIVE, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
                    if not event.is_set():
                        yield ": alive\n\n"
                        continue
                    event.clear()
                    yield f"data: {json.dumps(self._session.state())}\n\n"
            finally:
                closing.cancel()
                self._session.leave(event)
                self._tabs -= 1

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def drawing(self, _request: Request) -> Response:
        """Return what is known by now of the part that is being learned, as a drawing."""
        return Response(self._session.drawing or "", media_type="image/svg+xml")

    async def take(self, request: Request) -> Response:
        """Return a file that is taken away."""
        what = request.path_params["what"]
        if what not in FILES:
            raise Refused(404, f"there is nothing to take with the name {what!r}")
        found = await self._session.ask("take", {"what": what})
        attached = {"content-disposition": f'attachment; filename="{what}"'}
        return Response(b64decode(found["content"]), media_type="application/octet-stream", headers=attached)

    # --- what the page says ------------------------------------------------------------------------------------------

    async def change(self, request: Request) -> Response:
        """Change the study."""
        given = await _data(request)
        self._session.change(str(given.pop("what", "")), given)
        return JSONResponse(self._session.state())

    async def ask(self, request: Request) -> Response:
        """Ask something about the part or the table."""
        given = await _data(request)
        what = given.pop("what", "")
        if what not in _QUESTIONS:
            raise Refused(404, f"there is no question {what!r}")
        return JSONResponse(await self._session.ask(what, given))

    async def stop(self, _request: Request) -> Response:
        """Stop what the worker does."""
        self._session.stop()
        return JSONResponse({})

    async def example(self, _request: Request) -> Response:
        """Put the shipped table into the folder, and open it."""
        name = _saved(self._session.limits.folders[0], example_table().name, example_table().read_bytes())
        self._session.change("open", {"source": name})
        return JSONResponse({"name": name})

    async def drop(self, request: Request) -> Response:
        """Put a table that was dropped into the folder, where nothing is overwritten, and open it."""
        folder, name = self._session.limits.folders[0], request.query_params.get("name", "")
        _check_name(name)
        part = folder / f".{os.getpid()}-{id(request):x}.part"
        try:
            with part.open("xb") as handle:
                async for piece in pieces(request, self._session.limits.most_bytes):
                    handle.write(piece)
            name = _saved(folder, name, part.read_bytes())
        finally:
            part.unlink(missing_ok=True)
        self._session.change("open", {"source": name})
        return JSONResponse({"name": name})


def _check_name(name: str) -> None:
    """Refuse the name of a file that is a path, hidden, or no table."""
    is_plain = name == Path(name).name and not {"/", "\\", "\0", ":"} & set(name) and name.isprintable()
    if not is_plain or name.startswith(".") or len(name.encode()) > 200:  # noqa: PLR2004 - most systems allow 255
        message = f"{name[:100]!r} is no name for a file of this folder; rename it"
        raise Refused(400, message)
    if not name.casefold().endswith(TABLE_ENDINGS):
        raise Refused(400, f"{name!r} is no table; its name must end in {', '.join(TABLE_ENDINGS)}")


def _saved(folder: Path, name: str, content: bytes) -> str:
    """Write a file under its name, or under the next free one if the name stands for another content."""
    stem, dot, ending = name.partition(".")
    for number in range(1, 1000):
        free = name if number == 1 else f"{stem} ({number}){dot}{ending}"
        try:
            with (folder / free).open("xb") as handle:
                handle.write(content)
        except FileExistsError:
            with suppress(OSError):
                if (folder / free).read_bytes() == content:
                    return free
        else:
            return free
    message = f"there are too many files called {name!r} in the folder; rename it"
    raise Refused(400, message)


def _assets() -> dict[str, bytes]:
    """Return the files of the page by name, read once: no path of a request is ever looked up."""
    own, shared = files("apsl_rules.app") / "page", files("apsl_rules.views") / "viewer"
    found = [*(one for one in own.iterdir() if Path(one.name).suffix in _TYPES), *(shared / one for one in _SHARED)]
    return {one.name: one.read_bytes() for one in found}


__all__ = ["MOST_ROWS", "Limits", "Study", "changed", "read_study", "require_source", "serve"]

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
