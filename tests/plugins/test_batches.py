"""Batches of texts: every text once, similar lengths together, no more tokens than allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform_encoders.batches import batches, tokens_at_once

LENGTHS = st.lists(st.integers(1, 30), max_size=40)


@given(LENGTHS, st.integers(1, 100), st.booleans())
def test_every_text_is_in_one_batch_that_holds_no_more_tokens_than_allowed(lengths, tokens, padded):
    result = batches(lengths, tokens, padded=padded)
    assert sorted(place for batch in result for place in batch) == list(range(len(lengths)))
    for batch in result:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= tokens
        assert padded or {lengths[place] for place in batch} == {longest}


@given(LENGTHS, st.integers(1, 100))
def test_no_text_of_a_batch_is_longer_than_one_of_an_earlier_batch(lengths, tokens):
    order = [lengths[place] for batch in batches(lengths, tokens) for place in batch]
    assert order == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    ("device", "texts", "longest", "short", "tokens"),
    [
        ("cuda", 32, 256, False, 8192),
        ("cuda", 32, 8192, True, 16384),
        ("cpu", 32, 256, False, 512),
        ("cpu", 32, 256, True, 2048),
        ("cpu", 1, 256, False, 256),
    ],
)
def test_a_batch_has_the_tokens_that_a_device_takes_at_once(device, texts, longest, short, tokens):
    assert tokens_at_once(device, texts, longest, short=short) == tokens
