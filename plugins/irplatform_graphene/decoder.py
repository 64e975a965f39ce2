"""The title decoder: an LSTM that writes an article's title from v_d (section 3.2.3).

The paper calls it bidirectional, which cannot write from left to right: ours reads from left to
right. It is given v_d as its first state and at every step, and chooses from the collection's most
frequent title words by their projected vectors; the paper's vocabulary holds concepts, too. So that
words are not copied, the encoder reads the abstract alone; concepts are the article's, the title's
among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.text.forward_index import PADDING

if TYPE_CHECKING:
    from irplatform.text import ForwardIndex

END = 0
"""The symbol that ends a title, and begins it."""
_IGNORED = -100


class TitleVocabulary:
    """The words that titles are written with.

    Attributes:
        words: int64 [words], their ids in the index.
    """

    def __init__(self, index: ForwardIndex, size: int) -> None:
        frequency = np.asarray(index.collection_frequency("title"))
        order = np.argsort(-frequency, kind="stable")[:size]
        self.words = order[frequency[order] > 0].astype(np.int64)
        self._symbol = np.full(len(frequency) + 1, _IGNORED, np.int64)
        self._symbol[self.words] = 1 + np.arange(len(self.words))

    def symbols(self, titles: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What has to be written: words and an end; words outside the vocabulary are not asked for.

        Args:
            titles: int64 [n, L], ids of words, padded with -1 on the right; a title that fills
                its row may go on, so that it is not ended.

        Returns:
            int64 [n, L]; -100 where nothing is asked for.
        """
        symbols = self._symbol[titles]
        lengths = (titles != PADDING).sum(axis=1)
        ended = np.flatnonzero((lengths > 0) & (lengths < titles.shape[1]))
        symbols[ended, lengths[ended]] = END
        return symbols


class TitleDecoder(nn.Module):
    """Writes titles."""

    def __init__(self, vector: int, word: int, hidden: int, vocabulary: int) -> None:
        super().__init__()
        self.start = nn.Linear(vector, 2 * hidden)
        self.lstm = nn.LSTM(word + vector, hidden, batch_first=True)
        self.to_word = nn.Linear(hidden, word)
        self.end = nn.Parameter(0.1 * torch.randn(1, word))
        self.bias = nn.Parameter(torch.zeros(vocabulary + 1))

    def loss(self, documents: Tensor, words: Tensor, symbols: Tensor) -> Tensor:
        """The mean cross-entropy of the next word (equation 6).

        Each word follows the one before it in the title; one that is not in the vocabulary is read
        as END, by which every title begins.

        Args:
            documents: float32 [n, vector], v_d.
            words: float32 [vocabulary, word], projected vectors of the vocabulary.
            symbols: int64 [n, L], see `TitleVocabulary.symbols`.

        Returns:
            A number; 0 where nothing is asked for, since there is no mean of nothing.
        """
        table = torch.cat([self.end, words])
        before = functional.pad(symbols[:, :-1], (1, 0), value=END).clamp(min=END)
        hidden, cell = (
            state[None].contiguous() for state in self.start(documents).tanh().chunk(2, dim=1)
        )
        steps = documents[:, None].expand(-1, symbols.shape[1], -1)
        states, _ = self.lstm(torch.cat([table[before], steps], dim=2), (hidden, cell))
        is_target = symbols != _IGNORED
        logits: Tensor = self.to_word(states[is_target]) @ table.T + self.bias
        if not len(logits):
            return logits.sum()
        return functional.cross_entropy(logits, symbols[is_target])
