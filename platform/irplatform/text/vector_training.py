"""Trains word vectors with word2vec (Mikolov et al., NIPS 2013) through gensim.

The defaults are Delta's (Mohan et al., WWW 2018, section 3.1). With one worker, the default, the
same text and options give the same bytes. A sentence ends at a full stop, question or exclamation
mark before a space and something that can begin a sentence, except after abbreviations ("et al.",
"Fig. 1"), initials ("J. Smith", "E. coli") and numbers.
"""

from __future__ import annotations

import logging
import math
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from irplatform.errors import InputError, counted
from irplatform.options import Options
from irplatform.system.console import QUICK, detail, progress
from irplatform.text import skip_gram
from irplatform.text.extra_text import read_paragraphs
from irplatform.text.tokenizer import tokenize
from irplatform.text.vectors import WordVectors
from irplatform.workers.distribution import batched_by_size, ordered_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Document


_PAPER_MIN_COUNT = 101
_PAPER_WORDS = 4e9
_LEAST_MIN_COUNT = 2
_USUAL_EPOCHS = 5
_MOST_EPOCHS = 30
_WORDS_ENOUGH = 60e6
_WORDS_PLENTY = 1e9
_BATCH_CHARACTERS = 2_000_000
_WORTH_COMPILING = 500_000
"""Words, over all epochs, whose training takes gensim longer than compiling takes."""
_LONGEST_SENTENCE = 10_000
"""Words; gensim ignores the rest of a longer line (`MAX_WORDS_IN_BATCH`)."""
_ABBREVIATION = re.compile(
    "al|approx|ca|cf|corp|dept|dr|e[.]g|eds?|eq|eqs|eqn|et|etc|ex|figs?|i[.]e|inc|incl|jr|ltd|max|"
    "min|mrs?|ms|nos?|p[.]o|pp|prof|refs?|resp|sect|spp?|ssp|st|subsp|suppl|tab|var|viz|vols?|vs|"
    "wt",
    re.IGNORECASE,
)
_MAY_END = frozenset({"al", "etc"})
"""Abbreviations that may also end a sentence, if a capitalized word follows."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_BOUNDARY = re.compile(r"""([.!?])["'”’)\]]*\s+(?=(["'“‘(\[]*)(\w))""")
_LAST_WORD = re.compile(r"(?:.*[\s(\[,;/])?([^\s(\[,;/]+)\Z", re.DOTALL)
"""Jumps to the end; a search for the word alone would begin at every letter before it."""
_AtLeastOne = Annotated[int, Field(ge=1)]


class VectorOptions(Options):
    """Options of training word vectors."""

    algorithm: Literal["skip-gram", "cbow"] = Field(
        "skip-gram", description="predict the context from the word, or the word from the context"
    )
    hierarchical_softmax: bool = Field(
        True, description="hierarchical softmax; otherwise negative sampling"
    )
    negative: int = Field(
        5, ge=1, description="negative samples per word, without hierarchical softmax"
    )
    dimensions: int = Field(300, ge=1, description="length of a vector")
    window: int = Field(5, ge=1, description="context words on either side")
    min_count: _AtLeastOne | Literal["auto"] = Field(
        "auto",
        description="rarer words have no vector; auto: 101 (the paper's, for PubMed) times the "
        "square root of the share of PubMed's 4 billion words that the text has, at least 2",
    )
    epochs: _AtLeastOne | Literal["auto"] = Field(
        "auto",
        description="passes over the text; auto: until 60 million words were read, between 5 and "
        "30 times, fewer above 200 million words",
    )
    sample: float = Field(
        1e-4,
        ge=0,
        lt=1,  # gensim takes 1 for a number of occurrences
        description="words more frequent than this are passed over at random; 0: none",
    )
    seed: int = Field(1, ge=0, lt=2**32, description="of the initial vectors and of UNK")
    workers: int = Field(1, ge=1, description="threads; only 1 is repeatable")


def train_vectors(
    documents: Iterable[Document],
    extra_text: Sequence[Path],
    options: VectorOptions,
    folder: Path,
    *,
    total: int | None = None,
) -> None:
    """Train word vectors on documents and further text, and write them to a folder.

    A title is one sentence, an abstract several. `total` is about the number of documents, for the
    progress display. The folder also holds the tokenized text until the end.

    Raises:
        InputError: a file of further text cannot be read, or there is too little text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sentence_file = folder / "sentences.txt"
    with progress("reading sentences for word vectors", total, "documents", part=QUICK) as advance:

        def texts() -> Iterator[str]:
            for document in documents:
                yield from (document.title, document.abstract)
                advance(1)
            for path in extra_text:
                yield from read_paragraphs(path)

        words = 0
        with sentence_file.open("w", encoding="utf-8") as file:
            batches = batched_by_size(texts(), len, _BATCH_CHARACTERS)
            for lines, count in ordered_map(_tokenized_sentences, batches):
                file.write(lines)
                words += count
    min_count = automatic_min_count(words) if options.min_count == "auto" else options.min_count
    epochs = automatic_epochs(words) if options.epochs == "auto" else options.epochs
    detail(
        f"Word vectors: {words:,} words of text, {counted(epochs, 'epoch')}, "
        f"words that occur at least {min_count} times."
    )
    vectors = _train(sentence_file, words, min_count, epochs, options)
    sentence_file.unlink()
    vectors.save(folder)


def automatic_min_count(words: int) -> int:
    """The minimum frequency for a text of so many words; see `VectorOptions.min_count`."""
    scaled = round(_PAPER_MIN_COUNT * math.sqrt(words / _PAPER_WORDS))
    return max(_LEAST_MIN_COUNT, min(_PAPER_MIN_COUNT, scaled))


def automatic_epochs(words: int) -> int:
    """The number of epochs for a text of so many words; see `VectorOptions.epochs`."""
    epochs = min(_MOST_EPOCHS, max(_USUAL_EPOCHS, round(_WORDS_ENOUGH / max(1, words))))
    return max(1, min(epochs, int(_WORDS_PLENTY / max(1, words))))


def _train(
    path: Path, words: int, min_count: int, epochs: int, options: VectorOptions
) -> WordVectors:
    from gensim.models import Word2Vec

    # Without a handler of the application's, gensim's advice would go to the terminal.
    logging.getLogger("gensim").addHandler(logging.NullHandler())
    model = Word2Vec(
        vector_size=options.dimensions,
        window=options.window,
        min_count=min_count,
        sg=int(options.algorithm == "skip-gram"),
        hs=int(options.hierarchical_softmax),
        negative=0 if options.hierarchical_softmax else options.negative,
        sample=options.sample,
        seed=options.seed,
        workers=options.workers,
        hashfxn=lambda word: zlib.crc32(word.encode()),  # Python's differs between processes
    )
    model.build_vocab(_Sentences(path, lambda _: None))
    if not len(model.wv):
        raise InputError(
            f"cannot train word vectors: of {words:,} words of text, none occurs {min_count} times."
            " Add text, or lower min_count."
        )
    label = "training word vectors"
    with progress(label, words * epochs, "words", part=0.25, once=True) as advance:
        if words * epochs >= _WORTH_COMPILING and skip_gram.can_train(model):
            silent = _Sentences(path, lambda _: None)
            skip_gram.train(model, silent, path.with_suffix(".numbers"), epochs, advance)
        else:
            training_text = _Sentences(path, advance)
            model.train(training_text, total_examples=model.corpus_count, epochs=epochs)
    facts: dict[str, Any] = {
        "source": "trained",
        "options": options.model_dump(mode="json"),
        "min_count": min_count,
        "epochs": epochs,
        "words_of_text": words,
    }
    return WordVectors.with_unk(
        model.wv.index_to_key, model.wv.vectors, seed=options.seed, facts=facts
    )


class _Sentences:
    """Streams a file of sentences, one a line, and reports the words read.

    gensim reads in a thread for each epoch, which may find the file deleted after Ctrl-C.
    """

    def __init__(self, path: Path, advance: Callable[[int], None]) -> None:
        self._path = path
        self._advance = advance

    def __iter__(self) -> Iterator[list[str]]:
        with suppress(FileNotFoundError), self._path.open(encoding="utf-8") as file:
            for line in file:
                words = line.split()
                yield words
                self._advance(len(words))


def _tokenized_sentences(texts: Sequence[str]) -> tuple[str, int]:
    lines = []
    count = 0
    for text in texts:
        for sentence in sentences(text):
            words = tokenize(sentence)
            count += len(words)
            lines += [
                " ".join(words[start : start + _LONGEST_SENTENCE]) + "\n"
                for start in range(0, len(words), _LONGEST_SENTENCE)
            ]
    return "".join(lines), count


def sentences(text: str) -> list[str]:
    """Split text into sentences, in order, without surrounding space; none is empty."""
    return [
        sentence for paragraph in _PARAGRAPH.split(text) for sentence in _of_paragraph(paragraph)
    ]


def _of_paragraph(text: str) -> list[str]:
    parts = []
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if _ends_sentence(text[start : boundary.start()], boundary[1], boundary[3]):
            parts.append(text[start : boundary.end()].strip())
            start = boundary.end()
    parts.append(text[start:].strip())
    return [sentence for sentence in parts if sentence]


def _ends_sentence(before: str, mark: str, first_character: str) -> bool:
    if first_character.islower():
        return False
    if mark != ".":
        return True
    word = _LAST_WORD.match(before)
    if word is None:
        return True
    last = word[1]
    if len(last) == 1 and last.isupper():  # an initial, or a genus
        return False
    if last.lower() in _MAY_END:
        return first_character.isupper()
    return _ABBREVIATION.fullmatch(last) is None
