"""MBM: what it searches for, and that it finds the k1 and b that its training topics want."""

import json

import pytest
from small import SmallResources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, LabelledTopic, Topic, TrainingData
from irplatform.text import ForwardIndex, build_forward_index
from irplatform_lexical.counting import MBM, MBMOptions
from irplatform_lexical.retrievers import MBMRetriever, Saturation

FILLER = " ".join(["filler"] * 30)
TEXTS = {
    # "gene" once in few words, or often in many: which is better depends on b
    "short": "gene other",
    "long": f"gene gene gene {FILLER}",
    # "cell" once beside "liver", or "cell" alone and often: which is better depends on k1
    "both": "cell liver word word word word word word",
    "often": "cell cell cell cell cell cell cell word",
    **{f"x{n}": f"other {FILLER}" for n in range(6)},
    **{f"y{n}": "liver word" for n in range(3)},
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forward")
    documents = [Document(i, "", text) for i, text in TEXTS.items()]
    build_forward_index(documents, folder, workers=1)
    return SmallResources(index=ForwardIndex.open(folder))


def prepared(resources, **options):
    reranker = MBM(MBMOptions(**options))
    reranker.prepare(resources)
    return reranker


def data(folder, *topics):
    learned = [
        LabelledTopic(Topic(str(n), query), tuple(TEXTS), {relevant: 1}, tuple(range(len(TEXTS))))
        for n, (query, relevant) in enumerate(topics)
    ]
    return TrainingData(learned, [], folder)


def words(reranker, text):
    ids = reranker.query(Topic("t", text))
    return [reranker._index.vocabulary[i] if i >= 0 else None for i in ids]


def test_its_retriever_searches_for_the_same_words():
    queries = MBMRetriever(Saturation()).queries(
        [Topic("1", "The role of the α-globin role"), Topic("2", "what if")], SmallResources()
    )
    assert queries == {"1": "role alpha globin", "2": "what if"}


@pytest.mark.parametrize(("relevant", "b"), [("short", 0.9), ("long", 0.2)])
def test_b_is_what_the_training_topics_want(resources, tmp_path, relevant, b):
    reranker = prepared(resources, b=(0.2, 0.9), k1=(2.0,))
    reranker.fit(data(tmp_path, ("gene", relevant)))
    assert (reranker.k1, reranker.b) == (2.0, b)


@pytest.mark.parametrize(("relevant", "k1"), [("both", 0.1), ("often", 50.0)])
def test_k1_is_what_the_training_topics_want(resources, tmp_path, relevant, k1):
    reranker = prepared(resources, k1=(0.1, 50.0), b=(0.0,))
    reranker.fit(data(tmp_path, ("cell liver", relevant)))
    assert (reranker.k1, reranker.b) == (k1, 0.0)


def test_of_equally_good_values_the_first_is_taken(resources, tmp_path):
    reranker = prepared(resources, k1=(1.5, 0.5), b=(0.7, 0.1))
    reranker.fit(data(tmp_path, ("zebra", "short")))
    assert (reranker.k1, reranker.b) == (1.5, 0.7)


def test_topics_that_say_nothing_leave_the_middle_of_the_grids(resources, tmp_path):
    reranker = prepared(resources)
    before = reranker.k1, reranker.b
    reranker.fit(data(tmp_path, ("gene", "not a candidate")))
    assert (reranker.k1, reranker.b) == before


def test_the_first_stage_has_no_say(resources, tmp_path):
    """Mixed with a first stage that is always right, both would do, and the first be taken."""
    reranker = prepared(resources, b=(0.9, 0.2), k1=(2.0,))
    right = tuple(float(doc_id == "long") for doc_id in TEXTS)
    learned = LabelledTopic(Topic("t", "gene"), tuple(TEXTS), {"long": 1}, right)
    reranker.fit(TrainingData([learned], [], tmp_path))
    assert reranker.b == 0.2


def test_greek_letters_are_spelled_out_and_stop_words_dropped(resources):
    reranker = prepared(resources)
    assert words(reranker, "The gene, and its (liver) Gene: TNF-α") == ["gene", "liver", None, None]
    assert words(reranker, "what if") == [None, None]
    assert words(prepared(resources, once=False), "gene or gene") == ["gene", "gene"]
    assert words(prepared(resources, stop_words=True), "gene or gene") == ["gene", None]


def test_what_was_learned_survives_a_file(resources, tmp_path):
    reranker = prepared(resources)
    reranker.fit(data(tmp_path, ("gene", "long"), ("cell liver", "both")))
    place = tmp_path / "saved"
    place.mkdir()
    reranker.save(place)
    other = prepared(resources)
    other.load(place)
    assert (other.k1, other.b) == (reranker.k1, reranker.b)
    topic, documents = Topic("t", "gene of the liver cell"), Documents(list(TEXTS), list)
    assert other.score(topic, documents) == reranker.score(topic, documents)
    backwards = Documents(list(TEXTS)[::-1], list)
    assert other.score(topic, backwards) == list(reranker.score(topic, documents))[::-1]
    for doc_id, score in zip(TEXTS, other.score(topic, documents), strict=True):
        assert other.score(topic, Documents([doc_id], list)) == [score]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"k1": 1}', '{"k1": "x", "b": 1}'])
def test_a_broken_file_is_named(resources, tmp_path, content):
    if content is not None:
        (tmp_path / "bm25.json").write_text(content)
    with pytest.raises(InputError, match=r"bm25\.json"):
        prepared(resources).load(tmp_path)


@pytest.mark.parametrize(("option", "value"), [("k1", []), ("b", []), ("k1", [-1]), ("b", [1.5])])
def test_values_that_are_none_are_refused(option, value):
    with pytest.raises(ValueError, match=option):
        MBMOptions(**{option: value})


def test_the_saved_file_is_readable_json(resources, tmp_path):
    prepared(resources, k1=(1.2,), b=(0.3,)).save(tmp_path)
    assert json.loads((tmp_path / "bm25.json").read_text()) == {"k1": 1.2, "b": 0.3}
