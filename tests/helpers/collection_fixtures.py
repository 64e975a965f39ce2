"""A small collection in BEIR layout, and one described by a TOML file, to be broken at will."""

import gzip
import json
from pathlib import Path

import pytest

DOCUMENTS = [
    {"_id": "d1", "title": "Crizotinib in lung cancer", "text": "ALK.", "metadata": {"year": 2013}},
    {"_id": "d2", "title": "", "text": "A case of liposarcoma.", "metadata": {}},
    {"_id": "d3", "title": "Mice", "text": "", "metadata": {"mesh": ["Animals", "Mice"]}},
]
QUERIES = [
    {"_id": "q1", "text": "crizotinib", "metadata": {"url": "http://example.org/1"}},
    {"_id": "q2", "text": "liposarcoma"},
    {"_id": "q3", "text": "mice"},
]
QRELS = {"train": "q1\td1\t2\n", "dev": "q2\td2\t1\nq2\td3\t0\n", "test": "q3\td3\t1\n"}


@pytest.fixture
def write():
    """Write text, compressed if the name ends in .gz."""

    def write(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
        return path

    return write


@pytest.fixture
def json_lines(write):
    """Write objects, one a line."""
    return lambda path, records: write(path, "".join(json.dumps(r) + "\n" for r in records))


@pytest.fixture
def beir_folder(tmp_path, write, json_lines):
    """Build a folder in BEIR layout with the given splits."""

    def build(*splits: str, name: str = "small", suffix: str = "") -> Path:
        folder = tmp_path / name
        json_lines(folder / f"corpus.jsonl{suffix}", DOCUMENTS)
        json_lines(folder / f"queries.jsonl{suffix}", QUERIES)
        for split in splits:
            text = f"query-id\tcorpus-id\tscore\n{QRELS[split]}"
            write(folder / "qrels" / f"{split}.tsv", text)
        return folder

    return build


TOML = """\
id = "pm"
title = "A pool"
measures = ["P@10"]
[documents]
files = ["docs/a.jsonl", "docs/b.jsonl.gz"]
fields = ["mesh"]
[topics]
file = "topics.xml"
format = "trec-pm"
query = "{disease} {gene}"
[qrels]
file = "qrels.txt"
sampled = "sampled.txt"
"""
TOPICS = """\
<topics task="2017">
  <topic number="1">
    <disease>Liposarcoma</disease>
    <gene>CDK4 Amplification</gene>
  </topic>
  <topic number="2"><disease>Lung cancer</disease><gene>EGFR &lt;L858R&gt;</gene>
    <other>None</other></topic>
</topics>
"""


@pytest.fixture
def toml_collection(tmp_path, write, json_lines):
    """Build a folder with `collection.toml`; `text` replaces the declaration."""

    def build(text: str = TOML, name: str = "pool") -> Path:
        folder = tmp_path / name
        json_lines(folder / "docs/a.jsonl", [{"id": "1", "title": "One", "mesh": ["Humans"]}])
        json_lines(folder / "docs/b.jsonl.gz", [{"id": "2", "abstract": "Two", "extra": 5}])
        write(folder / "topics.xml", TOPICS)
        write(folder / "qrels.txt", "1 0 1 2\n2 0 2 0\n")
        write(folder / "sampled.txt", "1 0 1 1 2\n")
        return write(folder / "collection.toml", text)

    return build


@pytest.fixture
def declaration() -> str:
    """The text of the TOML file."""
    return TOML


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """Seconds that were waited between attempts; nobody really waits."""
    noted: list[float] = []
    monkeypatch.setattr("irplatform.system.web.time.sleep", noted.append)
    return noted
