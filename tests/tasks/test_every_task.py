"""Each shared task from topics to files to upload: an example of its topics, a run, its checks."""

import gzip
import hashlib
import json
import re

import pytest
import yaml

from irplatform.collections.topic_formats import read_topics
from irplatform.errors import InputError
from irplatform.run_folder.metadata_files import run_metadata
from irplatform.run_folder.metadata_model import Data, Marks, Method
from irplatform.tasks.catalogue.names import known_tasks
from irplatform.tasks.submissions import check_runs, fix_run
from irplatform.tasks.upload import prepare_runs

TASKS = known_tasks()
PATIENT = (
    "A 58-year-old woman with hypertension and obesity presents with two weeks of exercise-related "
    "chest pain that radiates to the left arm."
)
FIELDS = {
    "disease": "melanoma",
    "gene": "BRAF (V600E)",
    "demographic": "64-year-old male",
    "summary": PATIENT,
    "text": PATIENT,
    "query": "coronavirus origin",
    "question": "What is the origin of the virus?",
    "narrative": "Articles about its animal reservoirs.",
    "treatment": "Dabrafenib",
    "title": "Geoffrey Hinton's AI Concerns",
    "background": "I am a college student who has seen articles about warnings.",
    "problem_statement": "This report should explain who he is.",
}
QUESTIONNAIRE = '<field name="definitive diagnosis">open-angle</field><field name="age"></field>'
DOCUMENTS = {
    "[1-9][0-9]*|(AACR|ASCO)_[A-Za-z0-9-]+": ["26088450", "AACR_2013-2446", "ASCO_88365-115"],
    "[1-9][0-9]*": ["26088450", "20647770", "21792199"],
    "[1-9][0-9]{0,8}": ["26088450", "20647770", "21792199"],
    "NCT[0-9]+": ["NCT02332980", "NCT00001234", "NCT01512745"],
    "[0-9]{5,}": ["3245678", "2987654", "1234567"],
    "[a-z0-9]{8}": ["ug7v899j", "02tnwd4m", "ejv2xln0"],
    r"msmarco_v2\.1_doc_[0-9]+_[0-9]+#[0-9]+_[0-9]+": [
        f"msmarco_v2.1_doc_51_766815931#{n}_160687841{n}" for n in range(3)
    ],
    "shard_[0-9]+_[0-9]+": [f"shard_00459_6169{n}" for n in range(3)],
    None: ["doc1", "doc2", "doc3"],
}
"""The form of ids → documents of that form."""


def topics_of(task):
    number = task.rules.topics or 3
    return list(task.topic_ids) or [f"q{n}" for n in range(1, number + 1)]


def topics_file(task, folder):
    """An example of the task's topics, in its format."""
    ids = topics_of(task)
    match task.rules.topic_format:
        case "trec-pm":
            parts = re.findall(r"{(\w+)}", task.rules.query)
            inside = FIELDS["text"] if parts == ["text"] else ""
            fields = [p for p in parts if p in FIELDS and p != "text"]
            inside += "".join(f"<{p}>{FIELDS[p]}</{p}>" for p in fields)
            about = ' template="glaucoma"' if "template" in parts else ""
            inside += QUESTIONNAIRE if about else ""
            topics = "".join(f'<topic number="{topic}"{about}>{inside}</topic>\n' for topic in ids)
            text = f'<?xml version="1.0"?>\n<topics>\n{topics}</topics>\n'
        case "tsv":
            text = "".join(f"{topic}\thow often should you take a toddler out\n" for topic in ids)
        case "jsonl":
            names = [p for p in re.findall(r"{(\w+)}", task.rules.query) if p in FIELDS]
            texts = {name: FIELDS[name] for name in names if len(names) > 1}
            texts = texts or {"title": "I try to understand how it began."}
            key = "request_id" if len(names) > 1 else "id"
            entries = [{key: topic, **texts, "limit": 2000} for topic in ids]
            text = "".join(json.dumps(entry) + "\n" for entry in entries)
        case "biogen":
            entries = [
                {"id": int(topic), "topic": "sleep apnea", "question": "How?", "narrative": "Ways."}
                for topic in ids
            ]
            text = json.dumps({"topics": entries}, indent=1)
        case "bioasq":
            questions = [{"id": topic, "body": "What is BRAF?", "type": "factoid"} for topic in ids]
            text = json.dumps({"questions": questions})
    path = folder / "topics"
    path.write_text(text, encoding="utf-8")
    return path


