"""A service as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from irplatform import __version__
from irplatform.errors import PlatformError
from irplatform.serving.model_thread import ModelThread
from irplatform.serving.requests import Explain, Rerank, Search
from irplatform.system.console import quiet

if TYPE_CHECKING:
    from irplatform.serving.limits import Limits
    from irplatform.serving.requests import Request
    from irplatform.serving.service import Service

Texts = list[str | dict[str, str]]


def server(service: Service, models: ModelThread[Request], limits: Limits) -> MCPServer:
    """Return an MCP server with the service's tools: search, rerank and explain."""
    tools = MCPServer("irplatform", version=__version__, log_level="WARNING")

    async def answer(request: Request) -> dict[str, Any]:
        try:
            size = limits.size(request)
            found: dict[str, Any] = await models.ask(service.kind(request), request, size)
        except PlatformError as error:
            raise ToolError(str(error)) from error
        return found

    async def search(query: str, top_n: int = 10) -> dict[str, Any]:
        return await answer(Search(query=query, top_n=top_n, return_documents=True))

    async def rerank(query: str, documents: Texts, top_n: int | None = None) -> dict[str, Any]:
        asked = {"query": query, "documents": documents, "top_n": top_n}
        return await answer(Rerank.model_validate(asked))

    async def explain(query: str, documents: Texts) -> dict[str, Any]:
        asked = {"query": query, "documents": documents}
        return await answer(Explain.model_validate(asked))

    if service.retriever is not None:
        collection = service.retriever.collection
        about = f"Search {collection.title} ({collection.id}) for some words."
        tools.add_tool(search, description=about)
    if service.reranker is not None:
        ids = ', or documents of the collection as {"id": "…"}' if service.retriever else ""
        kinds = f"Documents are texts{ids}."
        about = f"Score documents for a query with {service.name}, best first. {kinds}"
        tools.add_tool(rerank, description=about)
        about = f"Explain {service.name}'s scores of documents. {kinds}"
        tools.add_tool(explain, description=about)
    return tools


def serve(service: Service, limits: Limits) -> None:
    """Answer on standard input and output until it closes."""
    models = ModelThread(service.answer, limits.waiting, limits.seconds)
    try:
        with quiet():
            server(service, models, limits).run("stdio")
    finally:
        models.end()
