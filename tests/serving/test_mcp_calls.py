"""What a call of an MCP tool tells the model that made it."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from irplatform.serving.limits import Limits
from irplatform.serving.model_thread import ModelThread

pytest.importorskip("mcp")


def _answer(requests):
    if requests[0].query == "bug":
        raise RuntimeError("a bug\nin two lines")
    return [request.model_dump() for request in requests]


@pytest.fixture
def call():
    """Call a tool; returns its text, or its error behind "!"."""
    from mcp.types import CallToolRequestParams

    from irplatform.serving.mcp import server

    collection = SimpleNamespace(title="Two articles", id="two")
    service = SimpleNamespace(
        retriever=SimpleNamespace(collection=collection), reranker=object(), name="any", kind=type
    )
    models = ModelThread(_answer, 4, 5.0)
    tools = server(service, models, Limits(max_documents=2))

    def called(name, **arguments):
        handler = tools.get_request_handler("tools/call").handler
        parameters = CallToolRequestParams(name=name, arguments=arguments)
        result = asyncio.run(handler(None, parameters))
        (content,) = result.content
        assert "\n" not in content.text
        return f"!{content.text}" if result.is_error else json.loads(content.text)

    yield called
    models.end()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rerank", {"query": "", "documents": ["a"]}, "query: the query is empty."),
        ("rerank", {"query": "x", "documents": []}, "documents: List should have at least 1 item"),
        (
            "rerank",
            {"query": "x", "documents": ["a"], "top_n": 0},
            "top_n: Input should be greater",
        ),
        (
            "rerank",
            {"query": "x", "documents": ["a"], "topn": 1},
            "unknown key 'topn'. Did you mean",
        ),
        ("rerank", {"query": "x", "documents": [{"snippet": "a"}]}, "documents.0: there are no wo"),
        ("rerank", {"query": "x", "documents": ["a", "b", "c"]}, "3 documents are too many"),
        ("rerank", {"query": "x"}, "documents: Field required."),
        ("rerank", {"query": "x", "documents": "a"}, "documents: Input should be a valid list."),
        ("search", {"query": "x", "topn": 1}, "unknown key 'topn'. Did you mean 'top_n'?"),
        ("search", {"query": "x", "top_n": "many"}, "top_n: Input should be a valid integer"),
        ("search", {}, "query: Field required."),
        ("explain", {"query": "x", "documents": ["a", 3]}, "documents.1: 3 is neither a text"),
        ("search", {"query": "bug"}, "the request failed: RuntimeError: a bug in two lines"),
        ("serach", {"query": "x"}, "unknown tool 'serach'. Did you mean 'search'?"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(call, capsys, name, arguments, message):
    assert call(name, **arguments).startswith(f"!{message}")
    assert capsys.readouterr().err.count("\n") <= 1


def test_a_call_is_read_as_over_http(call):
    search = call("search", query="x", top_n="2")
    assert (search["top_n"], search["return_documents"]) == (2, True)
    documents = '["a", {"page_content": "b"}]'  # as some models write lists
    rerank = call("rerank", query="[1]", documents=documents)
    assert (rerank["query"], rerank["documents"][0]["text"]) == ("[1]", "a")
    assert rerank["documents"][1]["text"] == "b"
