"""The page of judges in Chromium: by keys and by mouse, wide and narrow, alone and in company."""

import os
from pathlib import Path

import pytest
from judged_pools import HOSTILE, write_small_pool
from judging_page import JudgingPage, Server
from page_checks import OVERFLOWING, PALE_TEXT, SMALL_TEXT

from irplatform.judging.store import stored_judgments

AXE = os.environ.get("AXE", "")
"""The file `axe.min.js` of the npm package axe-core."""
LEFT, RIGHT, ESCAPE, TAB = "\ue012", "\ue014", "\ue00c", "\ue004"
DOCUMENTS = [f"d{n:02}" for n in range(30)]


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("fastapi")
    write_small_pool(tmp_path, {"t1": DOCUMENTS, "t2": ["d00", "no1"]})
    server = Server(tmp_path).start()
    yield server
    server.kill()


@pytest.fixture
def page(driver, server):
    return JudgingPage(driver, server.url)


def _stored(server):
    return {(j.document, j.source.name): (j.grade, j.note) for j in stored_judgments(server.folder)}


def test_all_is_done_with_keys_alone(page, server):
    page.open("ann")
    assert page.document == "d00"
    assert [page.judge("2"), page.judge("0"), page.judge("c")] == ["d00", "d01", "d02"]
    page.press("n")
    page.press(f"a note with 1 and u{ESCAPE}")
    assert page.judge("1") == "d03"
    assert _stored(server) == {
        ("d00", "ann"): (2, ""),
        ("d01", "ann"): (0, ""),
        ("d02", "ann"): (None, ""),
        ("d03", "ann"): (1, "a note with 1 and u"),
    }
    page.press("u")
    page.wait("return document.getElementById('id').textContent === 'd03'")
    assert page.pressed() is None
    assert ("d03", "ann") not in _stored(server)
    page.press(LEFT)
    page.wait("return document.getElementById('id').textContent === 'd02'")
    assert page.pressed() == "none"
    assert not page.find("#status").text  # which was of another document
    page.press(LEFT)
    page.wait("return document.getElementById('id').textContent === 'd01'")
    page.judge("1")
    assert page.document == "d03"
    assert _stored(server)["d01", "ann"] == (1, "")
    page.press("?")
    assert page.find("#help").is_displayed()
    page.press("2")  # judges nothing
    page.press(ESCAPE)
    assert not page.find("#help").is_displayed()
    assert page.document == "d03"
    assert len(_stored(server)) == 3
    assert page.log() == ([], [])


def test_all_is_done_with_the_mouse_too(page, server):
    page.open("ann")
    page.find("#grades [data-grade='1']").click()
    page.wait("return document.getElementById('id').textContent === 'd01'")
    page.find("#back").click()
    page.wait("return document.getElementById('id').textContent === 'd00'")
    page.find("#note").send_keys("changed later")
    page.find("#grades [data-grade='2']").click()
    page.wait("return document.getElementById('status').textContent.startsWith('Saved: 2')")
    assert _stored(server) == {("d00", "ann"): (2, "changed later")}
    page.find("#back").click()
    page.wait("return document.querySelector('[aria-pressed=true]')")
    page.find("#undo").click()
    page.wait("return document.getElementById('status').textContent.includes('again')")
    assert page.document == "d00"
    page.run("document.getElementById('topics').focus()")
    page.press("t2")
    page.wait(
        "return document.getElementById('query').textContent && "
        "document.getElementById('id').textContent === 'd00' && "
        "document.getElementById('topics').value === 't2'"
    )
    assert page.judge("0") == "d00"
    assert "not in the collection" in page.text("#title")


def test_documents_stay_text(page):
    page.open("ann")
    assert HOSTILE in page.text("#title")
    assert page.run("return document.querySelector('article img')") is None
    assert page.run(
        "return [...document.querySelectorAll('#title mark')].map(m => m.textContent)"
    ) == [
        "Cancers",
        "lung",
    ]
    assert page.log() == ([], [])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_is_readable(page, width, dark):
    page.open("ann", width=width, dark=dark)
    page.judge("1")
    page.press(LEFT)
    page.wait("return document.querySelector('[aria-pressed=true]')")
    for part in ("", "document.getElementById('help').showModal()"):
        page.run(part)
        assert page.run(OVERFLOWING) == []
        assert page.run("return document.documentElement.scrollWidth") <= width
        assert page.run(SMALL_TEXT) == []
        assert page.run(PALE_TEXT) == []
    assert page.run("return matchMedia('(prefers-color-scheme: dark)').matches") is dark