def submission(task, tag):
    """A run of the task, or answers in its form."""
    documents = DOCUMENTS[task.rules.documents]
    ids = topics_of(task)
    said = {"text": "It is so.", "citations": documents}
    identity = {"team_id": "us", "run_id": tag}
    match task.form:
        case "biogen-2024":
            answer = f"It is so [{', '.join(documents)}]."
            results = [{"topic_id": q, "answer": answer, "references": documents} for q in ids]
            head = {"team_id": "us", "run_name": tag, "contact_email": "us@example.org"}
            return json.dumps({**head, "results": results})
        case "biogen-a":
            cited = {"supported_citations": documents, "contradicted_citations": []}
            entries = [
                {"metadata": {**identity, "qa_id": q}, "answer": [{"text": "So.", **cited}]}
                for q in ids
            ]
            return "".join(json.dumps(entry) + "\n" for entry in entries)
        case "biogen-b":
            entries = [{"metadata": {**identity, "topic_id": q}, "responses": [said]} for q in ids]
            return "".join(json.dumps(entry) + "\n" for entry in entries)
    return "".join(
        f"{topic} Q0 {document} {rank} {9.5 - rank} {tag}\n"
        for topic in ids
        for rank, document in enumerate(documents, start=1)
    )


def beside(path):
    """Metadata of a run, as `platform run` writes them."""
    steps = [{"retriever": "bm25", "options": {"k1": 0.9, "b": 0.4}}]
    metadata = run_metadata(
        tag="us1",
        command="platform run --collection c --tag us1",
        data=Data(test_collection=Marks(name="c"), training_data=Marks(name="none")),
        method=Method(retrieval=steps, settings={"depth": 1000}),
        timings={},
    )
    path.with_name(f"{path.name}.meta.json").write_text(json.dumps(metadata.content()))


@pytest.fixture
def team(monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TEAM", "us")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/code")


