"""scispaCy's entity linker, for mentions that no name matches exactly.

It compares a mention with the knowledge bases' names by TF-IDF of character 3-grams
(`scispacy.candidate_generation`). The nearest names are found by one sparse product instead of
scispaCy's approximate index (HNSW of nmslib): on 222,000 names that takes 0.9 ms a mention, as
does the approximate search of a tenth of them, always finds the nearest, needs no hours to build,
and gives the same answer every time, which nmslib's random levels do not. Nothing is pickled.

Without a scientific model, mentions are runs of content words, and abbreviations. These are
compared by their long forms, as scispaCy's own linker does.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts.ambiguity import condition
from irplatform.concepts.strings import Texts, write_texts
from irplatform.concepts.table import KINDS, Mention
from irplatform.errors import InputError
from irplatform.knowledge.model import NAME_RANK
from irplatform.text.arrays import map_array, write_array
from irplatform.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.concepts.options import ConceptOptions
    from irplatform.concepts.table import ConceptTable
    from irplatform.knowledge import ConceptKind, NameKind
    from irplatform.text.arrays import Float64, Int64

VERSION = 1
"""Of the index."""
LINKS_VERSION = 2
"""Raised when the linker finds other concepts in the same text."""

_NEIGHBOURS = 10
_LEAST_COUNT = 10
"""Names that a 3-gram must occur in, as in scispaCy."""
_SHORTEST = 8
"""Letters of a mention; similar spelling says nothing of shorter ones."""
_MOST_WORDS = 6
_RANKS: dict[int, NameKind] = {rank: kind for kind, rank in NAME_RANK.items()}


def linker_version() -> dict[str, Any]:
    """What an index depends on beside its names, as JSON."""
    return {"version": VERSION, "least_count": _LEAST_COUNT}


def linked_kinds(options: ConceptOptions) -> list[ConceptKind]:
    """Kinds of concepts that the linker finds: those of its own that the graph has, too."""
    return [kind for kind in options.linker_kinds if kind in options.kinds]


def build_linker(table: ConceptTable, options: ConceptOptions, folder: Path) -> None:
    """Write the vectors of the names of concepts.

    Args:
        table: the concepts.
        options: whose kinds take part.
        folder: an empty folder.

    Raises:
        InputError: no concept of these kinds has a name that can be linked.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    names = list(dict.fromkeys(text for text, _ in _linkable(table, options)))
    if not names:
        kinds = " or ".join(linked_kinds(options)) or "concept"
        raise InputError(
            f"the knowledge bases have no {kinds} with a name that can be linked. scispaCy's "
            f"linker takes what is both in kinds ({', '.join(options.kinds) or 'none'}) and in "
            f"linker_kinds ({', '.join(options.linker_kinds) or 'none'}). Name other kinds or "
            "knowledge bases, or take linker=names."
        )
    least = min(_LEAST_COUNT, max(1, len(names) // 100))
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), min_df=least, dtype=np.float32
    )
    vectors = vectorizer.fit_transform(names)
    write_texts(folder, "names", names)
    write_texts(folder, "grams", vectorizer.get_feature_names_out().tolist())
    write_array(folder / "idf.float32", vectorizer.idf_.astype(np.float32))
    by_gram = vectors.T.tocsr()
    write_array(folder / "vectors.indptr.int64", by_gram.indptr.astype(np.int64))
    write_array(folder / "vectors.indices.int32", by_gram.indices.astype(np.int32))
    write_array(folder / "vectors.data.float32", by_gram.data)


def _linkable(table: ConceptTable, options: ConceptOptions) -> Iterator[tuple[str, int]]:
    """Names of some length that mean what they name wherever they stand, with their concepts."""
    kinds = linked_kinds(options)
    for concept in range(table.count):
        kind = KINDS[table.kinds[concept]]
        if kind in kinds:
            for text, rank in table.ranked_names_of(concept):
                if len(text) >= _SHORTEST and condition(text, _RANKS[rank], kind) == 0:
                    yield text, concept


