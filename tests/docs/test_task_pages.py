"""The pages of shared tasks run from topics to an upload: files as shown, commands in order."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest
from commands import call
from pages import DOCS, FENCE, ROOT

from irplatform.tasks.catalogue.files import read_tasks
from irplatform.tasks.catalogue.names import known_tasks
from irplatform.tasks.catalogue.rules import RULES

_TITLED = re.compile(r'toml title="(.+)"')
TEXTS = ["A trial of sleep apnea", "Melanoma with BRAF", "How often to take a toddler out"]


def _every_task():
    path = ROOT / "tests" / "tasks" / "test_every_task.py"
    spec = importlib.util.spec_from_file_location("every_task_of_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _page(name):
    """The files that a page shows, and its commands."""
    files, commands = {}, []
    for fence in FENCE.finditer((DOCS / name).read_text(encoding="utf-8")):
        if titled := _TITLED.fullmatch(fence["info"].strip()):
            files[titled[1]] = fence["body"]
        if fence["info"].strip() == "sh":
            commands += [line for line in fence["body"].splitlines() if line.startswith("platform")]
    return files, commands


def _documents(path, ids, keys):
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [
        dict(zip(keys, (i, f"Title {i}", t), strict=True)) for i, t in zip(ids, TEXTS, strict=True)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def _run(capsys, monkeypatch, commands):
    for command in commands:
        result = call(capsys, monkeypatch, *shlex.split(command)[1:])
        assert result.code == 0, f"{command}\n{result.out}{result.err}"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.java
@pytest.mark.parametrize(
    ("page", "name", "topics", "documents", "keys", "uploads"),
    [
        (
            "tasks-trec.md",
            "trec-ct-2021",
            "topics2021.xml",
            "trials.jsonl",
            ("nct_id", "title", "summary"),
            ["mygroup1", "mygroup2"],
        ),
        (
            "tasks-rag.md",
            "trec-rag-2026-retrieval",
            "trec_rag_2026_queries.tsv",
            "climbmix-corpus.jsonl",
            ("id", "title", "contents"),
            ["r_output_trec_rag_2026.tsv"],
        ),
    ],
)
def test_runs_of_trec(place, capsys, monkeypatch, page, name, topics, documents, keys, uploads):
    tasks = _every_task()
    task = known_tasks()[name]
    files, commands = _page(page)
    for file, text in files.items():
        Path(file).write_text(text.replace(".json.gz", ".json"))
    tasks.topics_file(task, place).rename(topics)
    _documents(Path(documents), tasks.DOCUMENTS[task.rules.documents], keys)
    text = Path(topics).read_text().replace(tasks.PATIENT, "sleep apnea or melanoma")
    Path(topics).write_text(text.replace("understand how it", "take a toddler to where it"))
    _run(capsys, monkeypatch, commands)
    assert {*uploads, "SHA256SUMS", "runs.md"} <= {path.name for path in Path("upload").iterdir()}


@pytest.mark.java
def test_snapshots_of_longeval(place, capsys, monkeypatch):
    files, commands = _page("tasks-longeval.md")
    ((_, declaration),) = files.items()
    for number in (1, 2, 3):
        text = declaration.replace("longeval-2026-1", f"longeval-2026-{number}")
        text = text.replace("snapshot-1", f"snapshot-{number}")
        Path(f"snapshot-{number}.toml").write_text(text)
        folder = Path(f"snapshot-{number}")
        _documents(folder / "documents" / "a.jsonl", [1, 2, 3], ("id", "title", "abstract"))
        queries = "".join(f"{q}\tmelanoma or sleep apnea\n" for q in (7, 8, 9))
        (folder / "queries.txt").write_text(queries)
    _run(capsys, monkeypatch, commands)
    uploads = sorted(str(p.relative_to("upload")) for p in Path("upload").rglob("*") if p.is_file())
    assert uploads == [
        *("SHA256SUMS", "ir-metadata.yml", "runs.md"),
        *(f"snapshot-{number}/run.txt.gz" for number in (1, 2, 3)),
    ]


PUBMED = """
id = "pubmed"
[documents]
files = ["docs.jsonl"]
[topics]
file = "topics.jsonl"
format = "jsonl"
"""


@pytest.mark.java
def test_answers_to_biogen(place, capsys, monkeypatch):
    task = known_tasks()["trec-biogen-2025-b"]
    said = [{"text": "Sleep apnea is treated."}, {"text": "BRAF matters in melanoma."}]
    sentences = [{"metadata": {"topic_id": t}, "responses": said} for t in task.topic_ids]
    Path("sentences.json").write_text(json.dumps(sentences))
    Path("pubmed.toml").write_text(PUBMED)
    Path("topics.jsonl").write_text('{"id": "181", "query": "melanoma"}\n')
    _documents(
        Path("docs.jsonl"), ["26088450", "20647770", "21792199"], ("id", "title", "abstract")
    )
    _run(capsys, monkeypatch, _page("tasks-biogen.md")[1])
    uploads = sorted(path.name for path in Path("upload").iterdir())
    assert uploads == ["SHA256SUMS", "mygroup1", "runs.md"]
    (first, *_) = Path("upload/mygroup1").read_text().splitlines()
    cited = [response["citations"] for response in json.loads(first)["responses"]]
    assert [citations[:1] for citations in cited] == [[26088450], [20647770]]


@pytest.mark.java
def test_answers_to_bioasq(place, capsys, monkeypatch):
    files, commands = _page("tasks-bioasq.md")
    ((name, declaration),) = files.items()
    documents = '[documents]\nfiles = ["docs.jsonl"]\n\n[topics]'
    Path(name).write_text(
        re.sub(r"\[documents\].*?\[topics\]", documents, declaration, flags=re.DOTALL)
    )
    pmids = ["26088450", "20647770", "21792199"]
    _documents(Path("docs.jsonl"), pmids, ("id", "title", "abstract"))
    bodies = [("q1", "What is sleep apnea?"), ("q2", "Does BRAF matter in melanoma?")]
    questions = [{"id": q, "body": body, "type": "summary"} for q, body in bodies]
    Path("BioASQ-task14bPhaseA-testset1.json").write_text(json.dumps({"questions": questions}))
    address = "http://www.ncbi.nlm.nih.gov/pubmed/"
    golden = [
        {**question, "documents": [address + pmid], "snippets": []}
        for question, pmid in zip(questions, pmids, strict=False)
    ]
    Path("14B1_golden.json").write_text(json.dumps({"questions": golden}))
    _run(capsys, monkeypatch, commands)
    uploads = sorted(path.name for path in Path("upload").iterdir())
    assert uploads == ["SHA256SUMS", "mysystem1.json", "runs.md"]
    first, second = json.loads(Path("upload/mysystem1.json").read_text())["questions"]
    assert first["documents"][0] == address + pmids[0]
    assert second["snippets"][0]["document"] == address + pmids[1]


def test_the_task_of_ones_own_is_one(place):
    page = (DOCS / "shared-tasks.md").read_text(encoding="utf-8").partition("## Your own task")[2]
    (declaration,) = (fence["body"] for fence in FENCE.finditer(page) if fence["info"] == "toml")
    Path("own.toml").write_text(declaration)
    (task,) = read_tasks(Path("own.toml"))
    assert (task.name, task.rules.depth, task.sources["runs"].title) == (
        "my-task-2027",
        500,
        "Call for participation",
    )
    mentions = set(re.findall(r"`(\w+)`", page))
    assert set(RULES) <= mentions


@pytest.mark.parametrize("page", sorted(DOCS.glob("tasks-*.md")), ids=lambda page: page.name)
def test_a_page_is_short(page):
    assert len(FENCE.sub("", page.read_text(encoding="utf-8")).split()) <= 300
