"""Halves of a collection: what is tested was never seen."""

from dataclasses import replace

import pytest

from irplatform.collections.derived import build_new_documents
from irplatform.data import Collection, Corpus
from irplatform.errors import InputError
from irplatform.plugin import Document, Topic
from irplatform.registry.loading import registry


class Articles(Corpus):
    """A hundred articles of some years."""

    name = "articles"
    fields = ("year",)
    fingerprint = "articles-1"

    def __iter__(self):
        for n in range(100):
            yield Document(f"d{n}", f"Title {n}", f"Abstract {n}", {"year": str(2000 + n)})


class OtherArticles(Articles):
    """Some more."""

    fingerprint = "articles-2"


def _judged(name, first, training=None):
    """Ten topics, each with the same twenty judged documents."""
    qrels = {f"{name}{n}": {f"d{d}": d % 3 for d in range(20)} for n in range(first, first + 10)}
    topics = [Topic(i, f"query {i}", {"disease": f"of {i}"}) for i in qrels]
    return Collection(
        id=name, title=name, corpus=Articles(), load_topics=lambda: topics,
        load_qrels=lambda: qrels, measures=("AP",), training=training,
    )  # fmt: skip


TRAINING = _judged("train", 0)
COLLECTION = _judged("test", 10, training=lambda: TRAINING)


@pytest.fixture
def halves(tmp_path):
    counts = build_new_documents(COLLECTION, tmp_path / "new", seed=3)
    learn = registry().collection(f"{tmp_path / 'new' / 'learn'}:train")
    test = registry().collection(str(tmp_path / "new" / "test"))
    return counts, learn, test


def test_every_document_is_in_one_half_as_it_was(halves):
    counts, learn, test = halves
    documents = {half.id: {d.id: d for d in half.corpus} for half in (learn, test)}
    one, other = documents.values()
    assert (len(one), len(other)) == (counts["learn"], counts["test"])
    assert 30 < len(one) < 70
    assert one | other == {d.id: d for d in Articles()}


def test_the_halves_are_called_after_the_folder_that_was_asked_for(halves):
    _, *parts = halves
    assert [half.id for half in parts] == ["new-learn-train", "new-test"]
    assert [half.corpus.name for half in parts] == ["new-learn", "new-test"]


def test_each_half_has_its_own_topics_and_the_judgments_of_its_own_documents(halves):
    _, *parts = halves
    for half, source in zip(parts, (TRAINING, COLLECTION), strict=True):
        ids = {d.id for d in half.corpus}
        expected = {
            topic: {d: g for d, g in grades.items() if d in ids}
            for topic, grades in source.load_qrels().items()
        }
        assert half.load_qrels() == expected
        topics = {t.id: t for t in half.load_topics()}
        assert list(topics) == [t.id for t in source.load_topics()]
        assert all(topics[t.id].query == t.query for t in source.load_topics())
        assert all(topics[t.id].fields["disease"] == f"of {t.id}" for t in source.load_topics())
        assert tuple(half.measures) == ("AP",)


def test_the_seed_draws_the_halves(tmp_path):
    first, again, other = (
        build_new_documents(COLLECTION, tmp_path / str(n), seed=seed)
        for n, seed in enumerate((1, 1, 2))
    )
    assert first == again
    files = [tmp_path / str(n) / "test" / "corpus.jsonl.gz" for n in range(3)]
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    del other


@pytest.mark.parametrize(
    ("collection", "message"),
    [
        (TRAINING, "names no training collection"),
        (replace(COLLECTION, load_qrels=None), "has no judgments"),
        (replace(COLLECTION, corpus=OtherArticles()), "has other documents than 'test'"),
        (replace(COLLECTION, load_qrels=lambda: {"test10": {"gone": 0}}), None),
    ],
)
def test_what_cannot_be_halved_is_refused_and_leaves_nothing(tmp_path, collection, message):
    if message is None:  # "gone" falls into one of the halves, by its name
        seeds = [s for s in range(20) if not _refused(collection, tmp_path / str(s), s)]
        assert 0 < len(seeds) < 20
        return
    with pytest.raises(InputError, match=message):
        build_new_documents(collection, tmp_path / "new", seed=1)
    assert not (tmp_path / "new").exists()


def _refused(collection, out, seed):
    try:
        build_new_documents(collection, out, seed=seed)
    except InputError as error:
        assert "no topic of 'test' has a judged document" in str(error)
        return True
    return False


def test_topics_without_a_judged_document_in_their_half_are_counted(tmp_path, capsys):
    documents = [f"d{n}" for n in range(100)]
    qrels = {f"test{n}": {document: 1} for n, document in enumerate(documents)}
    one_each = replace(
        COLLECTION,
        load_topics=lambda: [Topic(i, "query", {}) for i in (*qrels, "unjudged")],
        load_qrels=lambda: qrels,
    )
    counts = build_new_documents(one_each, tmp_path / "new", seed=3)
    notice = capsys.readouterr().err
    assert f"test: {counts['learn']} of 100 topics of 'test' have no judged document" in notice
    assert "learn:" not in notice
