"""`platform serve`, as a user calls it: over HTTP, and as an MCP server."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from pages import DOCS, fences

from irplatform import RunSettings
from irplatform.errors import InputError
from irplatform.serving.requests import Rerank, Search
from irplatform.serving.service import open_service

pytestmark = pytest.mark.java
PLATFORM = (sys.executable, "-m", "irplatform", "serve")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        home = tmp_path_factory.mktemp("served") / "home"
        patched.setenv("IRPLATFORM_HOME", str(home))
        yield home


@contextmanager
def _served(*options):
    """A server's address, and how it ends on Ctrl-C."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    pytest.importorskip("prometheus_client")
    process = subprocess.Popen(
        [*PLATFORM, "--port=0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        line = process.stdout.readline()
        match = re.search(r"on (http://127\.0\.0\.1:\d+) \(Ctrl-C ends\)", line)
        assert match, line + process.stderr.read()
        yield match[1]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert (process.returncode, said.splitlines()[-1][:8]) == (0, "stopped;")
    finally:
        process.kill()


def _ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data)) as response:
        return json.load(response)


def _refused(url, body):
    with pytest.raises(urllib.error.HTTPError) as caught:
        _ask(url, body)
    return caught.value.code, json.load(caught.value)["error"]


@pytest.fixture(scope="module")
def url(home):
    pytest.importorskip("lightgbm")
    options = ("--collection=demo", "--reranker=lexical", "--rerank-depth=20")
    with _served(*options) as url:
        yield url


def test_a_collection_and_a_reranker_over_http(url):
    assert _ask(f"{url}/health")["reranker"] == "lexical"
    hits = _ask(f"{url}/search?query=BRAF+melanoma&top_n=5")["results"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    first = _ask(f"{url}/search", {"query": "BRAF melanoma", "top_n": 20, "rerank": False})
    assert {hit["id"] for hit in hits} < {hit["id"] for hit in first["results"]}
    search = {"query": "BRAF melanoma", "top_n": 3, "rerank": False, "return_documents": True}
    texts = _ask(f"{url}/search", search)["results"]
    query = {"query": "BRAF melanoma", "return_documents": True}
    by_id = _ask(f"{url}/rerank", {**query, "documents": [{"id": t["id"]} for t in texts]})
    as_text = [{name: text[name] for name in ("title", "abstract")} for text in texts]
    by_text = _ask(f"{url}/rerank", {**query, "documents": as_text})
    for one, other in zip(by_id["results"], by_text["results"], strict=True):
        assert one["index"] == other["index"]
        assert one["relevance_score"] == pytest.approx(other["relevance_score"], abs=1e-6)
        assert one["document"]["title"] == other["document"]["title"]
    scores = [result["relevance_score"] for result in by_id["results"]]
    assert scores == sorted(scores, reverse=True)
    unknown = {"query": "x", "documents": [{"id": "none"}]}
    assert _refused(f"{url}/rerank", unknown) == (422, "'demo' has no document 'none'.")
    (explanation,) = _ask(f"{url}/explain", {"query": "melanoma", "documents": ["melanoma"]})[
        "results"
    ]
    assert "score" in explanation["explanation"]


def test_the_page_does_what_it_shows(url, capsys):
    commands = [
        command
        for _, block in fences(DOCS / "serving.md", "sh")
        for command in re.split(r"^(?=curl )", block, flags=re.MULTILINE)
        if command.startswith("curl")
    ]
    assert len(commands) == 4
    if shutil.which("curl"):
        for command in commands:
            arguments = shlex.split(command.replace("http://127.0.0.1:8000", url))
            process = subprocess.run(
                [*arguments, "-sS"], capture_output=True, text=True, check=True
            )
            assert json.loads(process.stdout)["results"]
    ((_, program),) = fences(DOCS / "serving.md", "python")
    exec(program.replace("http://127.0.0.1:8000", url), {})
    assert "\n" in capsys.readouterr().out


def test_a_collection_alone_is_searched(home):
    service = open_service(RunSettings("demo"), 100)
    request = Search(query="BRAF melanoma", top_n=3)
    (answer,) = service.answer([request])
    together = service.answer([request, Search(query="asthma", top_n=3), request])
    assert together[0] == together[2] == answer
    assert service.about()["reranker"] is None
    with pytest.raises(InputError, match="this server has no reranker"):
        service.answer([Rerank(query="x", documents=["a"])])


def test_nothing_to_serve_and_a_taken_port_are_told_in_a_line():
    pytest.importorskip("fastapi")
    process = subprocess.run(PLATFORM, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr == "platform: there is nothing to serve: give --reranker, --collection, or both.\n"  # fmt: skip  # noqa: E501


def test_the_tools_of_mcp(home):
    pytest.importorskip("mcp")
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = [*PLATFORM[1:], "--mcp", "--collection=demo", "--reranker=bm25-text"]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def scenario():
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = await session.list_tools()
            search = await session.call_tool("search", {"query": "BRAF melanoma", "top_n": 2})
            request = {"query": "BRAF melanoma", "documents": ["Asthma", "BRAF in melanoma"]}
            scored = await session.call_tool("rerank", request)
            wrong = await session.call_tool("rerank", {"query": "x", "documents": [{"id": "no"}]})
            return tools, search, scored, wrong

    tools, search, scored, wrong = asyncio.run(scenario())
    assert {tool.name for tool in tools.tools} == {"search", "rerank", "explain"}
    assert len(json.loads(search.content[0].text)["results"]) == 2
    best = json.loads(scored.content[0].text)["results"][0]
    assert best["index"] == 1
    assert "'demo' has no document 'no'." in wrong.content[0].text
