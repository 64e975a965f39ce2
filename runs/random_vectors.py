"""Writes uniform random word vectors, as table 4 of GRAPHENE (CIKM 2019) starts models from.

    python runs/random_vectors.py 300 trec-pm/2017.toml > random-300.txt

The first line has the number of words and of dimensions, as word2vec writes it. Words are those of
titles and abstracts that occur six times or more; numbers lie within ±√(3 / dimensions) (section
5.4), drawn in the order of the words from the seed 42.
"""

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np

from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.text.tokenizer import tokenize

FEWEST = 6


def random_vectors(dimensions: int, name: str) -> Iterator[str]:
    """The lines of the file."""
    counts: Counter[str] = Counter()
    for document in registry().collection(name).corpus:
        counts.update(tokenize(document.text))
    words = sorted(word for word, count in counts.items() if count >= FEWEST)
    yield f"{len(words)} {dimensions}"
    generator, bound = np.random.default_rng(42), (3 / dimensions) ** 0.5
    for word in words:
        numbers = generator.uniform(-bound, bound, dimensions)
        yield " ".join([word, *(f"{number:.6f}" for number in numbers)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("dimensions", type=int)
    parser.add_argument("collection")
    given = parser.parse_args()
    try:
        for line in random_vectors(given.dimensions, given.collection):
            print(line)
    except InputError as error:
        parser.error(str(error))
