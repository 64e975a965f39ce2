"""Ids that come more than once are told from those that only share a hash."""

from irplatform.document_ids import DocumentIds
from irplatform.plugin import Document


class Id(str):
    """A text whose hash is that of every other one."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7


def noted(*doc_ids):
    ids = DocumentIds()
    for doc_id in doc_ids:
        ids.add(doc_id)
    return ids, [Document(doc_id) for doc_id in doc_ids]


def test_ids_that_repeat_are_counted_in_the_order_of_the_documents():
    ids, documents = noted("c", "a", "b", "a", "c", "a")
    assert list(ids.repeated(documents).items()) == [("c", 2), ("a", 3)]
    assert len(ids) == 6


def test_without_repetition_the_documents_are_not_read_again():
    ids, _ = noted("a", "b")
    assert ids.repeated(None) == {}
    assert DocumentIds().repeated(None) == {}


def test_two_ids_with_one_hash_are_two():
    ids, documents = noted(Id("a"), Id("b"), Id("b"))
    assert ids.repeated(documents) == {Id("b"): 2}
    ids, documents = noted(Id("a"), Id("b"))
    assert ids.repeated(documents) == {}
