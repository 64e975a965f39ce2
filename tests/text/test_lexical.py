import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import words_of

from irplatform.errors import InputError
from irplatform.plugin import Document
from irplatform.text import (
    ALL18,
    ForwardIndex,
    build_forward_index,
    lexical_features,
)

DOCUMENTS = [
    Document("d0", "breast cancer and statins", "statins in breast cancer. cancer, cancer risk"),
    Document("d1", "cancer", ""),
    Document("d2", "", "risk of breast cancer in mice"),
    Document("d3", "", ""),
    Document("d4", "mice", "mice and mice and rats"),
    Document("d5", "mice and", "rats in mice"),
]
FIELDS = ("title", "abstract", "text")


def plain_feature(name, query, document, documents):
    """A feature as the paper's words say it, one document at a time."""
    kind, _, field = name.rpartition("_")
    collection = [words_of(d, field) for d in documents]
    words = words_of(document, field)

    def idf(word):
        frequency = sum(word in other for other in collection)
        return math.log(1 + (len(collection) - frequency + 0.5) / (frequency + 0.5))

    def share(part, base, weight):
        total = sum(map(weight, base))
        return sum(map(weight, part)) / total if total else 0.0

    def one(_):
        return 1

    q, d = set(query), set(words)
    match kind:
        case "overlap":
            return share(q & d, q, one)
        case "bigram_overlap":
            bigrams = set(pairwise(query))
            return share(bigrams & set(pairwise(words)), bigrams, one)
        case "jaccard":
            return share(q & d, q | d, one)
        case "idf_overlap":
            return share(q & d, q, idf)
        case "idf_jaccard":
            return share(q & d, q | d, idf)
        case "bm25":
            average = sum(map(len, collection)) / len(collection)
            score = 0.0
            for word in query:
                tf = words.count(word)
                if tf:
                    norm = 2.0 * (1 - 0.75 + 0.75 * len(words) / average)
                    score += idf(word) * tf * 3.0 / (tf + norm)
            return score
    raise AssertionError(kind)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index(DOCUMENTS, folder)
    return ForwardIndex.open(folder)


# Words that the collection lacks are in no query twice: they count as distinct, see the module.
QUERIES = st.builds(
    lambda words, unseen, order: order.sample([*words, *unseen], len(words) + len(unseen)),
    st.lists(
        st.sampled_from(["breast", "cancer", "and", "mice", "rats", "in", "risk"]), max_size=8
    ),
    st.lists(st.sampled_from(["zebra", "yak", "x"]), unique=True),
    st.randoms(use_true_random=False),
)


@given(QUERIES, st.lists(st.integers(0, len(DOCUMENTS) - 1), max_size=9))
@settings(max_examples=100)
def test_every_feature_equals_its_plain_form(index, query, rows):
    features = lexical_features(
        index, index.query_ids(" ".join(query)), np.array(rows, dtype=np.int64), ALL18
    )
    expected = [
        [plain_feature(name, query, DOCUMENTS[row], DOCUMENTS) for name in ALL18] for row in rows
    ]
    assert features.shape == (len(rows), 18)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, np.reshape(expected, features.shape), rtol=1e-6, atol=1e-6)


def test_the_names_follow_the_numbers_of_the_paper():
    assert {6: "bm25_title", 7: "bm25_abstract", 8: "bm25_text"}.items() <= dict(
        enumerate(ALL18, start=1)
    ).items()
    assert [name.rpartition("_")[2] for name in ALL18] == [
        *["text"] * 5,
        "title",
        "abstract",
        "text",
        *["title"] * 5,
        *["abstract"] * 5,
    ]


@given(QUERIES)
@settings(max_examples=30)
def test_a_feature_does_not_depend_on_the_other_documents_or_features(index, query):
    ids = index.query_ids(" ".join(query))
    together = lexical_features(index, ids, np.arange(len(DOCUMENTS)), ALL18)
    for row, column in np.ndindex(together.shape):
        alone = lexical_features(index, ids, np.array([row]), [ALL18[column]])
        assert alone.item() == together[row, column]


@pytest.mark.parametrize("feature", ["bm25_titel", "mesh", ""])
def test_an_unknown_feature_is_refused(index, feature):
    with pytest.raises(InputError, match="lexical feature"):
        lexical_features(index, index.query_ids("cancer"), np.array([0]), [feature])


def test_the_error_names_the_nearest_feature(index):
    with pytest.raises(InputError, match="Did you mean 'bm25_title'"):
        lexical_features(index, index.query_ids("cancer"), np.array([0]), ["bm25_titel"])
