"""Vectors of documents are made once, kept, and made again if they are damaged."""

import errno
import os
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from bi_encoders import OTHER, QUERY, open_bi_encoder, read_documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform_encoders.biencoder import VectorStore
from irplatform_encoders.biencoder_model import Encoder


def test_a_document_is_encoded_once(sentence_encoder, text_resources, monkeypatch):
    encoded = []
    documents_of = Encoder.documents

    def counted(self, read):
        encoded.extend(read)
        return documents_of(self, read)

    monkeypatch.setattr(Encoder, "documents", counted)
    first = open_bi_encoder(sentence_encoder, text_resources)
    scores = first.score_batch(
        [(QUERY, read_documents(text_resources, 30)), (OTHER, read_documents(text_resources, 40))]
    )
    assert len(encoded) == 40
    again = open_bi_encoder(sentence_encoder, text_resources)
    assert again.score(QUERY, read_documents(text_resources, 30)) == scores[0]
    assert len(encoded) == 40
    again.score(QUERY, read_documents(text_resources))
    assert len(encoded) == 120


def _store(resources, encode):
    encoder = SimpleNamespace(
        options=None, identity={"model": 1}, documents=encode, width=2, notes=()
    )
    return VectorStore(resources, encoder)


def _lengths(read):
    return np.array([[len(text), 1] for text in read], np.float32)


@given(bit=st.integers(0, 120 * 2 * 4 * 8 - 1))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_vector_is_made_again(text_resources, bit):
    ids = list(text_resources.texts)
    store = _store(text_resources, _lengths)
    expected = store.of(ids)
    path = store._folder / "vectors.float32"
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    text_resources.told.clear()
    assert np.array_equal(_store(text_resources, _lengths).of(ids), expected)
    assert text_resources.told == ["1 vectors of documents are damaged, and made again"]
    assert np.array_equal(np.fromfile(path, np.float32).reshape(-1, 2), expected)


def test_what_was_encoded_before_an_interruption_stays(text_resources, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.biencoder._BLOCK", 16)
    calls = []

    def interrupted(read):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(len(read))
        return _lengths(read)

    ids = list(text_resources.texts)
    with pytest.raises(KeyboardInterrupt):
        _store(text_resources, interrupted).of(ids)
    rest = []

    def counted(read):
        rest.extend(read)
        return _lengths(read)

    found = _store(text_resources, counted).of(ids)
    assert len(rest) == len(ids) - 3 * 16
    assert np.array_equal(found, _lengths([text_resources.documents([i])[0].text for i in ids]))


def test_progress_counts_the_documents_that_are_encoded(text_resources, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.biencoder._BLOCK", 16)
    ids = list(text_resources.texts)[:40]
    store = _store(text_resources, _lengths)
    store.of(ids[:4])
    told = []
    monkeypatch.setattr(
        text_resources,
        "progress",
        lambda label, total, unit: told.append(total) or nullcontext(told.append),
    )
    store.of(ids)
    store.of(ids)
    assert told == [36, 16, 16, 4], "once they are there, nothing is encoded"


def _refusing(monkeypatch, code):
    def refuse(path, flags):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr("irplatform_encoders.biencoder.os.open", refuse)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_to_is_read(text_resources, monkeypatch, code):
    ids = list(text_resources.texts)
    _store(text_resources, _lengths).of(ids[:50])
    _refusing(monkeypatch, code)
    asked = []

    def counted(read):
        asked.extend(read)
        return _lengths(read)

    store = _store(text_resources, counted)
    for _ in range(2):
        assert np.array_equal(store.of(ids), _lengths(list(text_resources.texts.values())))
    assert len(asked) == 2 * (len(ids) - 50)


def test_a_full_disk_is_an_error(text_resources, monkeypatch):
    store = _store(text_resources, _lengths)
    _refusing(monkeypatch, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        store.of(list(text_resources.texts))


def test_half_a_vector_on_a_full_disk_is_none(text_resources, monkeypatch):
    ids, whole = list(text_resources.texts), os.pwrite

    def half(file, value, place):
        return whole(file, value[: max(1, len(value) // 2)], place)

    monkeypatch.setattr("irplatform_encoders.biencoder.os.pwrite", half)
    with pytest.raises(OSError, match="No space"):
        _store(text_resources, _lengths).of(ids)
    monkeypatch.undo()
    assert np.array_equal(
        _store(text_resources, _lengths).of(ids), _lengths(list(text_resources.texts.values()))
    )


def test_vectors_that_another_process_adds_meanwhile_are_whole(text_resources):
    ids = list(text_resources.texts)
    store = _store(text_resources, _lengths)
    rows = text_resources.index.rows(ids)

    class AddedOnceAskedFor:
        """What is present, told just before another process adds the rest."""

        def __getitem__(self, chosen):
            before = np.array(present[chosen])
            _store(text_resources, _lengths).rows(rows)
            return before

    present, store._present = store._present, AddedOnceAskedFor()
    assert np.array_equal(store.rows(rows), _lengths(list(text_resources.texts.values())))
