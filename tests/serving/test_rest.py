"""The REST server: answers, limits, and requests that must not end it."""

import asyncio
import gzip
import json
import re
import threading

import pytest

from irplatform.errors import InputError
from irplatform.serving.limits import Limits
from irplatform.serving.model_thread import BusyError, ModelThread, TooSlowError
from irplatform.serving.requests import Rerank, Search

fastapi = pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")
httpx = pytest.importorskip("httpx")


class Lengths:
    """A service that scores texts by their lengths, and fails where it is asked to."""

    name = "lengths"

    def __init__(self):
        self.batches = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def about(self):
        return {"reranker": self.name}

    def kind(self, request):
        return type(request)

    def answer(self, requests):
        self.batches.append([request.query for request in requests])
        self.begun.set()
        self.go_on.wait(10)
        for request in requests:
            if request.query == "wrong":
                raise InputError("this query is wrong.")
            if request.query == "bug":
                raise RuntimeError("a bug\nin two lines")
        return [self._of(request) for request in requests]

    def _of(self, request):
        if not isinstance(request, Rerank):
            return {"query": request.query}
        texts = [getattr(document, "text", document) for document in request.documents]
        lengths = map(len, texts)
        return {"results": [{"index": n, "relevance_score": s} for n, s in enumerate(lengths)]}


@pytest.fixture
def service():
    return Lengths()


@pytest.fixture
def access(request):
    return getattr(request, "param", {})


@pytest.fixture
def models(service):
    models = ModelThread(service.answer, 4, 1.0)
    yield models
    service.go_on.set()
    models.end()


@pytest.fixture
def ask(service, access, models):
    """Send requests at once; returns the responses."""
    from irplatform.serving.rest import application

    limits = Limits(max_documents=3, max_megabytes=1, max_waiting=4, max_seconds=1.0, **access)
    app = application(service, limits, models)

    def send(*requests, first_alone=False, until_waiting=None):
        async def all_of_them():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                tasks = []
                for request in requests:
                    method, path, rest = request
                    tasks.append(asyncio.create_task(client.request(method, path, **rest)))
                    if first_alone:
                        await asyncio.to_thread(service.begun.wait, 10)
                if until_waiting is not None:
                    async with asyncio.timeout(10):
                        while models.waiting < until_waiting:
                            await asyncio.sleep(0)
                    service.go_on.set()
                return await asyncio.gather(*tasks)

        return asyncio.run(all_of_them())

    return send


def _rerank(query="melanoma", documents=("a", "bbb"), **more):
    return "POST", "/rerank", {"json": {"query": query, "documents": list(documents), **more}}


def _told(response, status):
    assert response.status_code == status, response.text
    content = response.json()
    assert set(content) == {"error", "message", "detail"}  # ours, Cohere's and Jina's
    (message,) = set(content.values())
    assert "\n" not in message
    return message


def test_common_paths_answer_in_the_common_form(ask):
    for path in ("/rerank", "/v1/rerank", "/v2/rerank"):
        body = {"model": "any", "query": "x", "documents": ["a", {"text": "bbb"}]}
        (response,) = ask(("POST", path, {"json": body}))
        scores = [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 3}]
        assert response.json() == {"results": scores}
    (response,) = ask(("POST", "/rerank", {"content": b'{"query": "x", "documents": ["ab"]}'}))
    assert response.json()["results"][0]["relevance_score"] == 2  # without a content type


