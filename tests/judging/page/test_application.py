"""The pages over HTTP: what they answer, and whom they refuse."""

import asyncio
import json
import sqlite3

import pytest
from judged_pools import small_desk, write_small_pool

fastapi = pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from irplatform.judging.page.application import application  # noqa: E402

HERE = "http://127.0.0.1:8001"


class Browser:
    """Requests to an application, as a page sends them."""

    def __init__(self, app, base=HERE):
        self.app, self.base = app, base

    def ask(self, method, path, **options):
        async def send():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, json=body, headers=headers)

    def judge(self, document, grade, **more):
        body = {"assessor": "ann", "topic": "t1", "document": document, "grade": grade}
        return self.post("/api/judge", {**body, "request": f"click-{document}-{grade}", **more})

    def start(self, **headers):
        return self.post("/api/start", {"assessor": "ann"}, **headers)

    @property
    def stored(self):
        return self.get("/export").text.count("\n")


@pytest.fixture
def desk(tmp_path):
    pool = write_small_pool(tmp_path, {"t1": ["d1", "d2", "d3"]})
    with small_desk(tmp_path, pool) as desk:
        yield desk


@pytest.fixture
def browser(desk, tmp_path):
    return Browser(application(desk, tmp_path))


@pytest.fixture
def guarded(desk, tmp_path):
    return Browser(application(desk, tmp_path, "the-token-1"), "http://lab.example:8001")


def test_a_judgment_is_answered_when_it_is_on_the_disk(browser, tmp_path):
    answer = browser.judge("d1", 2, note="so")
    assert answer.status_code == 200
    with sqlite3.connect(tmp_path / "judgments.sqlite") as other:
        rows = other.execute("SELECT document, grade, note FROM history").fetchall()
    assert rows == [("d1", 2, "so")]
    assert answer.json()["card"]["id"] == "d2"
    back = browser.post("/api/step", {"assessor": "ann", "topic": "t1", "by": -1}).json()
    assert back["card"]["judgment"]["note"] == "so"
    assert browser.post("/api/next", {"assessor": "ann"}).json()["card"]["id"] == "d2"
    undone = browser.post("/api/undo", {"assessor": "ann", "request": "undo-0001"}).json()
    assert undone["card"]["judgment"] is None
    assert browser.start().json()["card"]["id"] == "d1"


def test_a_conflict_tells_how_the_judgment_stands(browser):
    browser.judge("d1", 2)
    answer = browser.judge("d1", 0)
    assert answer.status_code == 409
    assert answer.json()["judgment"]["grade"] == 2


@pytest.mark.parametrize(
    "change",
    [
        {"grade": 9},
        {"grade": "2"},
        {"document": "d9"},
        {"assessor": " "},
        {"assessor": "a" * 61},
        {"note": "n" * 4001},
        {"request": ""},
        {"more": 1},
    ],
)
def test_what_is_no_judgment_is_refused(browser, change):
    answer = browser.judge(**{"document": "d1", "grade": 1, **change})
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert "pydantic" not in answer.json()["error"]
    assert browser.stored == 0


def test_half_a_character_is_refused(browser):
    body = '{"assessor": "ann", "topic": "t1", "document": "d1", "grade": 1, "note": "\\ud800", '
    options = {
        "content": f'{body}"request": "click-01"}}',
        "headers": {"content-type": "application/json"},
    }
    assert browser.ask("POST", "/api/judge", **options).status_code == 422


def test_export_and_backup_are_whole(browser, tmp_path):
    assert browser.get("/export").text == ""
    browser.judge("d1", 2)
    browser.judge("d2", None)
    answer = browser.get("/export")
    assert "judgments.jsonl" in answer.headers["content-disposition"]
    assert [json.loads(line)["grade"] for line in answer.text.splitlines()] == [2, None]
    (tmp_path / "copy.sqlite").write_bytes(browser.get("/backup").content)
    with sqlite3.connect(tmp_path / "copy.sqlite") as copy:
        assert copy.execute("SELECT COUNT(*) FROM history").fetchone() == (2,)


@pytest.mark.parametrize("path", ["/", "/adjudicate", "/page.css", "/page.js", "/export"])
def test_pages_load_nothing_from_elsewhere_and_run_no_other_script(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "://" not in answer.text
    assert "innerHTML" not in answer.text
    assert " style=" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8001", "127.0.0.1.evil.example", ""]
)
def test_another_name_that_leads_here_is_refused(browser, host):
    assert browser.start(host=host).status_code == 403
    assert browser.get("/", host=host).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8001", "127.0.0.1:8001", "[::1]:8001"])
def test_this_machine_is_let_in(browser, host):
    assert browser.start(host=host).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_page_of_another_site_may_not_write(browser, headers):
    body = {"assessor": "ann", "topic": "t1", "document": "d1", "grade": 1, "request": "r-000001"}
    assert browser.post("/api/judge", body, **headers).status_code == 403
    assert browser.stored == 0
    assert browser.post("/api/judge", body, origin=HERE).status_code == 200


def test_a_large_body_is_refused(browser):
    assert browser.judge("d1", 1, note="n" * 70_000).status_code == 403


def test_a_token_lets_in_who_has_the_address(guarded):
    assert guarded.start().status_code == guarded.get("/the-token-2/").status_code == 404
    assert guarded.get("/the-token-1/").status_code == 200
    place = "/the-token-1/api/start"
    assert guarded.post(place, {"assessor": "ann"}).json()["card"]["id"] == "d1"
    assert guarded.post(place, {"assessor": "ann"}, origin="http://evil.example").status_code == 403


def test_what_the_disk_refuses_is_told_and_may_be_tried_again(desk, browser, monkeypatch):
    def full(*_args, **_more):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(desk.store, "judge", full)
        answer = browser.judge("d1", 1)
    assert answer.status_code == 503
    assert "disk is full" in answer.json()["error"]
    assert browser.judge("d1", 1).status_code == 200


def test_a_fault_of_ours_is_told_as_one(desk, browser, monkeypatch):
    monkeypatch.setattr(desk.store, "judge", lambda *_, **__: 1 / 0)
    answer = browser.judge("d1", 1)
    assert (answer.status_code, answer.json()["error"][:17]) == (500, "ZeroDivisionError")
