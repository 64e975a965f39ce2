"""Why Delta scores a document as it does: the words close to query words, and lexical features.

Each comes with its gain, how much lower the score is without it. A word is left out by the δ of an
unknown word (zeros), a feature by its mean over the training documents.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.nn import functional

from irplatform_delta.closest_words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from irplatform_delta.closest_words import Encoded
    from irplatform_delta.network import DeltaNetwork

WORDS = 5  # document words that are listed, per query word
FEATURES = 20  # features that are listed: where there are more, those with the largest gains


@dataclass(frozen=True)
class Explainer:
    """Explains scores of one topic's documents."""

    network: DeltaNetwork
    table: Tensor
    encoded: Encoded
    names: Sequence[str]
    query: Sequence[tuple[str, int]]
    lexical: Sequence[str]

    def explain(self, document: int) -> dict[str, Any]:
        positions = self.encoded.documents[document]
        padding = len(self.encoded.words.word)
        counts = Counter(p for p in positions.tolist() if p != padding)
        lexical = self.encoded.lexical[document : document + 1]
        per_word = [self._closest(row, counts) for _, row in self.query]
        places = sorted({position for closest in per_word for position in closest})
        score, *without = self._without(positions, places, lexical)
        loss = {p: score - other for p, other in zip(places, without, strict=True)}
        return {
            "score": score,
            "document_words_read": sum(counts.values()),
            "query_words_without_vector": [w for w, row in self.query if row == len(self.names)],
            "closest_words": [
                {"query_word": word, **self._word(p, counts[p], loss[p])}
                for (word, _), closest in zip(self.query, per_word, strict=True)
                for p in closest
            ],
            "lexical_features": self._features(positions, lexical, score),
        }

    def _closest(self, row: int, counts: Counter[int]) -> list[int]:
        words = self.encoded.words
        positions = [p for p in counts if words.active[p] and int(words.closest[p]) == row]
        return sorted(positions, key=lambda p: (float(words.features[p, 1]), -counts[p], p))[:WORDS]

    def _word(self, position: int, count: int, loss: float) -> dict[str, Any]:
        words = self.encoded.words
        cosine, distance, proximity = words.features[position].tolist()
        return {
            "word": self.names[int(words.word[position])],
            "times": count,
            "cosine": cosine,
            "distance": distance,
            "proximity": proximity,
            "gain": loss,
        }

    def _without(self, positions: Tensor, left_out: Sequence[int], lexical: Tensor) -> list[float]:
        size = len(self.encoded.words.word)
        documents = positions.repeat(len(left_out) + 1, 1)
        documents[documents == size] = size + 1  # padding moves behind the word that is nothing
        for number, position in enumerate(left_out, start=1):
            documents[number, positions == position] = size
        words = self.encoded.words
        more = Words(
            functional.pad(words.word, (0, 1)),
            functional.pad(words.closest, (0, 1)),
            functional.pad(words.features, (0, 0, 0, 1)),
            functional.pad(words.active, (0, 1)),
        )
        return self._scores(more, documents, lexical.expand(len(documents), -1))

    def _features(self, positions: Tensor, lexical: Tensor, score: float) -> list[dict[str, Any]]:
        count = len(self.lexical)
        without = lexical.repeat(count, 1)
        without[range(count), range(count)] = self.network.lexical_mean[:count]
        documents = positions.expand(count, -1)
        scores = self._scores(self.encoded.words, documents, without) if count else []
        rows = [
            {"feature": name, "value": value, "gain": score - other}
            for name, value, other in zip(self.lexical, lexical[0].tolist(), scores, strict=True)
        ]
        if len(rows) <= FEATURES:
            return rows
        return sorted(rows, key=lambda row: -abs(row["gain"]))[:FEATURES]

    def _scores(self, words: Words, documents: Tensor, lexical: Tensor) -> list[float]:
        scores: list[float] = self.network.tabulated(self.table, words, documents, lexical).tolist()
        return scores