def test_an_unknown_key_is_refused_where_only_our_keys_are_known(ask):
    search, words, explain, rerank = ask(
        ("POST", "/search", {"json": {"query": "x", "limit": 3}}),
        ("GET", "/search?query=x&limit=3", {}),
        ("POST", "/explain", {"json": {"query": "x", "documents": ["a"], "limit": 3}}),
        ("POST", "/rerank", {"json": {"query": "x", "documents": ["a"], "limit": 3}}),
    )
    for response in (search, words, explain):
        assert "unknown key 'limit'. " in _told(response, 422)
    assert rerank.status_code == 200  # clients of other servers send keys of theirs


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON: "),
        (b"", "the body is missing: send JSON."),
        (b"[1]", "Input should be a valid dictionary"),
        (b'{"documents": ["a"]}', "query: Field required."),
        (b'{"query": " ", "documents": ["a"]}', "query: the query is empty."),
        (b'{"query": "x", "documents": []}', "documents: List should have at least 1 item"),
        (b'{"query": "x", "documents": [3]}', "documents.0: 3 is neither a text nor an object"),
        (
            b'{"query": "x", "documents": ["\\ud800"]}',
            "documents.0.text: there is half a character",
        ),
        (b'{"query": "x", "documents": ["a", {"id": "1"}]}', "some documents are texts and some"),
        (b'{"query": "x", "documents": ["a", "b", "c", "d"]}', "4 documents are too many: a requ"),
        (b'{"query": "x", "documents": ["a"], "top_n": 0}', "top_n: Input should be greater than"),
        (b'{"query": "wrong", "documents": ["a"]}', "this query is wrong."),
    ],
)
def test_a_wrong_request_is_explained_in_one_line(ask, body, message):
    response, after = ask(("POST", "/rerank", {"content": body}), _rerank())
    assert message in _told(response, 422)
    assert after.status_code == 200


def test_other_failures_are_reported_and_the_server_goes_on(ask, capsys):
    responses = ask(
        _rerank("bug"),
        ("GET", "/nothing", {}),
        ("PUT", "/rerank", {}),
        ("POST", "/rerank", {"content": b"a" * 1_000_001}),
        ("POST", "/rerank", {"content": b"[" * 100_000}),
        _rerank(),
    )
    statuses = [500, 404, 405, 413, 400]
    messages = [_told(*pair) for pair in zip(responses[:-1], statuses, strict=True)]
    assert messages[0].startswith("the request failed: RuntimeError: a bug")
    assert messages[3] == "the request is too large: 1,000,000 bytes are the most."
    assert messages[4].startswith("the body cannot be read as JSON: RecursionError")
    assert responses[-1].status_code == 200
    assert "a request failed: RuntimeError" in capsys.readouterr().err


def test_a_body_of_unknown_length_is_refused_once_it_is_too_large(ask):
    async def endless():
        for _ in range(100):
            yield b"a" * 100_000

    (response,) = ask(("POST", "/rerank", {"content": endless()}))
    assert "too large" in _told(response, 413)


def test_what_is_left_of_a_refused_body_is_dropped_before_its_connection_closes(models):
    """A client that first sends everything gets its answer."""
    from irplatform.serving.rest import application

    app = application(Lengths(), Limits(max_megabytes=1), models)
    chunks, answered = [], []

    async def receive():
        chunks.append(len(answered))
        return {"type": "http.request", "body": b"a" * 100_000, "more_body": len(chunks) < 50}

    async def send(message):
        answered.append((len(chunks), message.get("status"), message.get("more_body")))

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/rerank",
        "headers": [],
        "http_version": "1",
    }
    asyncio.run(app({**scope, "query_string": b"", "root_path": ""}, receive, send))
    assert answered == [(11, 413, None), (11, None, True), (50, None, None)]


def test_a_server_that_stops_says_so(ask, models):
    models.stopping = True
    health, rerank, metrics = ask(("GET", "/health", {}), _rerank(), ("GET", "/metrics", {}))
    assert (health.status_code, health.json()["status"]) == (503, "draining")
    assert _told(rerank, 503) == "the server is stopping; try again later."
    assert rerank.headers["Retry-After"] == "1"
    assert metrics.status_code == 200
    assert {response.headers["connection"] for response in (health, rerank, metrics)} == {"close"}


def test_a_server_whose_models_have_ended_is_not_healthy(ask, models):
    models.end()
    (health,) = ask(("GET", "/health", {}))
    assert (health.status_code, health.json()["status"]) == (503, "failed")


def test_a_body_that_is_never_complete_times_out(ask, monkeypatch):
    monkeypatch.setattr("irplatform.serving.rest.RECEIVING", 0.1)

    async def slow():
        yield b"{"
        await asyncio.sleep(5)

    (response,) = ask(("POST", "/rerank", {"content": slow()}))
    assert _told(response, 408) == "the request was not sent within 0.1 seconds."


