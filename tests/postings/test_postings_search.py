"""Search of postings finds what an exhaustive search finds, to the bit, compiled and not."""

from dataclasses import replace

import numpy as np
import pytest
from common_terms import common_terms
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.postings.common import no_common
from irplatform.postings.search import NO_LIMIT, Postings, Queries, in_order, search
from irplatform.system.packages import absent

COMPILED = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(bool(absent("numba")), reason="numba")),
]
SATURATION = np.array([1.0, 1.25, 2.5, 4, 4], dtype=np.float32)
KINDS = ("codes", "bytes", "weights")


def of_terms(terms, count, kind, latest=None):
    """Postings of terms, each of which has a value for some documents."""
    documents = [np.array(sorted(term), dtype=np.int32) for term in terms]
    dtype = {"codes": np.uint16, "bytes": np.uint8, "weights": np.float32}[kind]
    values = [np.array([term[d] for d in sorted(term)], dtype=dtype) for term in terms]
    saturation = SATURATION if kind == "codes" else None
    counted = SATURATION[np.arange(len(SATURATION))] if kind == "codes" else None
    peaks = [
        (counted[of_term] if kind == "codes" else of_term).max(initial=1 if kind == "codes" else 0)
        for of_term in values
    ]
    postings = Postings(
        np.concatenate([np.empty(0, np.int32), *documents]),
        np.concatenate([np.empty(0, dtype), *values]),
        np.cumsum([0, *map(len, terms)]),
        np.zeros(count, np.uint16) if latest is None else np.array(latest, np.uint16),
        np.array(peaks, np.float32),
        saturation,
    )
    postings = replace(postings, common=common_terms(postings.starts, postings.documents, count))
    for array in (*vars(postings).values(), *postings.common):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False  # as mapped ones are
    return postings


def exhaustive(postings, queries, depth):
    """Numbers and scores of each topic, in the words of the module."""
    ordered, _ = in_order(postings, queries)
    results = []
    for topic, limit in enumerate(queries.limits):
        sums = {}
        for term in range(ordered.ends[topic], ordered.ends[topic + 1]):
            row, weight = ordered.rows[term], ordered.weights[term]
            for place in range(postings.starts[row], postings.starts[row + 1]):
                document, value = int(postings.documents[place]), postings.values[place]
                if postings.saturation is None:
                    added = float(weight) * float(value)
                else:
                    added = float(weight - weight / postings.saturation[value])
                if postings.latest[document] <= limit:
                    sums[document] = sums.get(document, 0.0) + added
        scores = {document: np.float32(total) for document, total in sums.items() if total > 0}
        best = sorted(scores, key=lambda document: (-scores[document], document))[:depth]
        results.append((best, [scores[document] for document in best]))
    return results


def rankings(postings, queries, depth, **options):
    return [
        (numbers.tolist(), [*scores])
        for results in search(postings, queries, depth, **options)
        for numbers, scores in results.by_topic()
    ]


@st.composite
def searches(draw):
    """Postings, queries and a depth."""
    kind = draw(st.sampled_from(KINDS))
    count = draw(st.sampled_from([1, 2, 40, 300]))
    value = {
        "codes": st.integers(0, len(SATURATION) - 1),
        "bytes": st.integers(0, 255) | st.just(7),
        "weights": st.floats(0, 4, width=32) | st.just(0.1),
    }[kind]
    terms = draw(
        st.lists(st.dictionaries(st.integers(0, count - 1), value, max_size=count), max_size=30)
    )
    years = st.sampled_from([0, 2000, 2005])
    latest = draw(st.lists(years, min_size=count, max_size=count))
    weight = st.floats(0, 8, width=32) | st.sampled_from([0.0, 1.0])
    rows = st.lists(st.integers(0, len(terms) - 1), unique=True) if terms else st.just([])
    topics = draw(st.lists(rows, max_size=20))
    pairs = [
        (np.array(numbers, np.int64), np.array([draw(weight) for _ in numbers], np.float32))
        for numbers in topics
    ]
    limit = st.sampled_from([0, 1999, 2000, 2004, NO_LIMIT])
    limits = draw(st.lists(limit, min_size=len(pairs), max_size=len(pairs)))
    depth = draw(st.sampled_from([1, 2, 10, 1000]))
    return (
        of_terms(terms, count, kind, latest),
        Queries.of(pairs, np.array(limits, np.uint16)),
        depth,
    )


