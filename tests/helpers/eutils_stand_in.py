"""A server on this machine that answers as NCBI's efetch does, and misbehaves when told to.

It knows articles by their ids, counts calls, notes when each came, and takes orders for what to do
with the next ones: an error of the server, an error told as a success, too many calls, half an
answer. With a limit, it refuses more calls a second than that, as NCBI does.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from irplatform.plugin import Document

NO_IDS = (
    '<?xml version="1.0" encoding="UTF-8" ?>\n<eFetchResult>\n'
    "\t<ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR>\n</eFetchResult>\n"
)
XML_ERROR = b"<eFetchResult><ERROR>Unable to obtain records: backend is down</ERROR></eFetchResult>"


class StandIn:
    """The server; used as a context manager.

    Args:
        articles: what it knows.

    Attributes:
        limit: most calls in any second, or None.
        url: what to set `IRPLATFORM_EUTILS_URL` to.
        calls: the parameters of every call, in order of arrival.
        times: when they came, in seconds.
        orders: what to do with the next calls, one each: see `Handler.misbehave`.
        files: further content to serve by GET, by path.
    """

    def __init__(self, articles: Iterable[Document] = ()) -> None:
        self.articles = {article.id: pubmed_article(article) for article in articles}
        self.limit: int | None = None
        self.calls: list[dict[str, str]] = []
        self.times: list[float] = []
        self.orders: deque[str] = deque()
        self.files: dict[str, bytes] = {}
        self.arrived = threading.Condition()
        self.server = _Server(("127.0.0.1", 0), Handler)
        self.server.stand_in = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> StandIn:
        self.proxies = os.environ.get("NO_PROXY")
        os.environ["NO_PROXY"] = "127.0.0.1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        del os.environ["NO_PROXY"]
        if self.proxies is not None:
            os.environ["NO_PROXY"] = self.proxies

    def arrive(self, parameters: Mapping[str, str]) -> str:
        """Note a call; what to do with it."""
        with self.arrived:
            now = time.monotonic()
            self.calls.append(dict(parameters))
            self.times.append(now)
            self.arrived.notify_all()
            if self.orders:
                return self.orders.popleft()
            recent = sum(now - before < 1.0 for before in self.times)
            return "throttle" if self.limit and recent > self.limit else "answer"

    def wait_for_calls(self, count: int, timeout: float = 60.0) -> None:
        """Return when that many calls have come."""
        with self.arrived:
            success = self.arrived.wait_for(lambda: len(self.calls) >= count, timeout)
        assert success, f"{len(self.calls)} calls came, not {count}"

    def answer(self, ids: Iterable[str]) -> str:
        """The articles that there are, in the order asked for."""
        articles = "".join(self.articles.get(pmid, "") for pmid in ids)
        return (
            '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, '
            '1st January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
            f"<PubmedArticleSet>\n{articles}</PubmedArticleSet>"
        )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that was killed is no news."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        stand_in: StandIn = self.server.stand_in  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        parameters = {name: values[0] for name, values in parse_qs(body).items()}
        ids = parameters.get("id", "").split(",")
        order = stand_in.arrive(parameters)
        if self.path != "/efetch.fcgi":
            self.send(404, b"no such utility")
        elif not any(pmid.isdecimal() for pmid in ids):
            self.send(400, NO_IDS.encode())
        elif order == "answer":
            self.send(200, stand_in.answer(ids).encode())
        else:
            self.misbehave(order, stand_in.answer(ids).encode())

    def do_GET(self) -> None:
        stand_in: StandIn = self.server.stand_in  # type: ignore[attr-defined]
        content = stand_in.files.get(self.path)
        self.send(*((404, b"not here") if content is None else (200, content)))

    def misbehave(self, order: str, answer: bytes) -> None:
        """Do what was ordered: `name`, or `name:argument`."""
        name, _, argument = order.partition(":")
        half = answer[: len(answer) // 2]
        if name == "throttle":
            retry = {"Retry-After": argument} if argument else {}
            self.send(429, b'{"error":"API rate limit exceeded","count":"4","limit":"3"}', **retry)
        elif name == "status":
            self.send(int(argument), b"<html>Service error</html>")
        elif name == "redirect":
            self.send(302, b"", Location=argument)
        elif name == "hang-up":
            self.close_connection = True
        elif name == "half-body":
            self.send(200, half, **{"Content-Length": str(len(answer))})
            self.close_connection = True
        else:
            status, body = {
                "error-as-success": (200, XML_ERROR),
                "relayed-error": (400, XML_ERROR),
                "json-error": (200, b'{"error":"error forwarding request"}'),
                "bad-key": (400, b'{"error":"API key invalid","api-key":"?"}'),
                "half-document": (200, half),
                "not-well-formed": (200, answer.replace(b"</AbstractText>", b"", 1)),
                "forget": (200, b"<PubmedArticleSet></PubmedArticleSet>"),
            }[name]
            self.send(status, body)

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for header, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def pubmed_article(document: Document) -> str:
    """A document in PubMed's format."""
    headings = "".join(
        '<MeshHeading><DescriptorName UI="D000000" MajorTopicYN="N">'
        f"{escape(name)}</DescriptorName></MeshHeading>"
        for name in document.fields.get("mesh", ())
    )
    mesh = f"<MeshHeadingList>{headings}</MeshHeadingList>" if headings else ""
    abstract = (
        f"<Abstract><AbstractText>{escape(document.abstract)}</AbstractText></Abstract>"
        if document.abstract
        else ""
    )
    if "book" in document.fields:
        return (
            f"<PubmedBookArticle><BookDocument><PMID>{document.id}</PMID><Book><BookTitle>"
            f"{document.fields['book']}</BookTitle></Book><ArticleTitle>{escape(document.title)}"
            f"</ArticleTitle>{abstract}</BookDocument></PubmedBookArticle>\n"
        )
    return (
        '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">'
        f'<PMID Version="1">{document.id}</PMID><Article PubModel="Print"><Journal>'
        '<JournalIssue CitedMedium="Print"><PubDate><Year>2015</Year></PubDate></JournalIssue>'
        f"</Journal><ArticleTitle>{escape(document.title)}</ArticleTitle>{abstract}"
        f"<Language>eng</Language></Article>{mesh}</MedlineCitation><PubmedData>"
        f'<ArticleIdList><ArticleId IdType="pubmed">{document.id}</ArticleId></ArticleIdList>'
        "</PubmedData></PubmedArticle>\n"
    )