def test_waiting_requests_are_answered_together_and_a_wrong_one_alone(ask, service):
    service.go_on.clear()
    requests = [_rerank("first"), _rerank("a"), _rerank("wrong"), _rerank("b")]
    responses = ask(*requests, first_alone=True, until_waiting=3)
    assert [response.status_code for response in responses] == [200, 200, 422, 200]
    assert service.batches[:2] == [["first"], ["a", "wrong", "b"]]
    assert service.batches[2:] == [["a"], ["wrong"], ["b"]]


def test_too_many_and_too_slow_requests_are_refused(ask, service):
    service.go_on.clear()
    responses = ask(*[_rerank(f"q{n}") for n in range(7)], first_alone=True)
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [503, 503, 504, 504, 504, 504, 504]
    busy = next(r for r in responses if r.status_code == 503)
    assert "requests wait already" in _told(busy, 503)
    assert busy.headers["Retry-After"] == "1"
    slow = next(r for r in responses if r.status_code == 504)
    assert _told(slow, 504) == "no answer within 1 seconds."
    service.go_on.set()
    (after,) = ask(_rerank("after"))
    assert after.status_code == 200
    assert service.batches == [["q0"], ["after"]]  # those that were given up are left out


def test_health_metrics_and_a_page_without_other_hosts(ask):
    searched = ("GET", "/search", {"params": {"query": "x", "top_n": 2}})
    first = ask(searched, _rerank(), _rerank("wrong"))
    assert first[0].json() == {"query": "x"}
    health, metrics, docs, schema, start = ask(
        *(("GET", path, {}) for path in ("/health", "/metrics", "/docs", "/openapi.json", "/"))
    )
    assert health.json() == {"status": "ok", "reranker": "lengths"}
    assert 'irplatform_requests_total{path="/rerank",status="422"} 1.0' in metrics.text
    assert "irplatform_documents_total 4.0" in metrics.text
    assert "irplatform_waiting 0.0" in metrics.text
    assert "src=" not in docs.text
    assert docs.text.count("http://") == docs.text.count("curl http://test/")
    for path in schema.json()["paths"]:
        assert path in docs.text
    assert start.headers["location"] == "/docs"


def test_requests_that_timed_out_are_not_answered():
    begun, release, answered = threading.Event(), threading.Event(), []

    def answer(requests):
        begun.set()
        answered.extend(requests)
        return [release.wait(5) for _ in requests]

    models = ModelThread(answer, 2, 0.1)

    async def scenario():
        first = asyncio.create_task(models.ask("k", 0))
        await asyncio.to_thread(begun.wait, 5)
        calls = [models.ask("k", n) for n in range(1, 4)]
        return await asyncio.gather(first, *calls, return_exceptions=True)

    results = asyncio.run(scenario())
    assert [type(error) for error in results] == [*[TooSlowError] * 3, BusyError]
    release.set()
    assert asyncio.run(models.ask("k", 4)) is True
    models.end()
    assert answered == [0, 4]


def test_a_search_returns_ten_documents_unless_another_number_is_asked_for():
    assert Search(query="a").top_n == 10


def _guarded(**access):
    return pytest.mark.parametrize("access", [access], indirect=True)


@_guarded(token="s3cret")
def test_without_its_token_a_server_tells_no_more_than_its_health(ask):
    def requests(*values):
        return [("GET", "/docs", {"headers": {"Authorization": v}}) for v in values]

    wrong = ("Bearer s3cre", "Bearer", "Basic s3cret", "s3cret", "Bearer s3cret x", b"Bearer \xe9")
    bare = [("GET", p, {}) for p in ("/", "/docs", "/metrics", "/openapi.json", "/search?query=x")]
    refused = ask(
        *requests(*wrong[:3]), *requests(*wrong[3:]), *bare, _rerank(), ("GET", "/none", {})
    )
    for response in refused:
        assert "Authorization: Bearer TOKEN" in _told(response, 401)
        assert response.headers["WWW-Authenticate"] == "Bearer"
    method, path, rest = _rerank()
    let_in = {**rest, "headers": {"authorization": "bearer s3cret"}}
    responses = ask(("GET", "/health", {}), *requests("Bearer s3cret"), (method, path, let_in))
    assert [response.status_code for response in responses] == [200, 200, 200]


