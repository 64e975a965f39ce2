"""Vectors of other programs are read, and ours are written so that others rank alike."""

import gzip
import io
import json

import numpy as np
import pytest
from scipy.sparse import random

import irplatform as ir
from irplatform.errors import InputError
from irplatform.lucene.java import anserini_program, java_class
from irplatform.postings.sparse_index import SparseIndex
from irplatform_encoders.sparse.ciff import CiffFile, write_ciff
from irplatform_encoders.sparse.export import check_name, export
from irplatform_encoders.sparse.json_vectors import read_queries, read_vectors

NAME = "sparse-encoder"
VECTORS = {"d1": {"lung": 120, "cancer": 87}, "d2": {"cancer": 255}, "d3": {}, "d4": {"dose": 1}}
TOPICS = {"q1": "cancer", "q2": "dose"}


def line(doc_id, vector, **more):
    return json.dumps({"id": doc_id, "contents": "", "vector": vector, **more}) + "\n"


def write_json(path, vectors=VECTORS):
    text = "".join(line(doc_id, vector) for doc_id, vector in vectors.items())
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def write_ciff_file(path, vectors=VECTORS):
    words = sorted({word for vector in vectors.values() for word in vector})
    postings = []
    for word in words:
        places = [n for n, vector in enumerate(vectors.values()) if vector.get(word)]
        weights = [[*vectors.values()][place][word] for place in places]
        postings.append((word, np.array(places), np.array(weights)))
    content = io.BytesIO()
    write_ciff(content, [*vectors], lambda: postings, description="a test")
    content = content.getvalue()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_folder(path):
    path.mkdir()
    part = dict([*VECTORS.items()][:2])
    write_json(path / "a.jsonl", part)
    rest = [{"id": d, "vector": v} for d, v in VECTORS.items() if d not in part]
    (path / "b.json").write_text(json.dumps(rest))
    (path / "README").write_text("not read")
    return path


FORMS = {
    "v.jsonl": write_json,
    "v.jsonl.gz": write_json,
    "v.ciff": write_ciff_file,
    "v.ciff.gz": write_ciff_file,
    "folder": write_folder,
}


