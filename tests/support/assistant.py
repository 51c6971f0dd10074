"""A scripted client of ``apsl serve``: the real protocol, with a real process at the other end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import attrs
from mcp import Client, StdioServerParameters
from mcp.types import TextContent, Tool


@attrs.frozen
class Call:
    """A call of a tool: its name and arguments."""

    tool: str
    arguments: dict[str, Any]


@attrs.frozen
class Answer:
    """What a call brought: text, data, and whether it was refused."""

    text: str
    data: Any
    refused: bool


@attrs.frozen
class Conversation:
    """What a server said: how to use it, its tools, and its answers."""

    instructions: str
    tools: tuple[Tool, ...]
    answers: tuple[Answer, ...]


def converse(folder: Path, *calls: Call, options: tuple[str, ...] = ()) -> Conversation:
    """Start ``apsl serve`` in a folder, make some calls one after the other, and end it."""
    command = str(Path(sys.executable).with_name("apsl"))
    server = StdioServerParameters(command=command, args=["serve", *options], cwd=str(folder))

    async def talk() -> Conversation:
        async with Client(server) as client:
            tools = await client.list_tools()
            answers = [_answer(await client.call_tool(one.tool, one.arguments)) for one in calls]
            return Conversation(client.instructions or "", tuple(tools.tools), tuple(answers))

    return anyio.run(talk)


def _answer(result: Any) -> Answer:
    texts = [one.text for one in result.content if isinstance(one, TextContent)]
    return Answer("\n".join(texts), result.structured_content, bool(result.is_error))
