"""Encoders with stored vectors score texts that are no documents, as a service is sent them."""

import pytest
from bi_encoders import QUERY
from multi_vector_models import library_is_too_old, save_multi_vector
from pretrained_models import save_sentence_encoder
from sparse_models import save_splade

from irplatform.plugin import Document, Documents
from irplatform.text.given_texts import GivenTexts, substitute
from irplatform_encoders.biencoder import BiEncoder
from irplatform_encoders.multi_vector.reranker import MultiVector
from irplatform_encoders.sparse.reranker import SparseEncoder

KINDS = {
    "bi-encoder": (BiEncoder, save_sentence_encoder),
    "sparse-encoder": (SparseEncoder, save_splade),
}
if not library_is_too_old():
    KINDS["multi-vector"] = (MultiVector, save_multi_vector)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_score_as_documents_with_the_same_text_do(kind, tmp_path, text_resources):
    system, save = KINDS[kind]
    save(tmp_path / "model")
    reranker = system(system.Options(model=str(tmp_path / "model")))
    reranker.prepare(text_resources)
    expected = reranker.score(QUERY, text_resources.documents(["d3", "d1", "d4"]))
    texts = {
        f"text {doc_id}": Document(f"text {doc_id}", "", text_resources.texts[doc_id])
        for doc_id in ("d4", "d3", "d1")
    }
    with substitute(GivenTexts(texts)):
        documents = Documents.of([texts[f"text {doc_id}"] for doc_id in ("d3", "d1", "d4")])
        assert reranker.score(QUERY, documents) == pytest.approx(expected, rel=1e-6)
        assert len(reranker.explain(QUERY, documents)) == 3
    assert reranker.score(QUERY, text_resources.documents(["d3", "d1", "d4"])) == expected
