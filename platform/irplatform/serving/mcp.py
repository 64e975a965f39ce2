"""A service as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import ValidationError

from irplatform import __version__
from irplatform.errors import PlatformError, in_a_line, unknown
from irplatform.serving.endings import STOPPING, Ending
from irplatform.serving.model_thread import ModelsEndedError, ModelThread
from irplatform.serving.requests import Explain, Rerank, Search, first_problem
from irplatform.system.console import notice, quiet
from irplatform.system.process import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp.types import CallToolRequestParams

    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request
    from irplatform.serving.service import Service

_POLL = 0.1
"""Seconds between looks at whether a server ends."""
_STEPS = 50
"""Steps of the event loop in which a message that was read becomes a call, or a call an answer."""


def server(
    service: Service, models: ModelThread[Request], limits: Limits, ending: Ending
) -> Server[Any]:
    """Return an MCP server with the service's tools: search, rerank and explain.

    What is wrong with a call is told in its result, so that the model that calls can mend it.
    """
    kinds: dict[type[Request], str] = {}
    if service.retriever is not None:
        collection = service.retriever.collection
        kinds[Search] = f"Search {collection.title} ({collection.id}) for some words."
    if service.reranker is not None:
        kinds[Rerank] = f"Score documents for a query with {service.name}, best first."
        kinds[Explain] = f"Explain {service.name}'s scores of documents."
    by_name = {kind.__name__.lower(): kind for kind in kinds}

    async def answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if name not in by_name:
            raise unknown("tool", name, by_name)
        given = {"return_documents": True} if by_name[name] is Search else {}
        request = by_name[name].model_validate({**given, **arguments})
        if key := next(iter(request.model_extra or ()), None):
            raise unknown("key", key, type(request).model_fields)
        size = limits.size(request)
        answered: dict[str, Any] = await models.ask(service.kind(request), request, size)
        return answered

    async def list_tools(_context: Any, _page: Any) -> ListToolsResult:
        tools = []
        for name, kind in by_name.items():
            asked = {**kind.model_json_schema(), "additionalProperties": False}
            asked["properties"].pop("return_documents", None)
            about, answered = kinds[kind], {"type": "object"}
            tools.append(
                Tool(name=name, description=about, input_schema=asked, output_schema=answered)
            )
        return ListToolsResult(tools=tools)

    async def call_tool(_context: Any, call: CallToolRequestParams) -> CallToolResult:
        return await ending.answer(called(call), given_up)

    async def given_up() -> CallToolResult:
        return _failure(STOPPING)

    async def called(call: CallToolRequestParams) -> CallToolResult:
        try:
            answered = await answer(call.name, call.arguments or {})
        except ValidationError as error:
            told = first_problem(error.errors())
        except PlatformError as error:
            told = str(error)
        except Exception as error:
            told = f"the request failed: {in_a_line(error)}"
            notice(f"WARNING: {told}")
        else:
            text = TextContent(type="text", text=json.dumps(answered, ensure_ascii=False))
            return CallToolResult(content=[text], structured_content=answered)
        return _failure(told)

    return Server(
        "irplatform", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _failure(told: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)


def serve(service: Service, limits: Limits) -> None:
    """Answer on standard input and output until the input closes, Ctrl-C or SIGTERM.

    Raises:
        SystemExit: the end, with 0, or with a signal's code if calls were given up.
        ModelsEndedError: their thread has ended.
    """
    ending = Ending(limits.drain)
    models = ModelThread(service.answer, limits.waiting, limits.seconds)
    tools = server(service, models, limits, ending)

    async def run() -> None:
        lines: Any = _lines(ending, models)  # read in place of an open file
        async with stdio_server(stdin=lines) as streams:
            await tools.run(*streams, tools.create_initialization_options())

    with serving(ending.on_signal):
        with quiet():
            asyncio.run(run())
        if models.ended:
            raise ModelsEndedError
        ending.leave(models)


async def _lines(ending: Ending, models: ModelThread[Request]) -> AsyncIterator[str]:
    """The lines of standard input; after the last one, wait until the calls are answered.

    A thread reads them, which a signal need not wait for. Programs that plugins start read nothing.
    """
    own, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        held = bytearray()
        with suppress(OSError, RuntimeError):  # the loop has ended
            while part := os.read(own, 1 << 16):
                held += part
                if b"\n" in part:
                    *whole, held = held.split(b"\n")
                    for line in whole:
                        loop.call_soon_threadsafe(lines.put_nowait, bytes(line))
            loop.call_soon_threadsafe(lines.put_nowait, bytes(held))
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while not (ending or models.ended):
        line: bytes | None = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL):
                line = await lines.get()
        if line is None:
            ending.begin()
        elif line:
            yield line.decode(errors="replace")
    await _steps()
    while not (models.ended or ending.is_over()):
        await asyncio.sleep(_POLL)
    ending.give_up()
    await _steps()


async def _steps() -> None:
    for _ in range(_STEPS):
        await asyncio.sleep(0)
