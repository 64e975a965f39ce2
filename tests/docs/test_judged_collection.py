"""docs/judging.md: from runs to a judged collection, command by command."""

import shlex

import pytest
from commands import call
from pages import DOCS

from irplatform.experiment.arguments import collection
from irplatform.judging.judgments import Judgment, Source, write_judgments
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.store import Store

PAGE = (DOCS / "judging.md").read_text(encoding="utf-8")
ANN, BOB = Source("person", "ann"), Source("person", "bob")
LLM = Source("machine", "llm", "gpt-x 1 fitted-on:41")


@pytest.fixture
def page_command(tmp_path, monkeypatch, capsys):
    """Run a command that stands on the page."""
    monkeypatch.chdir(tmp_path)

    def run(command, *more):
        assert command in PAGE, f"the page does not tell of {command}"
        result = call(capsys, monkeypatch, *shlex.split(command)[1:], *more)
        assert result.code == 0, result.err
        return result

    return run


def judge(folder):
    """What clicks on the page of `platform judge` write: Ann judges all, Bob a tenth."""
    pool, truth = read_pool(folder), collection("demo").qrels
    with Store.open(folder, pool.id) as store:
        for topic in pool.topics:
            for place, item in enumerate(pool.items(topic)):
                grade = truth[topic].get(item.document, 0)
                for source in (ANN, BOB)[: 1 + (place % 10 == 0)]:
                    request = f"{topic} {item.document} {source}"
                    store.judge(topic, item.document, source, grade, request=request)
    machine = [
        Judgment(topic, document, min(grade + len(document) % 2, 2), LLM)
        for topic, grades in truth.items()
        for document, grade in grades.items()
    ]
    write_judgments(folder / "llm.jsonl", machine)


@pytest.mark.java
def test_runs_become_a_judged_collection(page_command, tmp_path, monkeypatch, capsys):
    run = ("run", "--collection", "demo", "--first-stage", "bm25+qld+rm3", "--run-dir", "runs/demo")
    assert call(capsys, monkeypatch, *run).code == 0
    page_command("platform qrels pool runs/demo -o pool --depth 10")
    judge(tmp_path / "pool")
    options = ("--measure", "nDCG@10", "--json")
    by_pool = page_command("platform evaluate --qrels pool runs/demo", *options)
    assert "of machines (llm gpt-x 1)" in by_pool.err
    page_command("platform qrels write pool -o qrels.txt")
    again = call(capsys, monkeypatch, "evaluate", "--qrels", "qrels.txt", "runs/demo", *options)
    assert again.json == by_pool.json
    pool = read_pool(tmp_path / "pool")
    lines = (tmp_path / "qrels.txt").read_text().splitlines()
    assert len(lines) == pool.placed
    compared = page_command(
        "platform compare --qrels pool runs/demo --sources people-first", *options
    ).json
    machine = [system["measures"]["nDCG@10"]["machine_judged"] for system in compared["systems"]]
    assert machine == [0.0] * 4  # people judged the first ten of all runs
    agreed = page_command("platform agree pool", "--runs", "runs/demo", "--samples", "100")
    assert "llm gpt-x 1 against people" in agreed.out
    assert "People among themselves: alpha, ordinal, 1.000" in agreed.out
    assert "without 1 topic that llm was fitted on" in agreed.err
