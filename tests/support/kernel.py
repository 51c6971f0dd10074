"""A real IPython kernel: cells are run in it, and messages sent as a browser sends them."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

import attrs
from jupyter_client.manager import KernelManager

_SECONDS = 120


@attrs.define
class Shown:
    """What a cell printed, what it displayed (each as its MIME bundle), and what it updated later."""

    text: str = ""
    data: list[dict[str, Any]] = attrs.field(factory=list)
    updated: list[dict[str, Any]] = attrs.field(factory=list)


class Kernel:
    """A kernel in a process of its own, with the interpreter of the tests; it ends with the block."""

    def __init__(self, **environment: str) -> None:
        self._environment = environment

    def __enter__(self) -> Self:
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(env={**os.environ, **self._environment})
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, code: str) -> Shown:
        """Run a cell to its end; an exception in it fails the test."""
        sent = self._client.execute(code)
        shown = Shown()
        while True:
            message = self._client.get_iopub_msg(timeout=_SECONDS)
            if message["parent_header"].get("msg_id") != sent:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.text += content["text"]
                case "display_data" | "execute_result":
                    shown.data.append(content["data"])
                case "update_display_data":
                    shown.updated.append(content["data"])
                case "error":
                    raise AssertionError("\n".join(content["traceback"]))
                case "status" if content["execution_state"] == "idle":
                    return shown

    def send_state(self, name: str, state: dict[str, Any]) -> None:
        """Send new values of a widget's traits through its channel, as the page of a notebook does."""
        channel = self.run(f"print({name}.comm.comm_id, end='')").text
        content = {"comm_id": channel, "data": {"method": "update", "state": state, "buffer_paths": []}}
        message = self._client.session.msg("comm_msg", content)
        self._client.shell_channel.send(message)
