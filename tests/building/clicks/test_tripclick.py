"""TripClick, a health search engine's click log, works by its ir_datasets id.

Its files are had on request only: small ones in the official formats stand in for them.
"""

import io
import json
import os
import subprocess
import sys
import tarfile

import pytest

PROGRAM = """
import json
from irplatform.registry.loading import registry
collection = registry().collection("tripclick/val/head/dctr")
training = collection.training()
print(json.dumps({
    "documents": [[d.id, d.title, d.abstract, dict(d.fields)] for d in collection.corpus],
    "topics": [[t.id, t.query] for t in collection.load_topics()],
    "qrels": collection.load_qrels(),
    "training": [training.id, training.load_qrels(), [t.id for t in training.load_topics()]],
}))
"""


@pytest.fixture
def tripclick_home(tmp_path):
    """A cache of ir_datasets that holds a tiny benchmark.tar.gz."""
    documents = [
        f"<DOC>\n<DOCNO>{i}</DOCNO>\n<TITLE>Title {i}</TITLE>\n<URL>http://example.org/{i}</URL>\n"
        f"<TEXT>\nText {i}\n</TEXT>\n</DOC>\n"
        for i in range(3)
    ]
    topic = "<top>\n\n<num> Number: {0}\n<title> query {0}\n\n<desc> Description:\n\n</top>\n"
    files = {"documents/docs_grp_00.txt": "".join(documents)}
    for split, number, grades in (("train", 1, "3 0"), ("val", 2, "1 2")):
        files[f"topics/topics.head.{split}.txt"] = topic.format(number)
        files[f"qrels/qrels.dctr.head.{split}.txt"] = "".join(
            f"{number} 0 {doc} {grade}\n" for doc, grade in enumerate(grades.split())
        )
    path = tmp_path / "irds/tripclick/benchmark.tar.gz"
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"benchmark/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    return tmp_path / "irds"


def test_tripclick_is_a_graded_collection_whose_training_clicks_train(tripclick_home):
    # In a process of its own: the library settles where its cache lies when it is imported.
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "IR_DATASETS_HOME": str(tripclick_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    output = json.loads(process.stdout)
    assert output["documents"][1] == ["1", "Title 1", "Text 1\n", {"url": "http://example.org/1"}]
    assert output["topics"] == [["2", "query 2"]]
    assert output["qrels"] == {"2": {"0": 1, "1": 2}}
    assert output["training"] == ["tripclick-train-head-dctr", {"1": {"0": 3, "1": 0}}, ["1"]]
