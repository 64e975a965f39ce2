"""Fields of documents and topics, as several texts whatever they are."""

import pytest

from irplatform.plugin import Document, Topic

FIELDS = {"gene": "BRAF", "mesh": ("Humans", "Mice"), "empty": ""}


@pytest.mark.parametrize("made", [Document("d", fields=FIELDS), Topic("t", "query", FIELDS)])
def test_one_text_or_several_or_none(made):
    assert made.values("gene") == ("BRAF",)
    assert made.values("mesh") == ("Humans", "Mice")
    assert made.values("empty") == ("",)
    assert made.values("missing") == ()