class _Nearest:
    """The names with the most similar vectors; stands in for scispaCy's index.

    Args:
        folder: what `build_linker` wrote.
        shape: grams, names.
    """

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        from scipy.sparse import csr_matrix

        data = map_array(folder / "vectors.data.float32", np.float32)
        indices = map_array(folder / "vectors.indices.int32", np.int32)
        indptr = map_array(folder / "vectors.indptr.int64", np.int64)
        self._by_gram = csr_matrix((data, indices, indptr), shape=shape)

    def knnQueryBatch(  # noqa: N802 - the name that scispaCy calls
        self, vectors: Any, k: int
    ) -> list[tuple[Int64, Float64]]:
        """Names and cosine distances per vector, the nearest first, ties by number."""
        similar = (vectors @ self._by_gram).tocsr()
        nearest = []
        for start, end in pairwise(similar.indptr.tolist()):
            names = similar.indices[start:end].astype(np.int64)
            scores = similar.data[start:end].astype(np.float64)
            best = np.lexsort((names, -scores))[:k]
            nearest.append((names[best], 1 - scores[best]))
        return nearest


class SimilarNames:
    """Links mentions to concepts with similar names.

    Args:
        folder: what `build_linker` wrote.
        table: the concepts.
        options: the threshold, and the kinds of concepts.
    """

    def __init__(self, folder: Path, table: ConceptTable, options: ConceptOptions) -> None:
        from scispacy.linking_utils import Entity, KnowledgeBase

        self._threshold = options.threshold
        aliases: dict[int, list[str]] = {}
        for text, concept in _linkable(table, options):
            aliases.setdefault(concept, []).append(text)
        knowledge = KnowledgeBase(
            Entity(str(concept), texts[0], texts) for concept, texts in aliases.items()
        )
        self._candidates = _generator(folder, knowledge)

    def mentions(self, document: Any, matched: list[Mention]) -> list[Mention]:
        """Link what is left of an article.

        Args:
            document: it, through the pipeline. Its entities are the mentions, where there are any;
                else its abbreviations, and runs of words between them.
            matched: what names matched; nothing is linked across it.
        """
        matched_spans = [(mention.start, mention.end) for mention in matched]
        spans = [
            span
            for span in (document.ents or _spans(document, matched_spans))
            if len(_long_form(span)) >= _SHORTEST
            and not any(
                start < span.end_char and span.start_char < end for start, end in matched_spans
            )
        ]
        texts = list(dict.fromkeys(_long_form(span) for span in spans))
        candidates = self._candidates(texts, _NEIGHBOURS)
        best: dict[str, tuple[float, int]] = {}
        for text, each in zip(texts, candidates, strict=True):
            scored = [(max(c.similarities), -int(c.concept_id)) for c in each]
            if scored and max(scored)[0] >= self._threshold:
                score, concept = max(scored)
                best[text] = (score, -concept)
        return [
            Mention(span.start_char, span.end_char, span.text, best[text][1], best[text][0])
            for span in spans
            if (text := _long_form(span)) in best
        ]


def _long_form(span: Any) -> str:
    """A mention, or what the article says that it stands for."""
    return str((span._.long_form or span).text)


def _generator(folder: Path, knowledge: Any) -> Any:
    from scispacy.candidate_generation import CandidateGenerator
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams, names = list(Texts(folder, "grams")), list(Texts(folder, "names"))
    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), vocabulary=grams, dtype=np.float32
    )
    vectorizer.idf_ = map_array(folder / "idf.float32", np.float32)
    nearest = _Nearest(folder, (len(grams), len(names)))
    return CandidateGenerator(nearest, vectorizer, names, knowledge)


def _spans(document: Any, matched_spans: list[tuple[int, int]]) -> list[Any]:
    """Abbreviations, and runs of words between these and what names matched."""
    short_forms = list(document._.abbreviations)
    short_spans = [(span.start_char, span.end_char) for span in short_forms]
    return [*short_forms, *_runs(document, [*matched_spans, *short_spans])]


def _runs(document: Any, taken_spans: list[tuple[int, int]]) -> Iterator[Any]:
    """Runs of content words between function words, punctuation and what is taken."""
    first = 0
    for place in range(len(document) + 1):
        token = document[place] if place < len(document) else None
        if (
            token is not None
            and any(map(str.isalpha, token.text))
            and token.lower_ not in STOP_WORDS
            and not any(s < token.idx + len(token) and token.idx < e for s, e in taken_spans)
        ):
            continue
        if 1 < place - first <= _MOST_WORDS:
            yield document[first:place]
        first = place + 1
