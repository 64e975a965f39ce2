"""Two people judge 500 documents at once while the server is killed twenty times: nothing is lost.

It prints how long a key takes until the next document is painted; `-s` shows that.
"""

import json
import random
import sqlite3
import sys
import threading
import time

import numpy as np
import pytest
from judged_pools import GRADES, write_small_pool
from judging_page import JudgingPage, Server

from irplatform.judging.store import stored_judgments

pytestmark = pytest.mark.slow
DOCUMENTS, KILLS, TOPICS = 500, 20, 5
DEMO = (
    *(sys.executable, "-m", "irplatform", "judge", "{folder}", "--collection", "demo"),
    *("--grades", ",".join(f"{grade}={text}" for grade, text in GRADES.items())),
    *("--doubled", "0.2", "--port"),
)
RECORD = """
const real = window.fetch, times = window.times = [];
window.acknowledged = [], window.saves = [], window.busy = 0;
window.fetch = async (path, sent) => {
  busy += 1;
  const began = performance.now(), answer = await real(path, sent).finally(() => busy -= 1);
  if (path === 'api/judge') saves.push(performance.now() - began);
  if (answer.ok && 'request' in JSON.parse(sent.body)) {
    const text = answer.text();
    answer.json = () => text.then(JSON.parse);
    text.then((reply) => acknowledged.push([path, JSON.parse(sent.body), JSON.parse(reply)]));
  }
  return answer;
};
let began = 0;
addEventListener('keydown', ({key, timeStamp}) => {
  if ('012c'.includes(key)) began = timeStamp;
}, true);
new MutationObserver(() => requestAnimationFrame(() => {
  const {port1, port2} = new MessageChannel();  // answers once the frame is painted
  port1.onmessage = () => { if (began) times.push(performance.now() - began); began = 0; };
  port2.postMessage(0);
})).observe(document.getElementById('id'), {childList: true, characterData: true, subtree: true});
"""
QUIET = """
const done = arguments[arguments.length - 1], before = arguments[0];
const look = () => (times.length > before || document.getElementById('desk').hidden) && !busy
  ? done() : setTimeout(look, 40);
look();
"""
"""Answers when a key's document is painted."""


class Assessor(threading.Thread):
    """Judges by keys and clicks, changes grades and takes them back, until nothing is left."""

    def __init__(self, page, name, seed, *, varied):
        super().__init__(daemon=True)
        self.page, self.name_, self.varied = page.open(name), name, varied
        self.draw, self.judged, self.error = random.Random(seed), 0, None
        page.run(RECORD)

    def run(self):
        try:
            while self.page.document:
                self.step()
                self.page.settle()
        except BaseException as error:
            self.error = error
            raise

    def step(self):
        move = self.draw.random() if self.varied and self.judged > 2 else 1.0
        if move < 0.04:
            self._answered(lambda: self.page.press("u"))
        elif move < 0.08:
            self.page.press("\ue012")
            pressed = "document.querySelector('[aria-pressed=true]')"
            first = "document.getElementById('status').textContent.startsWith('This is the first')"
            self.page.wait(f"return {pressed} || {first}", 60)  # of a new topic nothing is judged
            if self.page.run(f"return {pressed} !== null"):
                self._answered(lambda: self.page.press(self.draw.choice("012")))
        elif self.varied and move < 0.5:
            grade = self.draw.choice(["0", "1", "2", "none"])
            self._next(self.page.find(f"#grades [data-grade='{grade}']").click)
        else:
            self._next(lambda: self.page.press(self.draw.choice("012c")))

    def _answered(self, act):
        before = self.page.run("return acknowledged.length")
        act()
        self.page.wait(f"return acknowledged.length > {before}", 60)

    def _next(self, act):
        if not self.varied:
            self.page.driver.set_script_timeout(60)
            before = self.page.run("return times.length")
            act()
            self.page.driver.execute_async_script(QUIET, before)
            return
        judged = json.dumps(self.page.text("main:has(#id)"))
        act()
        content = "document.querySelector('main:has(#id)').textContent"
        self.page.wait(
            f"return document.getElementById('desk').hidden || {content} !== {judged}", 60
        )
        self.judged += 1


