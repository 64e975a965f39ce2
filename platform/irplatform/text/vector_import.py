"""Imports published word vectors: word2vec (.bin, .txt), GloVe (.txt), fastText (.vec, .bin).

The kind is told from the file's first bytes (see `vector_formats`); all but fastText's .bin may be
compressed with gzip. These files hold words and numbers only; Python pickles, which could run code
when they are read, are refused.

Every word of the file goes through the platform's tokenizer, which lower-cases and spells
abbreviations and numbers in one way. Entries that make no single word (phrases, punctuation) are
left out. Where several make the same word ("IL-6" and "il6", all integers), the first of them, in
published files the most frequent, gives its vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.console import notice, progress
from irplatform.errors import InputError
from irplatform.text.tokenizer import tokenize
from irplatform.text.vector_formats import read_entries, recognize
from irplatform.text.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

_SEED = 1
"""Of the vector of UNK."""


def import_vectors(path: Path, folder: Path) -> None:
    """Read published vectors and write them where `WordVectors.open` finds them.

    Raises:
        InputError: the file is of no known kind, damaged, or a pickle.
    """
    kind = recognize(path)
    by_word: dict[str, npt.NDArray[np.float32]] = {}
    entries = 0
    with progress("importing word vectors", unit="words") as advance:
        for entry, vector in read_entries(path, kind):
            entries += 1
            words = tokenize(entry)
            if len(words) == 1:
                by_word.setdefault(words[0], vector)
            advance(1)
    if not by_word:
        raise InputError(f"no entry of this {kind} file is a word.", path=path)
    vectors = np.stack(list(by_word.values())).astype(np.float32, copy=False)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        word = list(by_word)[int(np.argmin(finite))]
        raise InputError(f"the vector of '{word}' has a number that is not finite.", path=path)
    notice(f"{path.name}: {kind}, {len(by_word):,} of its {entries:,} entries are words and kept.")
    facts = {"source": "imported", "file": path.name, "kind": kind, "entries": entries}
    facts["seed"] = _SEED
    WordVectors.with_unk(list(by_word), vectors, seed=_SEED, facts=facts).save(folder)
