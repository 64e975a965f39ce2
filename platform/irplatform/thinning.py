"""Fewer of many: every second, every third, … so that what is left is spread evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def evenly_spaced(items: Sequence[T], most: int) -> Sequence[T]:
    """All items, or of more than `most` every n-th, with the smallest n that leaves so few."""
    return items[:: max(1, -(-len(items) // most))]