@pytest.fixture(params=["blocks", "large"], scope="module")
def in_blocks(request):
    """Documents in small blocks, where terms are looked up as soon as they may; and as they are."""
    with pytest.MonkeyPatch.context() as patched:
        if request.param == "blocks":
            patched.setattr("irplatform.postings.search._BLOCK", 128)
            patched.setattr("irplatform.postings.search._FEWEST", 0)
        yield


@pytest.mark.parametrize("compiled", COMPILED)
@settings(max_examples=100, deadline=None)
@given(searches())
def test_search_finds_what_an_exhaustive_search_finds(in_blocks, compiled, case):
    assert rankings(*case, compiled=compiled) == exhaustive(*case)


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("terms", [1, 3, 12, 300])
def test_looking_terms_up_changes_nothing(in_blocks, compiled, kind, terms):
    """Random postings of common and rare terms, some of whose best documents are too late."""
    draw = np.random.default_rng(terms)
    count = 1_000
    sizes = np.minimum((draw.pareto(0.5, 400) * 9).astype(int) + 1, count)
    value = {
        "codes": lambda size: draw.integers(0, len(SATURATION), size),
        "bytes": lambda size: draw.integers(0, 256, size) // 8,
        "weights": lambda size: draw.gamma(1, 1, size).astype(np.float32),
    }[kind]
    postings = of_terms(
        [
            dict(zip(draw.choice(count, size, replace=False).tolist(), value(size), strict=True))
            for size in sizes
        ],
        count,
        kind,
        draw.choice([0, 2000, 2005], count),
    )
    topics = [
        (draw.choice(400, terms, replace=False), draw.gamma(1, 2, terms).astype(np.float32))
        for _ in range(8)
    ]
    queries = Queries.of(topics, np.array([NO_LIMIT, 2001] * 4, np.uint16))
    unhelped = replace(postings, common=no_common())
    for depth in (1, 10, 100, 1_000):
        expected = exhaustive(postings, queries, depth)
        assert rankings(postings, queries, depth, compiled=compiled) == expected
        assert rankings(unhelped, queries, depth, compiled=compiled) == expected


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("kind", KINDS)
def test_of_ties_the_smaller_numbers_come_first(compiled, kind):
    """Documents over several blocks, all with one of two scores."""
    count = 40_000
    term = {document: 3 if document % 1000 == 999 else 2 for document in range(count)}
    postings = of_terms([term], count, kind)
    queries = Queries.of([(np.array([0]), np.array([8], np.float32))])
    ((numbers, scores),) = rankings(postings, queries, 50, compiled=compiled)
    assert numbers == [*range(999, count, 1000), *range(10)]
    best, other = (6.0, 4.8) if kind == "codes" else (24.0, 16.0)
    assert scores == [best] * 40 + [np.float32(other)] * 10


@pytest.mark.parametrize("compiled", COMPILED)
def test_threads_change_nothing(compiled):
    draw = np.random.default_rng(3)
    terms = [dict.fromkeys(draw.integers(0, 500, 90).tolist(), n % 5) for n in range(50)]
    postings = of_terms(terms, 500, "bytes")
    topics = [(draw.permutation(50)[:6], draw.random(6).astype(np.float32)) for _ in range(100)]
    queries = Queries.of(topics)
    expected = exhaustive(postings, queries, 20)
    assert rankings(postings, queries, 20, threads=3, compiled=compiled) == expected
