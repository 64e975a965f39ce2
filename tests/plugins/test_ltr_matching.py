"""Mentions of phrases, against plain loops over lists of words."""

import numpy as np
import pytest

from irplatform_ltr.matching import Passage

MISSING = 99.0


def _passage(documents):
    words = np.array([w for title, body in documents for w in (*title, *body)], dtype=np.int32)
    sizes = [len(title) + len(body) for title, body in documents]
    titles = np.array([len(title) for title, _ in documents], dtype=np.int64)
    return Passage(words, np.cumsum([0, *sizes]), titles)


def _plain(documents, phrases):
    """Per document, the places where any phrase begins."""
    places = []
    for title, body in documents:
        text = [*title, *body]
        places.append(
            sorted(
                {
                    start
                    for phrase in phrases
                    for start in range(len(text) - len(phrase) + 1)
                    if len(phrase) and text[start : start + len(phrase)] == phrase
                }
            )
        )
    return places


@pytest.fixture(scope="module", params=range(8))
def case(request):
    random = np.random.default_rng(request.param)
    documents = [
        (random.integers(0, 6, random.integers(0, 4)).tolist(),
         random.integers(0, 6, random.integers(0, 30)).tolist())
        for _ in range(12)
    ]  # fmt: skip
    first = [random.integers(0, 6, n).tolist() for n in (1, 2, 3)]
    second = [random.integers(0, 6, n).tolist() for n in (1, 2)]
    return documents, first, second


def _find(documents, phrases):
    return _passage(documents).find(np.array(phrase, dtype=np.int32) for phrase in phrases)


def test_mentions_are_where_a_plain_search_finds_them(case):
    documents, phrases, _ = case
    mentions, plain = _find(documents, phrases), _plain(documents, phrases)
    assert mentions.counts.tolist() == [len(places) for places in plain]
    assert mentions.in_title.tolist() == [
        sum(place < len(title) for place in places)
        for places, (title, _) in zip(plain, documents, strict=True)
    ]
    for shares, index in ((mentions.first(MISSING), 0), (mentions.last(MISSING), -1)):
        assert shares.tolist() == pytest.approx(
            [
                places[index] / len([*title, *body]) if places else MISSING
                for places, (title, body) in zip(plain, documents, strict=True)
            ]
        )


def test_distances_are_those_of_a_plain_search(case):
    documents, first, second = case
    left, right = _find(documents, first), _find(documents, second)
    plain = list(zip(_plain(documents, first), _plain(documents, second), strict=True))
    nearest = [
        min((abs(a - b) for a in one for b in other), default=MISSING) for one, other in plain
    ]
    gaps = left.gaps(right)
    assert gaps.least(MISSING).tolist() == nearest
    within = [sum(any(abs(a - b) <= 3 for b in other) for a in one) for one, other in plain]
    assert gaps.close(3).tolist() == within


def test_the_order_is_that_of_most_close_mentions():
    documents = [([], [1, 2]), ([], [2, 1]), ([], [1, 0, 0, 0, 0, 2]), ([1], [])]
    gaps = _find(documents, [[1]]).gaps(_find(documents, [[2]]))
    assert gaps.order(2).tolist() == [1, -1, 0, 0]


def test_a_phrase_does_not_reach_into_the_next_document():
    assert _find([([], [1, 2]), ([3], [4])], [[2, 3]]).counts.tolist() == [0, 0]
    assert _find([([1], [2]), ([3], [4])], [[1, 2], [3, 4]]).counts.tolist() == [1, 1]


def test_words_that_the_collection_lacks_match_nothing():
    assert _find([([], [1, 2])], [[-1], [1, -1], []]).counts.tolist() == [0]
    assert _find([], [[1]]).counts.tolist() == []
