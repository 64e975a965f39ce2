"""Links mentions to concepts with similar names, as scispaCy's entity linker does.

Names are compared by TF-IDF of character 3-grams. One sparse product of SciPy finds the nearest
names, in place of scispaCy's approximate index (nmslib has no wheels for current Pythons). Without
a scientific model, mentions are runs of content words, and abbreviations by their long forms.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts.ambiguity import condition
from irplatform.concepts.table import KINDS, Mention, open_texts, write_texts
from irplatform.errors import InputError
from irplatform.knowledge.model import NAME_RANK
from irplatform.text.arrays import map_array, write_array
from irplatform.text.tokenizer import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.table import ConceptTable
    from irplatform.knowledge import ConceptKind, NameKind

VERSION = 1
"""Of the index."""
LINKS_VERSION = 2
"""Raise it when the linker finds other concepts in the same text."""

_NEIGHBOURS = 10
_LEAST_COUNT = 10
"""Names that a 3-gram must occur in, as in scispaCy."""
_SHORTEST = 8
"""Letters of the shortest mention; for shorter ones, similar spelling proves nothing."""
_MOST_WORDS = 6
_RANKS: dict[int, NameKind] = {rank: kind for kind, rank in NAME_RANK.items()}


def linker_version() -> dict[str, Any]:
    """The index's part of a cache key beside its names, as JSON."""
    return {"version": VERSION, "least_count": _LEAST_COUNT}


def linked_kinds(options: ConceptOptions) -> list[ConceptKind]:
    """The kinds of concepts that the linker finds, of those in the graph."""
    return [kind for kind in options.linker_kinds if kind in options.kinds]


def build_linker(table: ConceptTable, options: ConceptOptions, folder: Path) -> None:
    """Write the vectors of the names of concepts into an empty folder."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    names = list(dict.fromkeys(text for text, _ in _linkable(table, options)))
    if not names:
        kinds = " or ".join(linked_kinds(options)) or "concept"
        raise InputError(
            f"the knowledge bases have no {kinds} with a name that can be linked. scispaCy's "
            f"linker takes kinds that are both in kinds ({', '.join(options.kinds) or 'none'}) "
            f"and in linker_kinds ({', '.join(options.linker_kinds) or 'none'}). Name other kinds "
            "or knowledge bases, or take linker=names."
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
    """Long names that count without conditions, with their concepts."""
    kinds = linked_kinds(options)
    for concept in range(table.count):
        kind = KINDS[table.kinds[concept]]
        if kind in kinds:
            for text, rank in table.ranked_names_of(concept):
                if len(text) >= _SHORTEST and condition(text, _RANKS[rank], kind) == 0:
                    yield text, concept


class _NearestNames:
    def __init__(self, folder: Path) -> None:
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import TfidfVectorizer

        grams, names = list(open_texts(folder, "grams")), list(open_texts(folder, "names"))
        self._names = names
        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), vocabulary=grams, dtype=np.float32
        )
        self._vectorizer.idf_ = map_array(folder / "idf.float32", np.float32)
        data = map_array(folder / "vectors.data.float32", np.float32)
        indices = map_array(folder / "vectors.indices.int32", np.int32)
        indptr = map_array(folder / "vectors.indptr.int64", np.int64)
        self._by_gram = csr_matrix((data, indices, indptr), shape=(len(grams), len(names)))

    def of(self, texts: list[str]) -> Iterator[list[tuple[str, float]]]:
        """Names and their cosine similarity per text, the nearest first, ties by number."""
        if not texts:
            return
        similar = (self._vectorizer.transform(texts) @ self._by_gram).tocsr()
        for start, end in pairwise(similar.indptr.tolist()):
            names = similar.indices[start:end].astype(np.int64)
            scores = similar.data[start:end].astype(np.float64)
            best = np.lexsort((names, -scores))[:_NEIGHBOURS]
            yield [(self._names[names[place]], float(scores[place])) for place in best]


class SimilarNames:
    """Links mentions to concepts with similar names, from a folder of `build_linker`."""

    def __init__(self, folder: Path, table: ConceptTable, options: ConceptOptions) -> None:
        from scispacy.linking_utils import Entity, KnowledgeBase

        self._threshold = options.threshold
        aliases: dict[int, list[str]] = {}
        for text, concept in _linkable(table, options):
            aliases.setdefault(concept, []).append(text)
        self._knowledge = KnowledgeBase(
            Entity(str(concept), texts[0], texts) for concept, texts in aliases.items()
        )
        self._nearest = _NearestNames(folder)

    def mentions(self, document: Any, matched: list[Mention]) -> list[Mention]:
        """Link the mentions of an article, given as the pipeline's document, that no name matched.

        The document's entities are the mentions, or else its abbreviations and runs of words.
        Linked mentions do not overlap those that names matched.
        """
        matched_spans = [(mention.start, mention.end) for mention in matched]
        mentioned = list(document.ents)
        if not mentioned:
            mentioned = list(document._.abbreviations)
            short_spans = [(span.start_char, span.end_char) for span in mentioned]
            mentioned += _runs(document, [*matched_spans, *short_spans])
        spans = [
            span
            for span in mentioned
            if len(_long_form(span)) >= _SHORTEST
            and not any(
                start < span.end_char and span.start_char < end for start, end in matched_spans
            )
        ]
        texts = list(dict.fromkeys(_long_form(span) for span in spans))
        best: dict[str, tuple[float, int]] = {}
        for text, names in zip(texts, self._nearest.of(texts), strict=True):
            scored = [
                (similarity, -int(concept))
                for name, similarity in names
                for concept in self._knowledge.alias_to_cuis[name]
            ]
            if scored and max(scored)[0] >= self._threshold:
                score, concept = max(scored)
                best[text] = (score, -concept)
        return [
            Mention(span.start_char, span.end_char, span.text, best[text][1], best[text][0])
            for span in spans
            if (text := _long_form(span)) in best
        ]


def _long_form(span: Any) -> str:
    return str((span._.long_form or span).text)


def _runs(document: Any, taken_spans: list[tuple[int, int]]) -> Iterator[Any]:
    """Runs of content words between function words, punctuation and taken spans."""
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