def _served(served, folder):
    if served == "memory":
        documents = [f"d{n:03}" for n in range(DOCUMENTS // TOPICS)]
        write_small_pool(folder, {f"t{topic}": documents for topic in range(TOPICS)})
        return Server(folder)
    import irplatform

    demo = irplatform.collection("demo")
    documents = [document.id for document in demo.corpus][: DOCUMENTS // TOPICS]
    write_small_pool(folder, {topic.id: documents for topic in demo.topics[:TOPICS]})
    return Server(folder, *(part.format(folder=folder) for part in DEMO))


@pytest.fixture(params=["memory", pytest.param("demo", marks=pytest.mark.java)])
def server(request, tmp_path):
    pytest.importorskip("fastapi")
    server = _served(request.param, tmp_path / "pool").start()
    yield server
    server.kill()


@pytest.fixture
def pages(quick_drivers, server):
    return [JudgingPage(browser, server.url) for browser in quick_drivers]


def test_nothing_that_was_acknowledged_is_lost(server, pages):
    draw = random.Random(69)
    people = [
        Assessor(page, name, seed, varied=True)
        for seed, (page, name) in enumerate(zip(pages, ("ann", "bob"), strict=True))
    ]
    for one in people:
        one.start()
    for count in sorted(draw.sample(range(5, DOCUMENTS - 25), KILLS)):
        while sum(one.judged for one in people) < count and any(one.is_alive() for one in people):
            time.sleep(0.001)
        time.sleep(draw.random() / 10)  # any moment
        server.kill()
        server.start()
    for one in people:
        one.join(300)
        assert one.error is None
    acknowledged = [entry for page in pages for entry in page.run("return acknowledged")]
    with sqlite3.connect(server.folder / "judgments.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT number, topic, document, name, judged, grade FROM history"
        history = {row[0]: row[1:] for row in database.execute(query)}
    acknowledged = [entry for entry in acknowledged if "judge" in entry[0] or entry[2]["card"]]
    clicks = [
        (request, answer["judgment"]) for path, request, answer in acknowledged if "judge" in path
    ]
    lost = [
        request
        for request, judgment in clicks
        if history.get(judgment["number"])
        != (request["topic"], request["document"], request["assessor"], 1, request["grade"])
    ]
    standing = [*stored_judgments(server.folder)]
    print(
        f"\n{len(clicks)} clicks and {len(acknowledged) - len(clicks)} undos acknowledged, "
        f"{len(history)} lines in the history, {KILLS} kills: {len(lost)} judgments lost; "
        f"{len({(j.topic, j.document) for j in standing})} documents judged"
    )
    assert lost == []
    assert len(history) == len(acknowledged)  # no click was written twice, none without an answer
    assert len({(j.topic, j.document) for j in standing}) == DOCUMENTS


@pytest.mark.parametrize("names", [["ann"], ["ann", "bob"]], ids=["alone", "together"])
def test_the_next_document_is_painted_at_once(server, pages, names):
    pages = pages[: len(names)]
    people = [
        Assessor(page, name, 7, varied=False) for page, name in zip(pages, names, strict=True)
    ]
    for one in people:
        one.start()
    for one in people:
        one.join(300)
        assert one.error is None
    for event, name in (("painted document", "times"), ("answer of the server", "saves")):
        times = np.concatenate([page.run(f"return {name}") for page in pages])
        assert len(times) >= DOCUMENTS - 2 * TOPICS
        percentiles = ", ".join(f"p{p} {np.percentile(times, p):.1f}" for p in (50, 90, 99, 100))
        print(f"\n{len(times)} keys, milliseconds to the {event}: {percentiles}")
