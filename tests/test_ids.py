"""What can be no id says why."""

import pytest

from irplatform.data import MOST_BYTES, fault


@pytest.mark.parametrize("identifier", ["1", "é", "a\u200bb", "😀", "x" * MOST_BYTES, "é" * 16_383])
def test_printable_ids_up_to_what_lucene_takes_are_ids(identifier):
    assert fault(identifier) == ""


@pytest.mark.parametrize(
    ("identifier", "reason"),
    [
        ("", "is empty"),
        (" a", "has white space"),
        ("a\x85b", "has white space"),
        ("a\x00b", "has a control character"),
        ("\x1b[31m", "has a control character"),
        ("a\x7f", "has a control character"),
        ("a\x9b", "has a control character"),
        ("\ufeffq1", "has a byte order mark"),
        ("é" * 16_384, "has 32,768 bytes"),
    ],
)
def test_other_texts_are_none(identifier, reason):
    assert fault(identifier).startswith(reason)
