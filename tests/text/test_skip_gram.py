import zlib

import numpy as np
import pytest

from irplatform.system.arithmetic import portable
from irplatform.system.packages import absent
from irplatform.text import skip_gram

pytestmark = pytest.mark.skipif(bool(absent("numba")), reason="numba")
GENERATOR = np.random.default_rng(1)
TEXT = [
    [f"w{word}" for word in GENERATOR.zipf(1.2, size=length) % 500]
    for length in [*GENERATOR.integers(1, 60, size=600), 10_000, 1]
]


def untrained(dimensions, **options):
    from gensim.models import Word2Vec

    arguments = {"sg": 1, "hs": 1, "negative": 0, "workers": 1, "min_count": 2, "seed": 3} | options
    model = Word2Vec(
        vector_size=dimensions, hashfxn=lambda word: zlib.crc32(word.encode()), **arguments
    )
    model.build_vocab(TEXT)
    return model


@pytest.mark.skipif(not portable(), reason="OpenBLAS has other sums for other processors")
@pytest.mark.parametrize("dimensions", [1, 4, 31, 32, 50, 300])
@pytest.mark.parametrize("sample", [0, 0.001])
def test_vectors_are_gensims_to_the_bit(tmp_path, dimensions, sample):
    """Batches, rates, draws and sums; a word is trained on none of its neighbours at times."""
    reference, model = (untrained(dimensions, sample=sample, alpha=0.1) for _ in range(2))
    reference.train(TEXT, total_examples=reference.corpus_count, epochs=2)
    assert skip_gram.can_train(model)
    words = []
    skip_gram.train(model, TEXT, tmp_path / "words", 2, words.append)
    assert model.wv.vectors.tobytes() == reference.wv.vectors.tobytes()
    assert model.syn1.tobytes() == reference.syn1.tobytes()
    assert sum(words) == 2 * sum(map(len, TEXT))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options", [{"sg": 0}, {"hs": 0, "negative": 5}, {"negative": 5}, {"workers": 2}]
)
def test_other_models_are_left_to_gensim(options):
    assert not skip_gram.can_train(untrained(8, **options))


def test_other_sums_are_left_to_gensim(monkeypatch):
    """As where OpenBLAS has other kernels: here the table is not gensim's."""
    rounded = skip_gram._sigmoid()
    monkeypatch.setattr(skip_gram, "_sigmoid", lambda: np.nextafter(rounded, np.float32(1)))
    assert not skip_gram.can_train(untrained(32))
