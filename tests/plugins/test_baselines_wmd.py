"""The Word Mover's Distance against gensim's, against linear programming, and against its bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small import SmallResources, words

from irplatform.plugin import Document, Documents, Topic
from irplatform.registry.loading import registry
from irplatform.text import ForwardIndex, WordVectors, build_forward_index
from irplatform_lexical.wmd import WMD, WMDOptions, exact, make_bags, relaxed

WORDS = words(60)
WITH_VECTOR = WORDS[:50]
ELSEWHERE = "zebra"
"""A word that has a vector and that the collection lacks."""


@pytest.fixture(scope="module")
def vectors():
    drawn = np.random.default_rng(8).normal(0, 0.4, size=(len(WITH_VECTOR) + 1, 20))
    return WordVectors.with_unk([*WITH_VECTOR, ELSEWHERE], drawn.astype(np.float32), seed=5)


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(3)
    documents = {f"d{n}": random.choice(WORDS, size=3 + 4 * n).tolist() for n in range(15)}
    documents["same"] = [WORDS[1], WORDS[2], WORDS[1]]
    documents["without"] = WORDS[50:53]
    documents["empty"] = []
    return documents


@pytest.fixture(scope="module")
def resources(tmp_path_factory, vectors, texts):
    folder = tmp_path_factory.mktemp("forward")
    documents = [Document(i, " ".join(t[:4]), " ".join(t[4:])) for i, t in texts.items()]
    documents.append(Document("all", "", " ".join(["the", *WORDS])))
    build_forward_index(documents, folder, workers=1)
    return SmallResources(index=ForwardIndex.open(folder), word_vectors=vectors)


def prepared(resources, **options):
    reranker = WMD(WMDOptions(**options))
    reranker.prepare(resources)
    return reranker


def distances(reranker, query, ids):
    scores = np.array(reranker.score(Topic("t", " ".join(query)), Documents(list(ids), list)))
    assert np.isfinite(scores).all()
    return -scores


def solved(first, second, vectors):
    """The least cost of transport by linear programming, without any shortcut."""
    first, second = (
        [w for w in text if w in (*WITH_VECTOR, ELSEWHERE)] for text in (first, second)
    )
    rows, columns = sorted(set(first)), sorted(set(second))
    matrix = vectors.matrix.astype(np.float64)
    a, b = matrix[vectors.rows(rows)], matrix[vectors.rows(columns)]
    costs = np.sqrt(((a[:, None] - b) ** 2).sum(axis=2))
    leaves = np.kron(np.eye(len(rows)), np.ones(len(columns)))
    arrives = np.kron(np.ones(len(rows)), np.eye(len(columns)))
    weights = [first.count(w) / len(first) for w in rows]
    weights += [second.count(w) / len(second) for w in columns]
    return linprog(costs.ravel(), A_eq=np.vstack([leaves, arrives]), b_eq=weights).fun


def bound(first, second, vectors):
    """The relaxed distance, word by word."""
    first, second = ([w for w in text if w in WITH_VECTOR] for text in (first, second))

    matrix = vectors.matrix.astype(np.float64)

    def one_way(source, target):
        ends = matrix[vectors.rows(target)]
        nearest = [
            np.linalg.norm(matrix[start] - ends, axis=1).min() for start in vectors.rows(source)
        ]
        return sum(nearest) / len(source)

    return max(one_way(first, second), one_way(second, first))


@pytest.fixture(scope="module")
def comparable(texts):
    return [i for i in texts if i not in {"without", "empty"}]


QUERIES = [
    WORDS[:1],
    [WORDS[1], WORDS[2], WORDS[1]],
    WORDS[5:25],
    [*WORDS[3:6], *WORDS[3:5], WORDS[55]],
]


@pytest.mark.parametrize("query", QUERIES, ids=len)
@pytest.mark.parametrize("unit", [False, True])
def test_the_exact_distance_is_gensims(resources, vectors, texts, comparable, query, unit):
    from gensim.models import KeyedVectors

    gensim = KeyedVectors(vectors.dimensions)
    gensim.add_vectors([*WITH_VECTOR, ELSEWHERE], vectors.matrix[:-1])
    expected = [gensim.wmdistance(query, texts[i], norm=unit) for i in comparable]
    costs = distances(prepared(resources, unit_vectors=unit), query, comparable)
    np.testing.assert_allclose(costs, expected, rtol=0, atol=1e-6)


WORD = st.sampled_from([*WORDS[:12], *WORDS[49:52], ELSEWHERE])


@given(query=st.lists(WORD, min_size=1, max_size=8))
@settings(max_examples=25)
def test_the_exact_distance_is_the_optimum_and_the_relaxed_one_below_it(
    resources, vectors, texts, comparable, query
):
    if set(query) <= set(WORDS[50:]):
        query = [*query, WORDS[0]]
    costs = distances(prepared(resources), query, comparable)
    expected = [solved(query, texts[i], vectors) for i in comparable]
    np.testing.assert_allclose(costs, expected, rtol=0, atol=1e-9)
    below = distances(prepared(resources, form="relaxed"), query, comparable)
    assert (below <= costs + 1e-12).all()


@pytest.mark.parametrize("query", QUERIES, ids=len)
def test_the_relaxed_distance_is_its_plain_form(resources, vectors, texts, comparable, query):
    costs = distances(prepared(resources, form="relaxed"), query, comparable)
    expected = [bound(query, texts[i], vectors) for i in comparable]
    np.testing.assert_allclose(costs, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["exact", "relaxed"])
def test_a_text_has_no_distance_from_itself_in_any_order(resources, texts, form):
    reranker = prepared(resources, form=form)
    assert distances(reranker, sorted(texts["same"]), ["same"]).tolist() == [0.0]
    assert distances(reranker, texts["same"], ["d4"])[0] > 0


@pytest.mark.parametrize("form", ["exact", "relaxed"])
def test_texts_without_a_vector_come_last_and_such_queries_tell_nothing(resources, texts, form):
    reranker = prepared(resources, form=form)
    costs = dict(zip(texts, distances(reranker, WORDS[:3], texts), strict=True))
    assert costs["without"] == costs["empty"] > max(costs[i] for i in texts if i[0] == "d")
    assert not distances(reranker, WORDS[50:52], texts).any()
    assert not distances(reranker, [], texts).any()
    assert distances(reranker, WORDS[:3], []).tolist() == []
    assert distances(reranker, WORDS[:3], ["empty"]).tolist() == [costs["empty"]]


def test_a_word_of_the_query_counts_where_only_the_vectors_know_it(resources, vectors, texts):
    query = [ELSEWHERE, WORDS[1]]
    costs = distances(prepared(resources), query, ["same"])
    assert costs == pytest.approx([solved(query, texts["same"], vectors)])
    assert costs != distances(prepared(resources), query[1:], ["same"])


@pytest.mark.parametrize("form", ["exact", "relaxed"])
def test_a_score_does_not_depend_on_order_or_number_of_documents(resources, texts, form):
    reranker = prepared(resources, form=form)
    query = WORDS[4:11]
    together = dict(zip(texts, distances(reranker, query, texts), strict=True))
    backwards = distances(reranker, query, reversed(texts))
    assert backwards == pytest.approx([together[i] for i in reversed(texts)], rel=1e-13)
    for doc_id, distance in together.items():
        assert distances(reranker, query, [doc_id]) == pytest.approx([distance], rel=1e-13)


def test_the_names_say_what_is_read(resources, vectors, texts):
    for name, part in (("wmd-title", slice(4)), ("wmd-text", slice(None))):
        reranker = registry().reranker(name).create({})
        reranker.prepare(resources)
        costs = distances(reranker, WORDS[:3], ["d9"])
        assert costs == pytest.approx([solved(WORDS[:3], texts["d9"][part], vectors)])


def test_stop_words_are_kept_unless_they_are_not_wanted(tmp_path):
    build_forward_index([Document("x", "the liver"), Document("y", "liver")], tmp_path)
    word_vectors = WordVectors.with_unk(["the", "liver"], np.eye(2, 3, dtype=np.float32), seed=1)
    resources = SmallResources(index=ForwardIndex.open(tmp_path), word_vectors=word_vectors)
    apart = np.sqrt(2) / 2
    for keep, expected in ((True, [apart, 0]), (False, [0, 0])):
        reranker = prepared(resources, stop_words=keep)
        assert distances(reranker, ["liver"], "xy") == pytest.approx(expected)
        pair = distances(reranker, ["the", "liver"], "xy")
        assert pair == pytest.approx(expected[::-1])


def test_bags_hold_each_word_once_with_its_share():
    bags = make_bags(np.array([3, -1, 3, 1, 0, 7, -1]), np.array([0, 4, 4, 6, 7]))
    assert bags.words.tolist() == [1, 3, 0, 7]
    assert bags.weights.tolist() == [1 / 3, 2 / 3, 0.5, 0.5]
    assert bags.offsets.tolist() == [0, 2, 2, 4, 4]
    assert bags.owners.tolist() == [0, 0, 2, 2]


def test_weight_that_both_have_on_a_word_stays():
    """Moving all of the query's weight would cost the same, and the solver is not asked at all."""
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    texts = make_bags(np.array([0, 0, 0, 1]), np.array([0, 4]))
    weights = np.array([0.5, 0.5])
    assert exact(weights, costs, np.array([0, 1]), texts).tolist() == [0.25]
    assert exact(weights, costs, np.array([-1, -1]), texts) == pytest.approx([0.25])
    words, offsets = np.array([0, 0, 0, 1]), np.array([0, 4])
    assert relaxed(weights, costs, words, offsets).tolist() == [0.0]
