"""Fields of documents and topics, as several texts whatever they are."""

import pytest

from irplatform.plugin import Document, Topic

FIELDS = {"gene": "BRAF", "mesh": ("Humans", "Mice"), "empty": ""}


@pytest.mark.parametrize("subject", [Document("d", fields=FIELDS), Topic("t", "query", FIELDS)])
def test_one_text_or_several_or_none(subject):
    assert subject.values("gene") == ("BRAF",)
    assert subject.values("mesh") == ("Humans", "Mice")
    assert subject.values("empty") == ("",)
    assert subject.values("missing") == ()
