"""What goes to Java and comes back in one call is what single calls would give."""

import pytest

from irplatform.lucene.java import java_class
from irplatform.lucene.transfer import byte_references
from irplatform.plugin import Document

pytestmark = pytest.mark.java


@pytest.mark.parametrize("doc_ids", [(), ("1",), ("b", "a", "b", ""), ("ü-1\U0001f9ec", 'q"\\\n')])
def test_references_are_those_that_are_made_one_by_one(doc_ids):
    reference = java_class("org.apache.lucene.util.BytesRef")
    plain = java_class("java.util.ArrayList")()
    for doc_id in doc_ids:
        plain.add(reference(doc_id.encode()))
    assert byte_references(doc_ids).equals(plain)


def test_ids_come_back_whatever_bytes_they_have(index_of):
    ids = ["a\x01b", "\x0f", "\x7f", "~\u0080", "plain"]
    index = index_of([Document(doc_id, "melanoma") for doc_id in ids])
    assert set(index.search({"q": "melanoma"}, 10)["q"].doc_ids) == set(ids)
