"""MaxSim, compiled, with numpy and with torch, is the sum of the largest inner products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multi_vector_models import library_is_too_old

from irplatform_encoders.multi_vector import maxsim as module
from irplatform_encoders.multi_vector.maxsim import maxsim, on_gpu, with_numpy
from irplatform_encoders.multi_vector.vectors import packed, to_int8, unpacked
from irplatform_encoders.records import RecordBlock

KINDS = ["float32", "float16", "int8"]


def _vectors(seed, count, width):
    numbers = np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)
    return numbers / np.linalg.norm(numbers, axis=1, keepdims=True)


def _documents(seed, count=20, width=24):
    """Parts of documents: some have several, some none."""
    random = np.random.default_rng(seed)
    return [
        [_vectors((seed, number, part), random.integers(1, 30), width) for part in range(parts)]
        for number, parts in enumerate(random.choice([0, 1, 1, 1, 2, 3], count))
    ]


def _held(documents, kind):
    """Records of documents one after the other, each at a multiple of 8 bytes."""
    records = [packed(parts, np.dtype(kind)) for parts in documents]
    sizes = np.array([len(record) for record in records])
    begins = np.cumsum(sizes + 16) - sizes
    begins = -(-begins // 8) * 8
    data = np.zeros(begins[-1] + sizes[-1] + 3, np.uint8)  # as after a write that broke off
    for begin, record in zip(begins, records, strict=True):
        data[begin : begin + len(record)] = np.frombuffer(record, np.uint8)
    return RecordBlock(np.arange(len(records))[::-1].copy(), data, begins, sizes)


def _stored(documents, kind, width=24):
    return unpacked(_held(documents, kind), np.dtype(kind), width)


def _plain(query, rows):
    """By the definition, in 64 bits."""
    return float((query.astype(np.float64) @ rows.astype(np.float64).T).max(axis=1).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_records_hold_the_vectors_of_parts(kind):
    documents = _documents(1)
    places, vectors = _stored(documents, kind)
    last = len(documents) - 1
    assert places.tolist() == [last - n for n, parts in enumerate(documents) for _ in parts]
    flat = [part for parts in documents for part in parts]
    assert vectors.tokens.tolist() == list(map(len, flat))
    tolerance = {"float32": 0, "float16": 5e-4, "int8": 5e-3}[kind]
    for text, part in enumerate(flat):
        assert np.allclose(vectors.of_text(text, 24), part, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1, 3, 24, 128])
def test_scores_are_sums_of_the_largest_products(kind, width):
    documents = _documents(2, width=width)
    _, vectors = _stored(documents, kind, width)
    query = _vectors(9, 7, width)
    expected = [_plain(query, vectors.of_text(n, width)) for n in range(len(vectors.tokens))]
    for compute in (with_numpy, maxsim, lambda *a: on_gpu(*a, "cpu")):
        assert np.allclose(compute(query, vectors), expected, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_and_the_compiled_loop_agree(kind):
    pytest.importorskip("numba")
    _, vectors = _stored(_documents(3, 200, 128), kind, 128)
    query = _vectors(8, 32, 128)
    assert module._compiled() is not None
    assert np.allclose(maxsim(query, vectors), with_numpy(query, vectors), rtol=0, atol=1e-6)


def test_numpy_does_without_numba(monkeypatch):
    _, vectors = _stored(_documents(3), "int8")
    query = _vectors(8, 5, 24)
    monkeypatch.setattr(module, "_compiled", lambda: None)
    assert np.array_equal(maxsim(query, vectors), with_numpy(query, vectors))


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_depends_on_no_other_text(kind):
    _, vectors = _stored(_documents(4, 300), kind)
    query = _vectors(8, 12, 24)
    together = maxsim(query, vectors)
    alone = [maxsim(query, vectors.part(slice(n, n + 1)))[0] for n in range(len(together))]
    assert together.tolist() == alone
    assert np.array_equal(maxsim(query, vectors, threads=3), together)
    assert len(maxsim(query, vectors.part(slice(0, 0)))) == 0


def test_a_gpu_s_blocks_change_nothing(monkeypatch):
    _, vectors = _stored(_documents(5, 60), "float16")
    query = _vectors(8, 12, 24)
    scores = on_gpu(query, vectors, "cpu")
    for size in (1, 40, 500):
        monkeypatch.setattr(module, "_ON_GPU", size)
        assert np.allclose(on_gpu(query, vectors, "cpu"), scores, atol=1e-6)


def test_all_numbers_of_16_bits_are_read():
    numba = pytest.importorskip("numba")
    from irplatform_encoders.multi_vector.maxsim_kernel import _to_float32

    bits = np.arange(1 << 16, dtype=np.uint16)
    numbers = bits.view(np.float16)
    finite = np.isfinite(numbers)
    rows = np.empty(len(bits), np.float32)
    _to_float32(bits, rows)
    assert np.array_equal(rows[finite], numbers[finite].astype(np.float32))
    assert numba is not None


@given(seed=st.integers(0, 1000), scale=st.sampled_from([0, 1e-30, 1, 1e30]))
def test_numbers_of_8_bits_are_off_by_half_a_step(seed, scale):
    rows = _vectors(seed, 5, 16) * np.float32(scale)
    numbers, scales = to_int8(rows)
    assert np.abs(numbers).max(initial=0) <= 127
    restored = numbers.astype(np.float64) * scales[:, None]
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    assert (np.abs(restored - rows) <= largest / 254 * 1.0001).all()


@pytest.mark.skipif(
    library_is_too_old(), reason="sentence-transformers has multi-vector models since 6.0"
)
def test_scores_are_those_of_sentence_transformers():
    from sentence_transformers.util.similarity import maxsim as theirs

    _, vectors = _stored(_documents(6, 50, 128), "float32", 128)
    query = _vectors(8, 32, 128)
    read = [vectors.of_text(n, 128) for n in range(len(vectors.tokens))]
    assert np.allclose(maxsim(query, vectors), theirs([query], read)[0].numpy(), atol=1e-5)
