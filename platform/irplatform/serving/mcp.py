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

from irplatform.errors import PlatformError, in_a_line, unknown
from irplatform.serving.endings import Ending
from irplatform.serving.model_thread import ModelThread
from irplatform.serving.requests import Explain, Rerank, Search, first_problem
from irplatform.system.console import notice, quiet
from irplatform.system.process import serving
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp.types import CallToolRequestParams

    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request
    from irplatform.serving.service import Service

_POLL = 0.1
"""Seconds between looks at whether a server ends."""


def server(service: Service, models: ModelThread[Request], limits: Limits) -> Server[Any]:
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
        defaults = {"return_documents": True} if by_name[name] is Search else {}
        request = by_name[name].model_validate({**defaults, **arguments})
        if key := next(iter(request.model_extra or ()), None):
            raise unknown("key", key, type(request).model_fields)
        size = limits.size(request)
        answered: dict[str, Any] = await models.ask(service.kind(request), request, size)
        return answered

    async def list_tools(_context: Any, _page: Any) -> ListToolsResult:
        tools = []
        for name, kind in by_name.items():
            schema = {**kind.model_json_schema(), "additionalProperties": False}
            schema["properties"].pop("return_documents", None)
            about, answered = kinds[kind], {"type": "object"}
            tools.append(
                Tool(name=name, description=about, input_schema=schema, output_schema=answered)
            )
        return ListToolsResult(tools=tools)

    async def call_tool(_context: Any, call: CallToolRequestParams) -> CallToolResult:
        try:
            answered = await answer(call.name, call.arguments or {})
        except ValidationError as error:
            message = first_problem(error.errors())
        except PlatformError as error:
            message = str(error)
        except Exception as error:
            message = f"the request failed: {in_a_line(error)}"
            notice(f"WARNING: {message}")
        else:
            text = TextContent(type="text", text=json.dumps(answered, ensure_ascii=False))
            return CallToolResult(content=[text], structured_content=answered)
        return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)

    return Server(
        "irplatform", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool
    )


def serve(service: Service, limits: Limits) -> None:
    """Answer on standard input and output until it closes, or a signal; see `Ending.leave`."""
    models = ModelThread(service.answer, limits.max_waiting, limits.max_seconds)
    ending = Ending(models, limits.drain)
    tools = server(service, models, limits)

    async def run() -> None:
        lines: Any = _lines(ending)  # read as an open file would be
        async with stdio_server(stdin=lines) as streams:
            await tools.run(*streams, tools.create_initialization_options())

    with serving(ending.on_signal):
        with quiet():
            asyncio.run(run())
        ending.leave()


async def _lines(ending: Ending) -> AsyncIterator[str]:
    """The lines of standard input, until the server ends. Other programs of ours read nothing."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    put = asyncio.get_running_loop().call_soon_threadsafe
    descriptor, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)

    def read() -> None:  # in a thread that a signal need not wait for
        with suppress(RuntimeError), os.fdopen(descriptor, "rb") as stream:  # the loop has ended
            for line in stream:
                put(lines.put_nowait, line)
            put(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    over = False
    while not over:
        line: bytes | None = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL):
                line = await lines.get()
        if line:
            yield line.decode(errors="replace")
        elif line is None:
            ending.begin()
        await _steps()
        over = ending.is_over()
    await _steps()


async def _steps() -> None:
    """Let lines that were read become calls, and answers become lines."""
    for _ in range(50):
        await asyncio.sleep(0)
