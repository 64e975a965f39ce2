"""The tabulated form, in training and scoring: what one topic's documents share is computed once.

How a document word attends to the query, and so all of its G (equations 4, 6, 8 and 10), depends on
that word and the query alone: it is computed once per distinct word of all candidates, and a text's
v₂ or v₄ is a sum of rows. Only how the query attends to a text (equations 3 and 5) is computed per
document, in batches of similar length, from attention weights and cosines of distinct words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from irplatform_deepsense.attention import masked_softmax

if TYPE_CHECKING:
    from irplatform_deepsense.attention import Tables
    from irplatform_deepsense.encoding import Encoded, Texts
    from irplatform_deepsense.network import DeepSenSeNetwork

CELLS = 1 << 19
"""Words of texts times words of the query that are compared in one step, to stay in the cache."""


def score(network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> Tensor:
    """Scores of a topic's documents, float32 [n], before the sigmoid."""
    return network.classify(aggregate(network, tables, encoded), encoded.features)


def aggregate(network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> Tensor:
    """v₁ to v₄ of a topic's documents, float32 [n, 4 g]."""
    match = _TopicMatch(network, tables, encoded)
    return torch.cat([*match.of(encoded.titles), *match.of(encoded.abstracts)], dim=1)


def score_plain(network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> Tensor:
    """The same scores, computed text by text as `DeepSenSeNetwork.plain` does."""
    every = torch.arange(len(encoded.features), device=encoded.query.device)
    words = functional.pad(encoded.words, (0, 1), value=tables.padding)
    last = len(encoded.words)
    title, abstract = (
        words[texts.padded(every, last)] for texts in (encoded.titles, encoded.abstracts)
    )
    query = encoded.query.expand(len(every), -1)
    return network.plain(tables, query, title, abstract, encoded.features)


class _TopicMatch:
    """A query with the distinct words of its candidates."""

    def __init__(self, network: DeepSenSeNetwork, tables: Tables, encoded: Encoded) -> None:
        self._network = network
        self._query = len(encoded.query)
        # One small table: the query's words, the candidates' words, padding.
        self._tables = tables.rows(torch.cat([encoded.query, encoded.words]))
        device = encoded.query.device
        query = torch.arange(self._query, device=device)[None]
        words = torch.arange(self._query, self._tables.padding, device=device)[None]
        present = torch.ones_like(query, dtype=torch.bool)
        topic_tables = self._tables
        weights = topic_tables.projected[words[0]] @ topic_tables.projected[query[0]].T  # [u, m]
        cosine = topic_tables.unit[words[0]] @ topic_tables.unit[query[0]].T
        attention = masked_softmax(weights[None], present[:, None])
        compared = network.compare_words(
            topic_tables, words, query, attention, cosine[None], present
        )
        self._compared = functional.pad(compared[0], (0, 0, 0, 1))  # the last row: padding
        # torch 2.4 pads no table without columns, which a query without known words has.
        padding = weights.new_zeros(1, self._query)
        self._weights = torch.cat([weights, padding])
        self._cosine = torch.cat([cosine, padding])

    def of(self, texts: Texts) -> tuple[Tensor, Tensor]:
        """The v of the query's words and v of the texts' words, [n, g] each."""
        lengths = texts.lengths
        sums = functional.embedding_bag(texts.words, self._compared, texts.starts, mode="sum")
        parts = by_length(lengths, self._query)
        of_query = torch.cat(
            [self._of_query(texts.padded(part, len(self._compared) - 1)) for part in parts]
        )
        return of_query[torch.cat(parts).argsort()], self._network.scaled(sums, lengths)

    def _of_query(self, positions: Tensor) -> Tensor:
        """The v of the query's words for some texts, given as rows of the distinct words [n, l]."""
        last = len(self._compared) - 1
        present = positions != last
        weights = self._weights[positions].transpose(1, 2)  # [n, m, l]
        cosine = self._cosine[positions].transpose(1, 2)
        query = torch.arange(self._query, device=positions.device).expand(len(positions), -1)
        attention = masked_softmax(weights, present[:, None, :])
        compared = self._network.compare_words(
            self._tables, query, positions + self._query, attention, cosine, present
        )
        return self._network.pool(compared, torch.ones_like(query, dtype=torch.bool))


def by_length(lengths: Tensor, query: int) -> list[Tensor]:
    """Documents in batches of similar length, each of at most CELLS cells when padded."""
    order = lengths.argsort(stable=True)
    longest = lengths[order].tolist()
    batches, end = [], len(longest)
    while end:
        size = max(1, CELLS // max(1, longest[end - 1] * query))
        batches.append(order[max(0, end - size) : end])
        end = max(0, end - size)
    return batches