@pytest.fixture
def collection(tmp_path, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    folder = tmp_path / "small"
    (folder / "qrels").mkdir(parents=True)
    with (folder / "corpus.jsonl").open("w") as file:
        for doc_id in VECTORS:
            file.write(json.dumps({"_id": doc_id, "title": "", "text": f"text {doc_id}"}) + "\n")
    with (folder / "queries.jsonl").open("w") as file:
        for topic, text in TOPICS.items():
            file.write(json.dumps({"_id": topic, "text": text}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td3\t2\n")
    return folder


def settings(vectors, queries):
    return {
        f"{NAME}.vectors": str(vectors),
        f"{NAME}.queries": str(queries),
    }


@pytest.mark.java
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("queries", ["tsv", "jsonl"])
def test_vectors_and_topics_of_others_are_searched_without_a_model(
    tmp_path, collection, form, queries
):
    vectors = FORMS[form](tmp_path / form)
    topics = tmp_path / f"topics.{queries}"
    if queries == "tsv":
        topics.write_text("q1\tcancer cancer lung\nq2\tdose unknown\n")
    else:
        topics.write_text(line("q1", {"cancer": 2, "lung": 1}) + line("q2", {"dose": 1.0}))
    options = settings(vectors, topics)
    result = ir.search(collection, topic="q1", retriever=NAME, settings=options)
    assert [(hit["id"], hit["score"]) for hit in result["hits"]] == [("d2", 510), ("d1", 294)]
    result = ir.search(collection, topic="q2", retriever=NAME, settings=options, explain=True)
    assert [hit["id"] for hit in result["hits"]] == ["d4"]
    assert result["explanation"] == {"words": {"dose": 1.0}}


@pytest.mark.java
def test_words_have_no_vector_in_a_file_of_topics(tmp_path, collection):
    vectors = write_json(tmp_path / "v.jsonl")
    (tmp_path / "t.tsv").write_text("q1\tcancer\nq2\tdose\n")
    options = settings(vectors, tmp_path / "t.tsv")
    with pytest.raises(InputError, match="Words and other topics need a model"):
        ir.search(collection, "cancer", retriever=NAME, settings=options)


@pytest.mark.java
def test_vectors_of_unknown_documents_are_told_and_left_out(tmp_path, collection, capfd):
    weights = {"d1": {"cancer": 3}, "d9": {"cancer": 9}}
    vectors = write_json(tmp_path / "v.jsonl", weights)
    topics = tmp_path / "t.tsv"
    topics.write_text("q1\tcancer\nq2\tcancer\n")
    options = settings(vectors, topics)
    result = ir.search(collection, topic="q1", retriever=NAME, settings=options)
    assert [hit["id"] for hit in result["hits"]] == ["d1"]
    message = " ".join(capfd.readouterr().err.split())
    assert "1 of 2 vectors are of no document of the collection" in message
    assert "3 documents have no vector" in message


@pytest.mark.java
@pytest.mark.parametrize(
    ("vectors", "topics", "message"),
    [
        ({"x1": {"a": 1}, "x2": {"a": 1}}, "q1\ta\nq2\ta\n", "2 of its 2 documents are not in"),
        (VECTORS, "q1\tother\nq2\twords\n", "made with another vocabulary"),
        (VECTORS, "q1\tcancer\n", "no vector of 1 of 2 topics, such as 'q2'"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(tmp_path, collection, vectors, topics, message):
    file = write_json(tmp_path / "v.jsonl", vectors)
    (tmp_path / "t.tsv").write_text(topics)
    options = settings(file, tmp_path / "t.tsv")
    with pytest.raises(InputError, match=message):
        ir.search(collection, topic="q1", retriever=NAME, settings=options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json\n", "v.jsonl:1: is no JSON"),
        (line("d1", {}) + "{\n", "v.jsonl:2: is no JSON"),
        ('{"vector": {"a": 1}}\n', "there is no id"),
        ('{"id": "", "vector": {"a": 1}}\n', "there is no id"),
        ('{"id": "d1"}\n', '"vector" is missing'),
        ('["d1"]\n', "there is no id"),
        (line("d1", [0.1, 0.2]), "so it is dense"),
        (line("d1", {"a": -1}), "the weight of 'a' is -1"),
        (line("d1", {"a": "1"}), "the weight of 'a' is '1'"),
        (line("d1", {"a": True}), "the weight of 'a' is True"),
        (line("d1", {"a": None}), "the weight of 'a' is None"),
        ('{"id": "d1", "vector": {"a": NaN}}\n', "is no JSON"),
        (line("d1", {}) + line("d1", {}), "'d1' comes twice"),
        (line(1, {}) + line("1", {}), "'1' comes twice"),
    ],
)
def test_wrong_json_vectors_are_refused(tmp_path, text, message):
    (tmp_path / "v.jsonl").write_text(text)
    with pytest.raises(InputError) as error:
        [*read_vectors(tmp_path / "v.jsonl")]
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cut.jsonl.gz", "not a whole gzip file"),
        ("plain.jsonl.gz", "not a whole gzip file"),
        ("cut.ciff.gz", "not a whole gzip file"),
        ("plain.ciff.gz", "not a whole gzip file"),
        ("large.jsonl", "the weight of 'a' is 1e"),
        ("empty.jsonl", "has no vectors"),
        ("missing.jsonl", "there is no such file"),
        ("folder.ciff", "this is a folder"),
    ],
)
def test_damaged_and_misnamed_files_are_refused(tmp_path, name, message):
    path = tmp_path / name
    content = ciff_bytes() if "ciff" in name else "".join(line(n, {"a": n}) for n in range(3000))
    content = content if isinstance(content, bytes) else content.encode()
    if name.startswith("cut"):
        path.write_bytes(gzip.compress(content)[:-20])
    elif name.startswith("plain"):
        path.write_bytes(content)
    elif name.startswith("folder"):
        path.mkdir()
    elif not name.startswith("missing"):
        path.write_text(line("d", {"a": 1e39}) if name.startswith("large") else "\n")
    with pytest.raises(InputError) as error:
        [*(CiffFile(path).postings() if "ciff" in name else read_vectors(path))]
    assert message in str(error.value)
    assert name in str(error.value)


def test_a_byte_order_mark_is_no_part_of_an_id(tmp_path):
    mark = b"\xef\xbb\xbf"
    (tmp_path / "v.jsonl").write_bytes(mark + line("d1", {"a": 1}).encode())
    (tmp_path / "v.json").write_bytes(mark + line("d1", {"a": 1}).encode())
    (tmp_path / "t.tsv").write_bytes(mark + b"q1\ta\n")
    assert [*read_vectors(tmp_path / "v.jsonl")] == [*read_vectors(tmp_path / "v.json")]
    assert read_queries(tmp_path / "t.tsv") == {"q1": {"a": 1}}


@pytest.mark.parametrize(
    ("postings", "message"),
    [
        ([("a", [0], [1]), ("a", [1], [1])], "the postings of 'a' come twice"),
        ([("a", [1, 1], [1, 1])], "the postings of 'a' do not ascend"),
        ([("a", [0, 7], [1, 1])], "the postings of 'a' have a document without a record"),
        ([("a", [0], [-3])], "the postings of 'a' have a weight below 0"),
    ],
)
def test_wrong_postings_are_refused(tmp_path, postings, message):
    content = io.BytesIO()
    lists = [(term, np.array(places), np.array(weights)) for term, places, weights in postings]
    write_ciff(content, (f"d{n}" for n in range(8)), lambda: lists, description="a test")
    data = content.getvalue()
    at = data.rindex(b"\x08\x07")  # the number of the last document's record
    if "record" in message:
        data = data[:at] + b"\x08\x09" + data[at + 2 :]
    (tmp_path / "v.ciff").write_bytes(data)
    with pytest.raises(InputError, match=message):
        [*CiffFile(tmp_path / "v.ciff").postings()]


def test_json_vectors_keep_the_weights_above_zero(tmp_path):
    text = line(7, {"a": 0, "b": 2, "c": 0.5}) + "\n" + '{"_id": "x", "vector": {}}\n'
    (tmp_path / "v.jsonl").write_text(text)
    assert [*read_vectors(tmp_path / "v.jsonl")] == [("7", {"b": 2, "c": 0.5}), ("x", {})]


def test_a_folder_without_vectors_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no files of vectors"):
        [*read_vectors(tmp_path)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cancer lung\n", "t.tsv:1: this line has no topic's id"),
        ("q1\ta\n\nq1\tb\n", "t.tsv:3: topic 'q1' comes twice"),
        (b"q1\t\xff\n", "t.tsv:1: is no UTF-8"),
    ],
)
def test_wrong_topics_are_refused(tmp_path, text, message):
    (tmp_path / "t.tsv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        read_queries(tmp_path / "t.tsv")
    assert message in str(error.value)


def test_words_of_topics_weigh_as_often_as_they_are_written(tmp_path):
    (tmp_path / "t.tsv").write_text("q1\tlung lung ##ca\r\nq2\t\n")
    assert read_queries(tmp_path / "t.tsv") == {"q1": {"lung": 2, "##ca": 1}, "q2": {}}


def ciff_bytes():
    content = io.BytesIO()
    postings = [("a", np.array([0, 300]), np.array([1, 200])), ("b", np.array([1]), np.array([7]))]
    write_ciff(content, [f"d{n}" for n in range(301)], lambda: postings, description="a test")
    return content.getvalue()


def test_ciff_is_read_as_it_was_written(tmp_path):
    (tmp_path / "v.ciff").write_bytes(ciff_bytes())
    file = CiffFile(tmp_path / "v.ciff")
    assert file.doc_ids == [f"d{n}" for n in range(301)]
    postings = {
        term: (places.tolist(), weights.tolist()) for term, places, weights in file.postings()
    }
    assert postings == {"a": ([0, 300], [1, 200]), "b": ([1], [7])}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_ciff_file_that_is_cut_short_is_refused(tmp_path, share):
    content = ciff_bytes()
    (tmp_path / "v.ciff").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match="ends early"):
        [*CiffFile(tmp_path / "v.ciff").postings()]


@pytest.mark.parametrize("content", [b"\x00" * 50, b'{"id": "d1"}\n' * 20, b"\xff" * 50])
def test_another_file_is_no_ciff(tmp_path, content):
    (tmp_path / "v.ciff").write_bytes(content)
    with pytest.raises(InputError, match=r"is no CIFF file|ends early"):
        CiffFile(tmp_path / "v.ciff")


@pytest.mark.parametrize("name", ["out", "out.json", "out.tsv.gz", "ciff"])
def test_a_name_without_a_format_is_refused(name):
    with pytest.raises(InputError, match="says no format"):
        check_name(name)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Some random vectors, of which a document has two."""
    vectors = random(300, 40, 0.2, "csr", np.float32, random_state=6)
    doc_ids = [f"d{number:03}" for number in range(299)] + ["d007"]
    folder = tmp_path_factory.mktemp("index")
    words = [f"w{column}" for column in range(40)]
    step = float(vectors.max()) / 255
    SparseIndex.write(folder, doc_ids, words, vectors.__getitem__, step=step)
    return SparseIndex(folder)


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz", "v.ciff", "v.ciff.gz"])
def test_an_exported_index_has_all_weights(tmp_path, index, name):
    with (tmp_path / name).open("wb") as file:
        facts = export(index, name, file)
    assert facts["vectors"] == 300
    assert facts["a weight of 1 stands for"] == pytest.approx(index.scale)
    if "ciff" in name:
        source = CiffFile(tmp_path / name)
        vectors = {doc_id: {} for doc_id in source.doc_ids}
        for word, places, weights in source.postings():
            for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
                vectors[source.doc_ids[place]][word] = weight
    else:
        vectors = dict(read_vectors(tmp_path / name))
    rows = index.vectors(0, 300)
    assert {"d007#1", "d007#2"} <= {*vectors}
    ids = [i for i in sorted({*index.ids()}, reverse=True) for _ in range(1 + (i == "d007"))]
    for number, (doc_id, row) in enumerate(zip(ids, rows, strict=True)):
        name = f"d007#{1 + (ids[number - 1] == 'd007')}" if doc_id == "d007" else doc_id
        expected = {f"w{c}": w for c, w in zip(row.indices, row.data, strict=True)}
        assert vectors[name] == expected


@pytest.mark.java
@pytest.mark.slow
def test_anserini_ranks_an_exported_index_alike(tmp_path):
    vectors = random(2000, 60, 0.15, "csr", np.float32, random_state=7)
    doc_ids = [f"d{number:04}" for number in range(2000)]
    (tmp_path / "ours").mkdir()
    (tmp_path / "source").mkdir()
    words = [f"w{column}" for column in range(60)]
    step = float(vectors.max()) / 255
    SparseIndex.write(tmp_path / "ours", doc_ids, words, vectors.__getitem__, step=step)
    sparse_index = SparseIndex(tmp_path / "ours")
    with (tmp_path / "source" / "v.jsonl").open("wb") as file:
        export(sparse_index, "v.jsonl", file)
    folder = tmp_path / "theirs"
    options = f"-collection JsonVectorCollection -input {tmp_path / 'source'} -index {folder}"
    options += " -generator DefaultLuceneDocumentGenerator -threads 1 -impact -pretokenized"
    anserini_program("io.anserini.index.IndexCollection").main(options.split())
    queries = random(20, 60, 0.2, "csr", np.float32, random_state=8)
    queries.data = np.ceil(queries.data * 9)
    topics = tmp_path / "topics.tsv"
    with topics.open("w") as file:
        for number, query in enumerate(queries):
            pairs = zip(query.indices, query.data, strict=True)
            repeated = [word for c, weight in pairs for word in [words[c]] * int(weight)]
            file.write(f"{number}\t{' '.join(repeated)}\n")
    run = tmp_path / "run.txt"
    command = f"-index {folder} -topics {topics} -topicReader TsvString -impact -pretokenized"
    command += f" -hits 100 -output {run} -threads 1"
    arguments = java_class("io.anserini.search.SearchCollection$Args")()
    java_class("org.kohsuke.args4j.CmdLineParser")(arguments).parseArgument(*command.split())
    search = anserini_program("io.anserini.search.SearchCollection")(arguments)
    search.run()
    search.close()
    reference = {}
    for text in run.read_text().splitlines():
        topic, _, doc_id, _, score, _ = text.split()
        reference.setdefault(topic, {})[doc_id] = float(score)
    for number, ranking in enumerate(sparse_index.search(queries, 100)):
        own_scores = dict(
            zip(ranking.doc_ids, (ranking.scores / sparse_index.scale).tolist(), strict=True)
        )
        scores = reference[str(number)]
        assert [round(score) for score in own_scores.values()] == [*map(round, scores.values())]
        last = min(scores.values())
        above = {doc_id for doc_id, score in scores.items() if score > last}
        assert above == {doc_id for doc_id in own_scores if doc_id in above}
        assert above <= {*own_scores}
