"""Bits and ranks find the posting of a document among those of a common term."""

import numpy as np
from common_terms import common_terms

from irplatform.postings.common import no_common

COUNT = 1_000


def postings():
    """Terms of one document, and of 31, 32, 700 and all of a thousand."""
    draw = np.random.default_rng(2)
    sizes = [1, 31, 32, 700, COUNT]
    documents = [np.sort(draw.choice(COUNT, size, replace=False)) for size in sizes]
    return np.cumsum([0, *sizes]), np.concatenate(documents).astype(np.int32)


def test_terms_of_one_document_in_32_are_common():
    assert common_terms(*postings(), COUNT).rows.tolist() == [2, 3, 4]


def test_a_posting_is_found_by_its_document():
    starts, documents = postings()
    rows, bits, ranks = common_terms(starts, documents, COUNT)
    for row, of_term, before in zip(rows.tolist(), bits.tolist(), ranks.tolist(), strict=True):
        members = documents[starts[row] : starts[row + 1]].tolist()
        for document in range(COUNT):
            word, place = divmod(document, 64)
            has = of_term[word] >> place & 1
            assert has == (document in members)
            if has:
                rank = before[word] + (of_term[word] & ((1 << place) - 1)).bit_count()
                assert members[rank] == document


def test_places_are_told_of_common_terms_only():
    common = common_terms(*postings(), COUNT)
    assert common.places(np.array([0, 4, 2, 1, 3])).tolist() == [-1, 2, 0, -1, 1]
    assert no_common().places(np.array([0, 4])).tolist() == [-1, -1]
