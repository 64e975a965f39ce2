"""Topics as GRAPHENE reads them: fields, other names of what they speak of, matching concepts.

Each field (disease, gene, treatment) is a text of its own; each MeSH heading of a MeSH-term query
is one, too (section 4.1). A field is followed by the other names of the concepts in it; the paper
takes them from the knowledge bases of its table 2, we from those that the graph is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform_graphene.concept_inputs import known_words

if TYPE_CHECKING:
    from irplatform.concepts.graph import ConceptGraph
    from irplatform.plugin import Topic
    from irplatform.text import WordVectors
    from irplatform.text.arrays import Float32, Int64
    from irplatform_graphene.options import GrapheneOptions

GAP = -1
"""Stands between two names, so that no convolution reads across; and for padding."""
_MOST_FIELDS = 24
"""Of a topic; an article's further headings are left out of a MeSH-term query."""


@dataclass(frozen=True)
class EncodedTopic:
    """A topic.

    Attributes:
        words: int64 [fields, words of a field], rows of word vectors; GAP is none.
        weights: float32, of the same shape: each word's share in its field, before IDF; 0 at gaps.
        matching: int64, distinct concepts that it speaks of, in order of their number.
    """

    words: Int64
    weights: Float32
    matching: Int64


class TopicReader:
    """Reads topics; what it finds for a field is kept for the next time.

    Args:
        vectors: word vectors.
        graph: where concepts and their names are found; None finds none.
        options: what is read.
    """

    def __init__(
        self, vectors: WordVectors, graph: ConceptGraph | None, options: GrapheneOptions
    ) -> None:
        self._vectors = vectors
        self.graph = graph
        self._options = options
        self._encoded_fields: dict[str, tuple[Int64, Float32]] = {}
        self._concepts_of: dict[str, Int64] = {}

    def read(self, topic: Topic) -> EncodedTopic:
        """Read a topic."""
        texts = self.fields(topic)
        fields = [self._field(text) for text in texts]
        width = self._options.query_words
        words = np.full((len(fields), width), GAP, np.int64)
        weights = np.zeros((len(fields), width), np.float32)
        for number, (row, share) in enumerate(fields):
            words[number, : len(row)] = row
            weights[number, : len(row)] = share
        matching = [self.concepts(text) for text in texts]
        return EncodedTopic(words, weights, np.unique(np.concatenate(matching)))

    def fields(self, topic: Topic) -> list[str]:
        """The texts that a topic consists of, at least one."""
        values = (text for name in self._options.query_fields for text in topic.values(name))
        texts = [text for text in values if text.strip()][:_MOST_FIELDS]
        return texts or [topic.query]

    def concepts(self, text: str) -> Int64:
        """The concepts that a field speaks of, and what is narrower."""
        if self.graph is None:
            return np.empty(0, np.int64)
        if text not in self._concepts_of:
            concepts = self.graph.find(text, expand=self._options.narrower)
            self._concepts_of[text] = np.asarray(concepts, np.int64)
        return self._concepts_of[text]

    def _field(self, text: str) -> tuple[Int64, Float32]:
        """Words of a field and their shares, before IDF: half for its own, half for other names.

        Where the names do not fit in, the words that are left share in proportion.
        """
        if text not in self._encoded_fields:
            own_words = known_words(text, self._vectors)
            rows, shares = [own_words], [_shares(own_words)]
            if others := self._other_names(text):
                other_words = np.concatenate(others)
                rows, shares = (
                    [own_words, other_words],
                    [_shares(own_words) / 2, _shares(other_words) / 2],
                )
            width = self._options.query_words
            words, share = np.concatenate(rows)[:width], np.concatenate(shares)[:width]
            self._encoded_fields[text] = words, share / max(float(share.sum()), 1e-12)
        return self._encoded_fields[text]

    def _other_names(self, text: str) -> list[Int64]:
        """Words of the other names of the concepts in a field, a gap before each name."""
        if self.graph is None or not self._options.expansion:
            return []
        seen = {tuple(known_words(text, self._vectors).tolist())}
        names: list[Int64] = []
        for concept in self.graph.find(text).tolist():
            count = 0
            for name in self.graph.names_of(concept):
                words = tuple(known_words(name, self._vectors).tolist())
                if count == self._options.expansion_names:
                    break
                if words and words not in seen:
                    seen.add(words)
                    names.append(np.array([GAP, *words], np.int64))
                    count += 1
        return names


def _shares(words: Int64) -> Float32:
    present = (words != GAP).astype(np.float32)
    shares: Float32 = present / max(float(present.sum()), 1.0)
    return shares