@pytest.mark.skipif(not AXE, reason="AXE does not name axe.min.js")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("path", ["", "adjudicate"])
def test_axe_finds_nothing(page, width, path, dark, other_driver, server):
    other = JudgingPage(other_driver, server.url).open("bob")
    for key in "2012":
        other.judge(key)
    for name in ("", "ann"):
        page.open(name, width=width, path=path, dark=dark)
        if not path and name:
            page.judge("1")
            page.press("n")
        violations = page.run(
            Path(AXE).read_text(encoding="utf-8")
            + "; return axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', "
            "'best-practice']}).then(r => r.violations.map(v => "
            "v.id + ': ' + v.nodes.map(n => n.target).join(' ')))"
        )
        assert violations == []


def test_two_people_get_different_documents_and_settle_differences(page, server, other_driver):
    ann, bob = page.open("ann"), JudgingPage(other_driver, server.url).open("bob")
    documents = {"ann": [], "bob": []}
    while ann.document or bob.document:
        for one, name, key in ((ann, "ann", "1"), (bob, "bob", "2")):
            if one.document:
                documents[name].append((one.text("#query"), one.judge(key)))
                one.settle()
    stored = [*stored_judgments(server.folder)]
    overlap = {j.document for j in stored if j.topic == "t1" and j.source.name == "ann"} & {
        j.document for j in stored if j.topic == "t1" and j.source.name == "bob"
    }
    assert {j.document for j in stored if j.topic == "t1"} == {*DOCUMENTS}
    assert 1 <= len(overlap) <= 12  # the doubled share
    assert len(stored) == sum(map(len, documents.values()))
    eve = page.open("eve", path="adjudicate")
    said = eve.text("#said")
    assert "1 possibly relevant" in said
    assert "2 definitely relevant" in said
    assert "ann" not in said
    while eve.document:
        eve.judge("2")
    settled = {j.document for j in stored_judgments(server.folder) if j.source.version}
    assert overlap <= settled
    assert eve.text("#progress") == "0 documents left where assessors differ"


def test_one_person_in_two_windows_overwrites_nothing(page, server, other_driver):
    one, other = page.open("ann"), JudgingPage(other_driver, server.url).open("ann")
    assert one.document == other.document == "d00"
    one.judge("1")
    other.press("2")
    other.wait("return document.getElementById('alert').textContent.includes('elsewhere')")
    assert _stored(server)["d00", "ann"] == (1, "")
    assert other.pressed() == "1"
    other.judge("2")
    assert _stored(server)["d00", "ann"] == (2, "")


def test_a_server_that_dies_and_returns_loses_nothing(page, server):
    page.open("ann")
    page.judge("1")
    server.kill()
    page.press("2")
    page.wait("return document.getElementById('alert').textContent.includes('not saved yet')")
    assert page.document == "d01"
    server.start()
    page.wait("return document.getElementById('id').textContent === 'd02'")
    assert page.text("#alert") == ""
    assert _stored(server) == {("d00", "ann"): (1, ""), ("d01", "ann"): (2, "")}


def test_single_keys_can_be_switched_off(page, server):
    page.open("ann")
    page.press("?")
    page.find("#single").click()
    page.press(ESCAPE)
    page.press("2u")
    page.find("#grades [data-grade='0']").click()
    page.wait("return document.getElementById('id').textContent === 'd01'")
    assert _stored(server) == {("d00", "ann"): (0, "")}


def test_what_has_the_focus_is_seen_and_everything_is_reached(page):
    page.open("ann")
    reached = set()
    for _ in range(25):
        page.press(TAB)
        reached.add(page.run("return document.activeElement.id || document.activeElement.tagName"))
        width = "return parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
        assert page.run(width) >= 2
    assert {"topics", "keys", "other", "leave", "note", "back", "undo", "SUMMARY"} <= reached
