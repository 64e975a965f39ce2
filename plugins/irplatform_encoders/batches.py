"""Batches of texts for a transformer: texts of similar length, up to a number of tokens.

A text costs as much as the length that it is padded to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ON_CPU, _SHORT_ON_CPU = 512, 2048
"""Tokens that a CPU reads at once, in float32 and in shorter numbers; its caches hold no more."""
_COMMON = 512
"""Tokens of a long text, as most transformers read it."""


def tokens_at_once(device: str, texts: int, longest: int, *, short: bool = False) -> int:
    """Return the number of tokens of a batch: those of `texts` texts, or fewer on a CPU.

    `short` says that numbers have fewer than 32 bits.
    """
    most = texts * min(longest, _COMMON)
    return min(most, _SHORT_ON_CPU if short else _ON_CPU) if device == "cpu" else most


def batches(lengths: Sequence[int], tokens: int, *, padded: bool = True) -> list[list[int]]:
    """Return the places of texts in batches of at most so many tokens, the longest texts first.

    A batch has one text at least. Without padding, its texts are equally long.

    Example:
        >>> batches([3, 9, 4, 9], 12)
        [[1], [3], [2, 0]]
    """
    parts: list[list[int]] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        fits = parts and (len(parts[-1]) + 1) * longest <= tokens
        if fits and (padded or lengths[place] == longest):
            parts[-1].append(place)
        else:
            parts.append([place])
            longest = lengths[place]
    return parts
