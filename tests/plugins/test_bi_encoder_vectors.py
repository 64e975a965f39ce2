"""Vectors of documents are made once and kept; `test_records` has what else may happen."""

import numpy as np
from bi_encoders import OTHER, QUERY, open_bi_encoder, read_documents

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


def test_vectors_are_those_of_the_encoder_in_any_order(sentence_encoder, text_resources):
    encoder = open_bi_encoder(sentence_encoder, text_resources)._encoder
    ids = list(text_resources.texts)
    expected = encoder.documents([*text_resources.texts.values()])
    store = VectorStore(text_resources, encoder)
    store.fill("encoding documents")
    for order in (range(120), [7, 3, 7, 119], []):
        assert np.array_equal(store.of([ids[place] for place in order]), expected[[*order]])
