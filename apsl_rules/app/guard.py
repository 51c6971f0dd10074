"""What every request must pass: Host, Origin and token; how long and how large it may be; what every answer says."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import attrs
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

#: The most bytes of what a page says, and the most seconds that saying it may take.
MOST_SAID, SECONDS = 1_000_000, 20.0
#: The most seconds between two pieces of a file that is dropped.
BETWEEN_PIECES = 20.0
#: How much of what is too large is read and forgotten, and the most seconds between two pieces of it.
_FORGOTTEN, _FORGOTTEN_SECONDS = 8_000_000, 1.0
#: How many connections may be open at a time.
CONNECTIONS = 100
#: Seconds in which a connection must have said what it asks for.
_HEADERS = 10.0

_POLICY = "; ".join(
    (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob:"),
        *("frame-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
    )
)
_HEADERS_OF_ALL = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Refused(Exception):  # noqa: N818 - what happens to a request
    """A request that is refused, with the sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@attrs.frozen
class Guard:
    """Lets requests of the page through, and no others.

    A page elsewhere that posts here has another Origin; one whose name was made to lead here has another Host; and
    neither knows the token, which no cookie carries.
    """

    app: ASGIApp
    token: str
    port: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        why = self._why_not(request)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                for name, value in _headers(request.url.path).items():
                    if name.encode() not in known:
                        message["headers"].append((name.encode(), value.encode()))
            await send(message)

        if why is not None:
            status, sentence = why
            await PlainTextResponse(sentence, status)(scope, receive, answer)
            return
        await self.app(scope, receive, answer)

    def _why_not(self, request: Request) -> tuple[int, str] | None:
        """Return why a request is refused, if it is."""
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        if request.headers.getlist("host") and set(request.headers.getlist("host")) <= hosts:
            origin = request.headers.get("origin")
            site = request.headers.get("sec-fetch-site", "same-origin")
            if origin is not None and origin not in {f"http://{host}" for host in hosts}:
                return 403, "this page takes nothing from other pages"
            if site not in {"same-origin", "none"} and request.url.path != "/":
                return 403, "this page takes nothing from other pages"
            if request.url.path.startswith("/api/") and not self._is_known(request):
                return 401, "the token is wrong; open the address that 'apsl open' printed"
            return None
        return 421, "this server answers to 127.0.0.1 and localhost alone"

    def _is_known(self, request: Request) -> bool:
        given = request.headers.get("authorization", "")
        return secrets.compare_digest(given.encode(), f"Bearer {self.token}".encode())


def _headers(path: str) -> dict[str, str]:
    """Return the headers of an answer; a report brings its own policy, and is shown within the page."""
    if path.startswith("/report/"):
        return {**_HEADERS_OF_ALL, "x-frame-options": "SAMEORIGIN"}
    return {**_HEADERS_OF_ALL, "x-frame-options": "DENY", "content-security-policy": _POLICY}


async def said(request: Request) -> bytes:
    """Return what a request says, and refuse what is too large or too slow."""
    found = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            async for piece in pieces(request, MOST_SAID):
                found += piece
    except TimeoutError:
        raise Refused(408, f"the request took more than {SECONDS:g} seconds to arrive; send it again") from None
    return bytes(found)


async def pieces(request: Request, most: int) -> AsyncIterator[bytes]:
    """Give the body of a request piece by piece, up to a size.

    A little of what is too large is read and forgotten, since a browser hears no answer before it has spoken.
    """
    told = request.headers.get("content-length", "0")
    size, is_over = 0, told.isdecimal() and int(told) > most
    body = request.stream().__aiter__()
    while True:
        try:
            async with asyncio.timeout(_FORGOTTEN_SECONDS if is_over else BETWEEN_PIECES):
                piece = await anext(body, None)
        except TimeoutError:
            if is_over:
                break
            raise Refused(408, f"nothing arrived for {BETWEEN_PIECES:g} seconds; send it again") from None
        except ClientDisconnect:
            raise Refused(400, "the connection ended before all had arrived") from None
        if piece is None and not is_over:
            return
        size += len(piece or b"")
        is_over = is_over or size > most
        if is_over and (piece is None or size > most + _FORGOTTEN):
            break
        if piece and not is_over:
            yield piece
    raise Refused(413, _too_large(most))


def _too_large(most: int) -> str:
    return (
        f"that is larger than {most / 1e6:,.0f} MB, which is the most; start 'apsl open' with the file's name instead"
    )


class PromptConnection(H11Protocol):
    """A connection that must say soon what it asks for, so that idle ones do not keep others out."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(_HEADERS, self._close_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._deadline.cancel()
        super().connection_lost(exc)

    def _close_idle(self) -> None:
        asks = getattr(self, "cycle", None)
        if asks is None and not self.transport.is_closing():
            self.transport.close()
