"""Sparse vectors of documents are made once and kept, with those of their parts."""

import re

import numpy as np
import pytest
from pretrained_models import LONGEST
from small import small_resources
from sparse_models import opened, save_autoencoder, save_splade

from irplatform_encoders import sending
from irplatform_encoders.sparse import store as sparse_store
from irplatform_encoders.sparse.model import SparseTextEncoder
from irplatform_encoders.sparse.store import SparseVectorStore


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    return save_splade(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def read(monkeypatch):
    """The texts that were encoded."""
    inputs = []
    encode = SparseTextEncoder.documents

    def counted(self, texts):
        inputs.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(SparseTextEncoder, "documents", counted)
    return inputs


def test_a_document_is_encoded_once(splade, text_resources, read):
    ids = list(text_resources.texts)
    document_vectors = SparseVectorStore(text_resources, opened(splade, long="cut")).of(ids[::-1])
    assert len(read) == len(ids)
    again = SparseVectorStore(text_resources, opened(splade, long="cut"))
    again.fill("encoding documents")
    rows = text_resources.index.rows(ids[::-1])
    assert (again.rows(rows).vectors != document_vectors.vectors).nnz == 0
    assert len(read) == len(ids)
    expected = opened(splade).documents([text_resources.texts[i] for i in ids[::-1]])
    assert (document_vectors.vectors != expected).nnz == 0
    assert np.array_equal(document_vectors.offsets, np.arange(len(ids) + 1))
    assert (np.diff(document_vectors.vectors.indptr) == 0).any(), (
        "documents without text have no words"
    )


def test_a_long_document_has_a_vector_for_each_part(splade, text_resources):
    ids = list(text_resources.texts)
    encoder = opened(splade)
    document_vectors = SparseVectorStore(text_resources, encoder).of(ids)
    texts = [document.text for document in text_resources.documents(ids)]
    parts = encoder.split(texts)
    assert np.array_equal(np.diff(document_vectors.offsets), [len(of_text) for of_text in parts])
    assert {len(of_text) for of_text in parts} == {1, 2}
    expected = opened(splade).documents([part for of_text in parts for part in of_text])
    assert (document_vectors.vectors != expected).nnz == 0
    (notice,) = text_resources.told
    assert notice.startswith("Documents that are longer than the model reads are split")
    assert max(len(part.split()) for of_text in parts for part in of_text) <= LONGEST - 2


def test_many_words_have_longer_numbers(tmp_path, text_resources, monkeypatch):
    encoder = opened(save_autoencoder(tmp_path / "model"))
    ids = list(text_resources.texts)
    short = SparseVectorStore(text_resources, encoder).of(ids)
    monkeypatch.setattr(sparse_store, "_SHORT", 1)
    long = small_resources(tmp_path / "other", text_resources.texts, {"w1": np.ones(2)})
    assert (SparseVectorStore(long, encoder).of(ids).vectors != short.vectors).nnz == 0


def test_documents_of_another_model_are_other_documents(splade, tmp_path, text_resources, read):
    ids = list(text_resources.texts)[:9]
    SparseVectorStore(text_resources, opened(splade)).of(ids)
    first = len(read)
    other = save_splade(tmp_path / "other", seed=2)
    SparseVectorStore(text_resources, opened(other)).of(ids)
    SparseVectorStore(text_resources, opened(splade, most_words=3)).of(ids)
    assert len(read) == 3 * first


def test_a_model_whose_vectors_are_not_sparse_is_told(splade, text_resources, monkeypatch):
    ids = list(text_resources.texts)
    monkeypatch.setattr(sparse_store, "_MANY", 5)
    monkeypatch.setattr("irplatform_encoders.records._BLOCK", 50)
    SparseVectorStore(text_resources, opened(splade, long="cut")).of(ids)
    (notice,) = text_resources.told
    assert re.match(r"The model gives a document \d+ words on average, .*most_words", notice)
    text_resources.told.clear()
    SparseVectorStore(text_resources, opened(splade, most_words=3, long="cut")).of(ids)
    assert text_resources.told == []


def test_nothing_is_asked_for_and_nothing_is_found(splade, text_resources):
    document_vectors = SparseVectorStore(text_resources, opened(splade)).of([])
    assert (document_vectors.vectors.shape, document_vectors.offsets.tolist()) == (
        (0, len(opened(splade).words)),
        [0],
    )


def test_workers_encode_as_this_process_does(splade, text_resources, monkeypatch):
    def in_workers(encode, worker_encoder, items, device):
        return map(worker_encoder, items)

    ids = list(text_resources.texts)
    expected = opened(splade, long="cut").documents([text_resources.texts[i] for i in ids])
    monkeypatch.setattr(sending, "map_documents", in_workers)
    document_vectors = SparseVectorStore(text_resources, opened(splade, long="cut")).of(ids)
    assert (document_vectors.vectors != expected).nnz == 0