@pytest.mark.parametrize("task", TASKS.values(), ids=[*TASKS])
def test_a_task_from_its_topics_to_files_to_upload(tmp_path, task, team):
    topics = None
    if task.rules.topic_format:
        topics = topics_file(task, tmp_path)
        read = read_topics(topics, task.rules.topic_format, task.rules.query)
        assert [topic.id for topic in read] == topics_of(task)
    paths = []
    for number in range(len(task.rules.snapshots or [""])):
        paths.append(tmp_path / f"{number}.run")
        paths[-1].write_text(submission(task, "us1"))
        if task.form == "trec":
            beside(paths[-1])
    for path, check in check_runs(paths, task=task.name, topics=topics).items():
        assert not check.refused, (path, check.problems)
    out = tmp_path / "upload"
    upload = prepare_runs(paths, out, task=task.name, topics=topics)
    files = [str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()]
    assert sorted(upload["files"]) == sorted(files)
    for line in (out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    described = (out / "runs.md").read_text()
    assert described.startswith(f"# Runs for {task.title}\n\n## ")
    others = ("yml", "md", "SUMS")
    runs = [out / name for name in upload["files"] if not name.endswith(others)]
    if task.form == "trec":
        assert "bm25 finds 1,000 documents per topic." in described
        assert "| command | `platform run --collection c --tag us1` |" in described
        (about,) = (name for name in upload["files"] if name.endswith("ir-metadata.yml"))
        assert yaml.safe_load((out / about).read_text())["actor"]["team"] == "us"
        packed = [
            gzip.decompress(r.read_bytes()) if r.suffix == ".gz" else r.read_bytes() for r in runs
        ]
        assert packed == [path.read_bytes() for path in paths]  # it was in the task's form
    again = check_runs(runs, task=task.name, topics=topics)
    assert [check.refused for check in again.values()] == [False] * len(runs)


@pytest.mark.parametrize("name", ["bioasq-14b-a", "trec-biogen-2025-a", "trec-biogen-2025-b"])
def test_json_is_written_in_the_tasks_form(tmp_path, name):
    task = TASKS[name]
    (tmp_path / "us1").write_text(submission(task, "us1"))
    topics = topics_file(task, tmp_path)
    prepare_runs(tmp_path / "us1", tmp_path / "up", task=name, topics=topics)
    if name == "bioasq-14b-a":
        first, *_ = json.loads((tmp_path / "up" / "us1.json").read_text())["questions"]
        assert first["documents"][0] == "http://www.ncbi.nlm.nih.gov/pubmed/26088450"
        assert first["body"] == "What is BRAF?"
        return
    lines = (tmp_path / "up" / "us1").read_text().splitlines()
    assert len(lines) == task.rules.topics
    assert all(line.startswith('{"metadata"') for line in lines)


@pytest.mark.parametrize(
    ("task", "runs", "message"),
    [
        ("trec-ct-2021", {"a.run": "1 Q0 NCT1 1 1 us1\n"}, "74 of 75 topics have no results"),
        ("trec-covid-round1", {f"{n}.run": "" for n in range(4)}, "at most 3 runs of a group"),
        ("longeval-2025-sci", {"a.run": ""}, "takes a run for each of 2024-11, 2025-01; these are"),
        ("trec-biogen-2025-b", {"a.run": "181 Q0 1 1 1 us1\n"}, "takes answers: BioGen: a line"),
    ],
)
def test_what_would_be_refused_is_not_prepared(tmp_path, task, runs, message):
    paths = []
    for name, content in runs.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(content)
    with pytest.raises(InputError, match=message):
        prepare_runs(paths, tmp_path / "up", task=task)
    assert not (tmp_path / "up").exists()


def test_two_runs_with_one_tag_and_runs_without_metadata_are_told(tmp_path, team, monkeypatch):
    task = TASKS["trec-ct-2021"]
    for name in ("a", "b"):
        (tmp_path / name).write_text(submission(task, "us1"))
    with pytest.raises(InputError, match="two runs have the tag 'us1'"):
        prepare_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "up", task=task.name)
    prepare_runs(tmp_path / "a", tmp_path / "up", task=task.name)
    assert "How this run was made is not recorded." in (tmp_path / "up" / "runs.md").read_text()
    with pytest.raises(InputError, match="runs were prepared here before"):
        prepare_runs(tmp_path / "b", tmp_path / "up", task=task.name)
    (tmp_path / "up" / "old").touch()
    prepare_runs(tmp_path / "b", tmp_path / "up", task=task.name, force=True)
    assert not (tmp_path / "up" / "old").exists()
    with monkeypatch.context() as patch, pytest.raises(InputError, match="that you are in"):
        patch.chdir(tmp_path / "up")
        prepare_runs(tmp_path / "b", ".", task=task.name, force=True)
    (tmp_path / "up" / "runs.md").unlink()  # a folder of something else
    with pytest.raises(InputError, match="this exists already"):
        prepare_runs(tmp_path / "b", tmp_path / "up", task=task.name, force=True)
    longeval = TASKS["longeval-2025-sci"]
    paths = [tmp_path / "0", tmp_path / "1"]
    for path in paths:
        path.write_text(submission(longeval, "us1"))
    with pytest.raises(InputError, match=r"there is no 0\.meta\.json or ir-metadata\.yml beside"):
        prepare_runs(paths, tmp_path / "up2", task=longeval.name)


@pytest.mark.real
def test_the_official_runs_are_accepted_repaired_and_prepared(tmp_path, test_data):
    data = test_data / "trec-pm"
    runs = sorted((data / "runs").glob("*.gz"))
    qrels = data / "qrels" / "qrels-treceval-abstracts.2017.txt"
    topics = data / "topics" / "topics2017.xml"
    for path, check in check_runs(runs, task="trec-pm-2017", topics=topics, qrels=qrels).items():
        assert not check.refused, (path, check.problems)
        assert check.topics == 30
        assert [tie.split()[0] for tie in check.tied] == ["infNDCG", "AP"]
        assert "AP by less than 0.0001 in " in check.tied[1]
    for path in runs:
        fixed = fix_run(path, tmp_path / f"{path.name}.fixed", task="trec-pm-2017")
        assert {*fixed.repair.changed} == {
            "rank, from the score"
        }  # of ties, as trec_eval orders them
        assert not fixed.repair.left_out
    upload = prepare_runs(runs, tmp_path / "up", task="trec-pm-2017", topics=topics)
    assert upload["files"] == ["mugpubbase", "mugpubboost", "runs.md", "SHA256SUMS"]