def test_head_answers_as_get_without_a_body(ask):
    paths = ("/health", "/docs", "/metrics", "/openapi.json", "/search?query=x", "/none", "/rerank")
    requests = [(method, path, {}) for path in paths for method in ("GET", "HEAD")]
    responses = ask(*requests[:4]) + ask(*requests[4:8]) + ask(*requests[8:])
    for got, head in zip(responses[::2], responses[1::2], strict=True):
        assert head.status_code == got.status_code
        assert head.headers["content-type"] == got.headers["content-type"]
        assert head.content == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, identity"])
def test_a_compressed_body_is_refused_in_a_sentence(ask, encoding):
    body = gzip.compress(json.dumps(_rerank()[2]["json"]).encode())
    packed = {"content": body, "headers": {"Content-Encoding": encoding}}
    plain = {**_rerank()[2], "headers": {"Content-Encoding": "identity"}}
    refused, answer = ask(("POST", "/rerank", packed), ("POST", "/rerank", plain))
    message = f"a body with the encoding '{encoding}' is not read: send plain JSON."
    assert _told(refused, 415) == message
    assert answer.status_code == 200


@_guarded(access_log=True, token="s3cret")
def test_the_access_log_has_a_line_for_each_request_and_no_token(ask, capsys):
    content = {"headers": {"Authorization": "Bearer s3cret"}}
    ask(("GET", "/docs?token=s3cret", content), ("HEAD", "/a%0Ab", {}))
    lines = sorted(capsys.readouterr().err.splitlines(), key=lambda line: line.split()[2])
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
    expected = [("GET /docs", 200), ("HEAD /a%0Ab", 401)]
    for line, (request, status) in zip(lines, expected, strict=True):
        assert re.fullmatch(rf"{moment} 127\.0\.0\.1 {request} {status} \d+ ms", line)


@_guarded(cors_origins=("https://lab.example",), token="s3cret")
def test_pages_of_a_named_origin_may_call_the_server(ask):
    headers = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    response, other = ask(
        *(
            ("OPTIONS", "/rerank", {"headers": {**headers, "Origin": origin}})
            for origin in ("https://lab.example", "https://elsewhere.example")
        )
    )
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://lab.example"
    assert "access-control-allow-origin" not in other.headers


def test_keys_with_half_a_character_are_refused(ask):
    body = b'{"query": "x", "documents": ["a"], "\\ud800": 1}'
    for response in ask(*(("POST", f"/{p}", {"content": body}) for p in ("explain", "rerank"))):
        _told(response, 422)


def test_what_is_not_read_of_a_rerank_request_is_told():
    request = Rerank.model_validate(
        {
            "query": "a b",
            "documents": ["c", {"title": "d", "text": "e f", "url": "g", "year": 2020}],
            "model": "any",
            "topn": 1,
        }
    )
    assert request.counts["meta"]["warnings"] == [
        "unknown key 'topn'. Did you mean 'top_n'?",
        "these keys of documents were not read: url.",
    ]
    assert request.counts["usage"]["total_tokens"] == 6
    assert Rerank.model_validate({"query": "a", "documents": ["b"], "top_k": 1}).top_n == 1


def test_the_documents_of_other_services_requests_are_asked_for_by_name(ask):
    for key in ("texts", "input", "passages"):
        (response,) = ask(("POST", "/rerank", {"json": {"query": "x", key: ["a"]}}))
        assert _told(response, 422) == f"documents: missing. They are read here, not under '{key}'."
    documents = ["a", {"text": "b", "fields": {"mesh": {"c": "d"}}}]
    (response,) = ask(("POST", "/rerank", {"json": {"query": "x", "documents": documents}}))
    assert _told(response, 422).startswith("documents.1.fields.mesh")
