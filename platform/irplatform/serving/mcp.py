"""A service as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import ValidationError

from irplatform import __version__
from irplatform.errors import PlatformError, in_a_line, unknown
from irplatform.serving.model_thread import ModelThread
from irplatform.serving.requests import Explain, Rerank, Search, first_problem
from irplatform.system.console import notice, quiet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.types import CallToolRequestParams

    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request
    from irplatform.serving.service import Service


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
        return CallToolResult(content=[TextContent(type="text", text=told)], is_error=True)

    return Server(
        "irplatform", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool
    )


def serve(service: Service, limits: Limits) -> None:
    """Answer on standard input and output until it closes."""
    models = ModelThread(service.answer, limits.waiting, limits.seconds)
    tools = server(service, models, limits)

    async def run() -> None:
        async with stdio_server() as streams:
            await tools.run(*streams, tools.create_initialization_options())

    try:
        with quiet():
            asyncio.run(run())
    finally:
        models.end()
