import numpy as np
import pytest

from irplatform.errors import PlatformError
from irplatform.plugin import Document
from irplatform.text import ForwardIndex, WordVectors, build_forward_index

WORDS = ["cancer", "mice", "statins"]
MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_vectors_come_back_as_they_were_saved(tmp_path):
    vectors = WordVectors.with_unk(WORDS, MATRIX, seed=3, facts={"source": "a test"})
    vectors.save(tmp_path / "vectors")
    opened = WordVectors.open(tmp_path / "vectors")
    assert list(opened.words) == WORDS
    assert opened.matrix.dtype == np.float32
    assert (opened.matrix == vectors.matrix).all()
    assert (opened.matrix[:3] == MATRIX).all()
    assert (opened.dimensions, opened.unk, opened.facts) == (2, 3, {"source": "a test"})


def test_the_unk_vector_is_drawn_from_a_quarter_around_zero_with_the_seed():
    first, again, other = (
        WordVectors.with_unk(["a"], np.ones((1, 1000), np.float32), seed=seed).matrix[1]
        for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
    assert -0.25 <= first.min() < -0.24 < 0.24 < first.max() <= 0.25
    assert abs(first.mean()) < 0.02


def test_words_without_a_vector_get_the_row_of_unk():
    vectors = WordVectors.with_unk(WORDS, MATRIX, seed=1)
    rows = vectors.rows(["statins", "zebra", "cancer", "statins"])
    assert rows.tolist() == [2, 3, 0, 2]
    assert rows.dtype == np.int32
    places = vectors.known_rows(["statins", "zebra", "cancer", "statins"])
    assert places.tolist() == [2, 0, 2]
    assert vectors.known_rows([]).tolist() == []


@pytest.mark.parametrize("more_words", [0, 50])
def test_a_vocabulary_is_aligned_word_by_word(tmp_path, more_words):
    document = Document("d", "zebra mice statins", " ".join(f"w{n}" for n in range(5)))
    build_forward_index([document], tmp_path)
    vocabulary = ForwardIndex.open(tmp_path).vocabulary
    words = [*WORDS, *(f"v{n}" for n in range(more_words))]  # fewer, then more than the collection
    vectors = WordVectors.with_unk(words, np.zeros((len(words), 2), np.float32), seed=1)
    aligned = vectors.align(vocabulary)
    assert aligned.dtype == np.int32
    assert aligned.tolist() == vectors.rows(list(vocabulary)).tolist()
    assert aligned[:3].tolist() == [vectors.unk, 1, 2]
    places = vectors.align_known(vocabulary)
    assert places.tolist() == [-1 if row == vectors.unk else row for row in aligned.tolist()]


def test_coverage_is_of_words_and_of_their_occurrences(tmp_path):
    build_forward_index(
        [Document("d", "", "gene gene gene therapy")], tmp_path / "index", workers=1
    )
    index = ForwardIndex.open(tmp_path / "index")
    frequency = index.collection_frequency("text")
    for words in (["gene"], ["gene", "other", "strange"]):
        vectors = WordVectors.with_unk(words, np.ones((len(words), 2), np.float32), seed=1)
        assert vectors.coverage(index.vocabulary, frequency) == (0.5, 0.75)
    build_forward_index([], tmp_path / "nothing", workers=1)
    nothing = ForwardIndex.open(tmp_path / "nothing")
    empty = nothing.collection_frequency("text")
    assert vectors.coverage(nothing.vocabulary, empty) == (0.0, 0.0)


def test_a_folder_without_vectors_is_an_explained_failure(tmp_path):
    with pytest.raises(PlatformError, match="there are no word vectors here"):
        WordVectors.open(tmp_path)


def test_a_matrix_of_the_wrong_height_is_refused():
    with pytest.raises(ValueError, match="3 words and UNK, but 3 vectors"):
        WordVectors(WORDS, MATRIX)
