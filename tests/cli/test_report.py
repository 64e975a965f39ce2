"""`platform report`: the file it writes, and what it refuses."""

import json
import re

import pytest
from report_data import write_collection, write_runs

from irplatform import write_report
from irplatform.runs import read_run


@pytest.fixture(autouse=True)
def data(folder):
    write_collection(folder / "cancers")
    write_runs(folder / "runs")


RUNS = ("runs/base.run", "runs/other.run", "runs/third.run")
REPORT = ("report", *RUNS, "--collection", "cancers:dev", "--measure", "nDCG@10,RR", "--no-bounds")


def data_of(page):
    return json.loads(re.search('id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_report_has_titles_of_the_collection(platform, folder):
    said = platform(*REPORT, "--title", "Mine", "--depth", "20")
    assert re.fullmatch(r"report\.html \(1\.\d MB\)\n", said.out)
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = data_of(page)
    assert "<title>Mine</title>" in page
    assert (data["systems"], data["depth"]) == (["base", "other", "third"], 20)
    assert data["titles"][data["ids"].index("d1")] == "The heart, 1"
    assert "cancer" in data["topics"][1]["words"]
    assert "platform report runs/base.run" in page


def test_judgments_alone_give_a_report_without_titles(platform, folder):
    lines = (folder / "cancers/qrels/dev.tsv").read_text().splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    (folder / "qrels.txt").write_text("".join(f"{t} 0 {d} {g}\n" for t, d, g in rows))
    said = platform("report", *RUNS, "--qrels", "qrels.txt", "--html", "x.html", "--no-bounds")
    assert said.code == 0
    page = (folder / "x.html").read_text(encoding="utf-8")
    assert set(data_of(page)["titles"]) == {""}
    assert "without a collection ids are all" in page


def test_a_folder_stands_for_its_runs_and_metadata_name_the_collection(platform, folder):
    for name in ("base", "other", "base-alone"):
        if name == "base-alone":
            (folder / "runs/base-alone.run").write_text((folder / "runs/base.run").read_text())
        settings = {"collection": str(folder / "cancers:dev")}
        metadata = {"implementation": {"call": {"settings": settings}}}
        (folder / f"runs/{name}.run.meta.json").write_text(json.dumps(metadata))
    assert platform("report", "runs", "--measure", "RR", "--no-bounds").code == 0
    data = data_of((folder / "runs/report.html").read_text(encoding="utf-8"))
    assert data["systems"] == ["base", "other", "third"]
    entries = [{"path": "runs/third.run"}, {"path": "runs/base.run"}]
    (folder / "runs/report.json").write_text(json.dumps({"runs": entries}))
    assert platform("report", "runs", "--measure", "RR", "--no-bounds").code == 0  # replaced
    data = data_of((folder / "runs/report.html").read_text(encoding="utf-8"))
    assert data["systems"] == ["third", "base"]


def test_runs_of_some_topics_are_compared_over_these(platform, folder):
    for name in ("base", "other"):
        data = {"topics chosen": {"asked": ["first:3", "t7"]}}
        (folder / f"runs/{name}.run.meta.json").write_text(json.dumps({"data": data}))
    said = platform(*REPORT[:3], *REPORT[4:])
    notice = (
        "A quick look: 4 of 12 topics, those of base, other. Not comparable with scores over all"
    )
    assert notice in said.err
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert [topic["id"] for topic in data_of(page)["topics"]] == ["t0", "t1", "t2", "t7"]
    assert notice in page
    assert notice in platform(*REPORT).err
    page = (folder / "report.html").read_text(encoding="utf-8")  # the third ranks all topics
    assert [topic["id"] for topic in data_of(page)["topics"]] == ["t0", "t1", "t2", "t7"]


def test_another_file_is_not_replaced(platform, folder):
    (folder / "report.html").write_text("<html>mine</html>")
    said = platform(*REPORT)
    assert said.code == 2
    assert "this file exists and is no report" in said.err
    assert platform(*REPORT, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topics", "t1", "--reranker", "bm25-text"), "all topics"),
        (("--collection", "demo", "--reranker", "bm25-text"), "one collection"),
        ((), "there is nothing to compare"),
    ],
)
def test_a_run_says_before_it_begins_that_it_can_write_no_report(platform, arguments, message):
    said = platform("run", "--collection", "cancers:dev", "--html", "x.html", *arguments)
    assert (said.code, message in said.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("runs/base.run",), "a report compares at least two runs"),
        (("runs/nothere.run",), "runs/nothere.run: there is no such file."),
        (RUNS, "give --collection or --qrels"),
        (("cancers",), "there are no run files (*.run) in this folder"),
        ((*RUNS, "--all-pairs", "--baseline", "base"), "exclude each other"),
    ],
)
def test_mistakes_are_told_in_a_line(platform, folder, arguments, message):
    said = platform("report", *arguments)
    assert said.code == 2
    assert message in said.err
    assert not (folder / "report.html").exists()


def test_runs_in_memory_are_named_by_a_mapping(folder):
    runs = {"first": read_run(folder / RUNS[0]), "second": folder / RUNS[1]}
    path = write_report(
        runs, "x.html", collection=str(folder / "cancers:dev"), measures="RR", bounds=False
    )
    page = path.read_text(encoding="utf-8")
    assert data_of(page)["systems"] == ["first", "second"]
    qrels = {f"t{n}": {"d1": 1, "d2": 0} for n in range(12)}
    of_judgments = write_report(runs, "y.html", qrels=qrels, measures="RR", bounds=False)
    assert "<h1>given judgments: first, second</h1>" in of_judgments.read_text(encoding="utf-8")
    assert "in memory, of a program in Python" in page
