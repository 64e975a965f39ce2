"""A server on this machine that speaks OpenAI's chat API, and misbehaves when told to.

A passage or document is as relevant as the number after "relevance" in it.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_RELEVANCE = re.compile(r"relevance (-?\d+)")
_PASSAGE = re.compile(r"^\[(\d+)\] .*?relevance (-?\d+)", re.MULTILINE)


LATE = "late"


class ChatStandIn:
    """The server; used as a context manager.

    Attributes:
        url: of the API.
        asked: the body of every request, in order.
        headers: theirs.
        together: how many requests have to wait at the same time before one is answered.
        orders: what to do with the next requests: a text is the answer; a number is a status; an
            object is the body of a response, also with a status before it; LATE holds the answer
            back until `release` is set.
        release: lets late answers go.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.orders: deque[Any] = deque()
        self.together = 1
        self.waiting = 0
        self.release = threading.Event()
        self.arrived = threading.Condition()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.stand_in = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self) -> ChatStandIn:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


def answer_to(prompt: str) -> str:
    """A ranking of passages, or the grade of a document."""
    if "Grades:" in prompt:
        return "".join(_RELEVANCE.findall(prompt)[:1])
    return ranking(prompt)


def ranking(prompt: str) -> str:
    """The passages of a prompt by relevance: "[2] > [1]"."""
    passages = [(int(relevance), int(number)) for number, relevance in _PASSAGE.findall(prompt)]
    return " > ".join(f"[{number}]" for _, number in sorted(passages, key=lambda p: (-p[0], p[1])))


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        stand_in: ChatStandIn = self.server.stand_in  # type: ignore[attr-defined]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stand_in.asked.append(request)
        stand_in.headers.append(dict(self.headers))
        with stand_in.arrived:
            stand_in.waiting += 1
            stand_in.arrived.notify_all()
            met = stand_in.arrived.wait_for(lambda: stand_in.waiting >= stand_in.together, 20)
            assert met, "fewer requests came together"
        order = stand_in.orders.popleft() if stand_in.orders else ""
        status, body = 200, {}
        if order == LATE:
            stand_in.release.wait(20)
            order = ""
        if isinstance(order, int):
            status, body = order, {"error": {"message": "the stand-in\nsays no"}}
        elif isinstance(order, (dict, tuple)):
            status, body = order if isinstance(order, tuple) else (200, order)
        elif order == "not chat":
            body = {"object": "list"}
        else:
            answer = order or answer_to(request["messages"][-1]["content"])
            body = {
                "choices": [{"message": {"role": "assistant", "content": answer}}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 50},
            }
        data = json.dumps(body).encode()
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(ConnectionError):  # it waited no longer
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
