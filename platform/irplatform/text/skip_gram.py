"""Trains gensim's skip-gram models with hierarchical softmax in compiled code, to the same bytes.

gensim counts words, makes the tree of their codes, draws the first vectors and gives the learning
rate of each batch. The text is read as numbers of words, and the steps are those of
`skip_gram_kernel`. Where these do not give gensim's bytes, as with other processors or libraries,
gensim trains.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from irplatform.text.arrays import Float32

_CELLS = 1000
_WORDS_TRIED = 3000


def can_train(model: Any) -> bool:
    """Tell if `train` is for this kind of model, and would give the bytes that gensim gives."""
    if absent("numba") or not (model.sg and model.hs) or model.negative or model.workers > 1:
        return False
    return _same_bytes(model.vector_size)


def train(
    model: Any,
    sentences: Iterable[list[str]],
    file: Path,
    epochs: int,
    advance: Callable[[int], None],
) -> None:
    """Train a model, whose vocabulary is built, as `model.train` does.

    Writes the text as numbers to a file, which is removed at the end, and tells the words read.
    """
    from irplatform.text import skip_gram_kernel as kernel

    batches = _encode(model, sentences, file, kernel.END)
    points, codes = (model.wv.expandos[name] for name in ("point", "code"))
    begins = np.zeros(len(points) + 1, dtype=np.int64)
    np.cumsum([len(path) for path in points], out=begins[1:])
    nodes = np.concatenate(points).astype(np.uint32)
    targets = 1 - np.concatenate(codes).astype(np.float32)
    rates = model.wv.expandos["sample_int"] if model.sample else np.empty(0, dtype=np.uint32)
    inputs, outputs = model.wv.vectors.reshape(-1), model.syn1.reshape(-1)
    sigmoid = _sigmoid()
    sample = np.empty(model.batch_words, dtype=np.int32)
    ends = np.empty(model.batch_words + 1, dtype=np.int64)
    model.epochs = epochs
    for epoch in range(epochs):
        sentence_number = 0
        with file.open("rb") as numbers:
            for count, sentence_count in batches:
                rate = model._get_next_alpha(sentence_number / model.corpus_count, epoch)
                words = np.fromfile(numbers, dtype=np.int32, count=count)
                state = 0
                if model.sample:
                    high, low = (model.random.randint(0, 2**24) for _ in range(2))
                    state = 2**24 * high + low
                size, sentences_kept = kernel.keep(words, rates, state, sample, ends)
                shrinkage = model.random.randint(0, model.window, size)
                kernel.train(
                    sample[:size],
                    ends[:sentences_kept],
                    shrinkage,
                    model.window,
                    np.float32(rate),
                    begins,
                    nodes,
                    targets,
                    inputs,
                    outputs,
                    model.vector_size,
                    sigmoid,
                )
                sentence_number += sentence_count
                advance(count - sentence_count)
    file.unlink()


def _encode(
    model: Any, sentences: Iterable[list[str]], path: Path, end: int
) -> list[tuple[int, int]]:
    """Write sentences as numbers: of each of gensim's batches, the numbers and the sentences."""
    number = model.wv.key_to_index.get
    batches = []
    count = words = 0
    numbers: list[int] = []
    with path.open("wb") as file:
        for sentence in sentences:
            if words + len(sentence) > model.batch_words and count:
                batches.append((len(numbers), count))
                file.write(np.array(numbers, dtype=np.int32).tobytes())
                numbers, count, words = [], 0, 0
            numbers += [number(word, -1) for word in sentence]
            numbers.append(end)
            count += 1
            words += len(sentence)
        batches.append((len(numbers), count))
        file.write(np.array(numbers, dtype=np.int32).tobytes())
    return batches


def _sigmoid() -> Float32:
    """Gensim's table of the logistic function from -6 to 6, with its roundings."""
    places = np.arange(_CELLS, dtype=np.float32) / np.float32(_CELLS)
    powers = np.array([math.exp((place * 2.0 - 1.0) * 6.0) for place in places.tolist()])
    rounded = powers.astype(np.float32).astype(np.float64)
    return (rounded / (rounded + 1.0)).astype(np.float32)


def _same_bytes(dimensions: int) -> bool:
    """Train two small models, and compare them: the libraries below gensim choose their sums."""
    import tempfile
    from pathlib import Path

    from gensim.models import Word2Vec

    draws = np.random.default_rng(0).zipf(1.3, size=_WORDS_TRIED) % 400
    text = [[str(word) for word in draws[start : start + 20]] for start in range(0, len(draws), 20)]
    options = {"vector_size": dimensions, "min_count": 1, "sg": 1, "hs": 1, "negative": 0}
    pair = [Word2Vec(**options, workers=1, alpha=0.5, sample=0.01) for _ in range(2)]
    for model in pair:
        model.build_vocab(text)
    pair[0].train(text, total_examples=len(text), epochs=2)
    with tempfile.TemporaryDirectory() as folder:
        train(pair[1], text, Path(folder) / "words", 2, lambda _: None)
    one, other = ((model.wv.vectors.tobytes(), model.syn1.tobytes()) for model in pair)
    return one == other
