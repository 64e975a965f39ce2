"""Ids and texts that come more than once are told from those that only share a hash."""

import random

from irplatform.documents.duplicates import HashSet, Repeats
from irplatform.plugin import Document


class Id(str):
    """A text whose hash is that of every other one."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7


def noted(*documents, **keywords):
    repeats = Repeats(**keywords)
    for document in documents:
        repeats.add(document)
    return repeats


def test_ids_that_repeat_are_counted_in_the_order_of_the_documents():
    documents = [Document(doc_id) for doc_id in "cabaca"]
    ids = noted(*documents)
    assert [(doc_id, len(all_of_it)) for doc_id, all_of_it in ids.groups(documents).items()] == [
        ("c", 2),
        ("a", 3),
    ]
    assert len(ids) == 6


def test_without_repetition_the_documents_are_not_read_again():
    assert noted(Document("a"), Document("b")).groups(None) == {}
    assert Repeats().groups(None) == {}


def test_two_ids_with_one_hash_are_two():
    documents = [Document(Id(doc_id)) for doc_id in "abb"]
    assert noted(*documents).groups(documents) == {Id("b"): ["b", "b"]}
    assert noted(*documents[:2]).groups(documents[:2]) == {}


def test_texts_are_compared_where_there_are_any():
    documents = [Document("a", "t"), Document("b", "t"), Document("c"), Document("d")]
    text = {"text": lambda document: document.title or None}
    assert noted(*documents, **text).groups(documents) == {"t": ["a", "b"]}


def test_a_set_of_hashes_is_a_set():
    draw = random.Random(3)
    keys = [draw.randrange(-(2**63), 2**63) for _ in range(3_000)] + [0, 1, -1, 1024, 2048]
    expected, hashes = set(), HashSet()
    for key in draw.choices(keys, k=9_000):
        assert hashes.add(key) is ((key or 1) not in expected)
        expected.add(key or 1)
