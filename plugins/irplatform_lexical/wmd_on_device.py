"""The relaxed Word Mover's Distance for topics at once, on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from irplatform.kit import square_root

if TYPE_CHECKING:
    from irplatform.kit import DeviceCandidates

_WORDS = 1 << 17  # whose vectors are in 64 bits at once


@dataclass(frozen=True)
class DeviceSpace:
    """Words in Euclidean space, on a device; see `wmd.WordSpace`.

    Attributes:
        words: int64 [vocabulary + 1], the row of each word of a collection, -1 where it is left
            out; the last entry serves padding.
        vectors: float32 [rows, V].
        scale: float64 [rows], by which vectors are multiplied.
    """

    words: Tensor
    vectors: Tensor
    scale: Tensor

    def scores(self, candidates: DeviceCandidates, field: str) -> Tensor:
        """Minus the relaxed distance of documents and their topics' queries: float64 [n]."""
        # One column more, of padding: then none is empty.
        words = self.words[candidates.matrix(candidates.longest + 1)]
        query = functional.pad(candidates.query, (0, 1), value=-1)
        if field != "text":
            place = torch.arange(words.shape[1], device=words.device)
            in_title = place < candidates.title_lengths
            words = words.where(in_title if field == "title" else ~in_title, -1)
        query_mask = (query >= 0)[candidates.topic]  # [n, m]
        costs, farthest = self._costs(query.flatten().clamp(min=0))
        numbers = torch.arange(query.shape[1], device=words.device)
        rows = candidates.topic[:, None] * len(numbers) + numbers
        cells = rows[:, :, None] * len(self.vectors) + words.clamp(min=0)[:, None]
        distances = costs.view(-1)[cells]  # [n, m, longest]
        present = words >= 0
        nearest = distances.masked_fill(~present[:, None], torch.inf).amin(dim=2)
        from_query = _mean(nearest, query_mask)
        from_text = _mean(
            distances.masked_fill(~query_mask[:, :, None], torch.inf).amin(dim=1), present
        )
        most = farthest.view(query.shape).masked_fill(query < 0, 0).amax(dim=1)[candidates.topic]
        distance = torch.maximum(from_query, from_text).where(present.any(dim=1), most)
        return -distance.where(query_mask.any(dim=1), 0)

    def _costs(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Distances to all rows, float64 [words, rows], and bounds of them, [words]."""
        size = len(self.vectors)
        costs = self.scale.new_empty(len(words), size)
        left = self.vectors[words].double() * self.scale[words, None]
        squares = (left**2).sum(dim=1)
        longest = self.scale.new_zeros(())
        for start in range(0, size, _WORDS):
            part = slice(start, min(start + _WORDS, size))
            right = self.vectors[part].double() * self.scale[part, None]
            row_squares = (right**2).sum(dim=1)
            longest = torch.maximum(longest, row_squares.amax())
            costs[:, part] = squares[:, None] + row_squares - 2 * left @ right.T
        costs.scatter_(1, words[:, None], 0)
        return square_root(costs.clamp_(min=0)), square_root(squares) + square_root(longest)


def _mean(values: Tensor, present: Tensor) -> Tensor:
    """Means over the last dimension of what is present; 0 where nothing is."""
    return values.masked_fill(~present, 0).sum(dim=1) / present.sum(dim=1).clamp(min=1)
