"""MeSH-term queries: headings ask for their own article, which does not show them."""

import orjson
import pytest

from irplatform.collections.derived import build_mesh, mesh_queries
from irplatform.data import Corpus
from irplatform.errors import InputError
from irplatform.plugin import Document
from irplatform.registry.loading import registry

pytestmark = pytest.mark.usefixtures("fresh_home")


class Articles(Corpus):
    """Articles with headings; every fifth one has too few."""

    name = "articles"
    fields = ("mesh", "year")
    fingerprint = "articles-1"

    def __init__(self, count=100):
        self.number = count

    def __iter__(self):
        for n in range(self.number):
            headings = ("Humans",) if n % 5 == 0 else ("Humans", f"Heading {n}", f"Other {n}")
            yield Document(f"d{n:03}", f"Title {n}", f"Abstract {n}", {"mesh": headings})


def test_a_query_holds_the_headings_and_its_article_is_relevant():
    collection = mesh_queries(Articles(), 50, seed=1)
    topics, qrels = list(collection.load_topics()), collection.load_qrels()
    assert {t.id for t in topics} == set(qrels)
    for topic in topics:
        number = int(topic.id[1:])
        assert topic.fields["mesh"] == ("Humans", f"Heading {number}", f"Other {number}")
        assert f"Heading {number}" in topic.query
        assert qrels[topic.id] == {topic.id: 1}


def test_splits_are_eight_to_one_to_one_and_disjoint():
    ids = [
        {t.id for t in mesh_queries(Articles(), 50, 1, split).load_topics()}
        for split in ("train", "dev", "test")
    ]
    assert [len(part) for part in ids] == [40, 5, 5]
    assert len(set.union(*ids)) == 50


def test_training_queries_validate_on_dev_and_train_the_others():
    train = mesh_queries(Articles(), 50, 1)
    assert train.training is None
    assert train.validation().id == "articles-mesh-dev"
    assert mesh_queries(Articles(), 50, 1, "test").training().id == train.id
    assert train.corpus.fingerprint == "articles-1", "the same documents, hence the same index"


def test_articles_with_too_few_headings_are_not_asked_for():
    topics = mesh_queries(Articles(), 1000, 1).load_topics()
    assert all(int(t.id[1:]) % 5 for t in topics)


def test_another_seed_draws_others():
    def drawn(seed):
        return [t.id for t in mesh_queries(Articles(), 20, seed).load_topics()]

    assert drawn(1) == drawn(1) != drawn(2)


def test_documents_without_headings_are_refused():
    corpus = Articles()
    corpus.fields = ("year",)
    with pytest.raises(InputError, match=r"no field 'mesh'.*fields: year"):
        mesh_queries(corpus, 50, 1)


def test_too_few_articles_are_refused():
    with pytest.raises(InputError, match="'articles' has only 8 documents with 3 or more"):
        mesh_queries(Articles(10), 50, 1)


def test_a_folder_leaves_the_headings_out_of_its_documents(tmp_path):
    out = tmp_path / "mesh"
    build_mesh(Articles(), out, count=50, seed=1)
    collection = registry().collection(f"{out}:test")
    documents = list(collection.corpus)
    assert len(documents) == 100
    assert all("mesh" not in d.fields and "Heading" not in d.text for d in documents)
    assert len(collection.load_topics()) == 5
    assert collection.training().validation is not None
    assert collection.measures == ("RR", "P@1", "AP")


def test_articles_with_the_same_headings_are_one_query_that_all_of_them_answer(tmp_path):
    """Whatever their order; so that no query of one split is asked in another, too."""

    class Twins(Articles):
        def __iter__(self):
            yield from super().__iter__()
            for n in (1, 2, 3):
                headings = (f"Other {n}", f"Heading {n}", "Humans")
                yield Document(f"twin{n}", "", "", {"mesh": headings})

    queries, shared = build_mesh(Twins(), tmp_path / "mesh", count=1000, seed=1)
    assert shared == 3
    assert sum(queries.values()) == 80
    judged = {}
    for split in ("train", "dev", "test"):
        judged |= registry().collection(f"{tmp_path / 'mesh'}:{split}").load_qrels()
    assert judged["d001"] == {"d001": 1, "twin1": 1}
    assert judged["d004"] == {"d004": 1}
    assert "twin1" not in judged


def test_too_few_different_headings_are_refused(tmp_path):
    class Alike(Articles):
        def __iter__(self):
            for n in range(40):
                yield Document(f"d{n}", "", "", {"mesh": ("Humans", "Mice", f"Heading {n % 4}")})

    with pytest.raises(InputError, match="only 4 different sets of headings"):
        build_mesh(Alike(), tmp_path / "mesh", count=20, seed=1)
    assert not (tmp_path / "mesh").exists()


def test_queries_and_judgments_are_lines_of_a_folder_in_beir_layout(tmp_path):
    out = tmp_path / "mesh"
    build_mesh(Articles(), out, count=10, seed=1)
    queries = (out / "queries.jsonl").read_bytes().splitlines(keepends=True)
    assert len(queries) == 10
    first = orjson.loads(queries[0])
    headings = ["Humans", f"Heading {int(first['_id'][1:])}", f"Other {int(first['_id'][1:])}"]
    assert first == {
        "_id": first["_id"],
        "text": " ; ".join(headings),
        "metadata": {"mesh": headings},
    }
    (tested,) = registry().collection(f"{out}:test").load_qrels()
    lines = f"query-id\tcorpus-id\tscore\n{tested}\t{tested}\t1\n"
    assert (out / "qrels" / "test.tsv").read_bytes() == lines.encode()


def test_a_folder_is_the_same_to_the_byte(tmp_path):
    one, two = tmp_path / "a", tmp_path / "b"
    for out in (one, two):
        build_mesh(Articles(), out, count=50, seed=1)
    files = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert files
    for file in files:
        assert (one / file).read_bytes() == (two / file).read_bytes()


def test_an_existing_folder_is_not_written_to(tmp_path):
    (tmp_path / "mesh").mkdir()
    (tmp_path / "mesh" / "mine").write_text("precious")
    with pytest.raises(InputError, match="exists"):
        build_mesh(Articles(), tmp_path / "mesh", count=50, seed=1)
    assert orjson.dumps([p.name for p in (tmp_path / "mesh").iterdir()]) == b'["mine"]'
