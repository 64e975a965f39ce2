"""Cuts a stream into lists, as `itertools.batched` does from Python 3.12 on."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of a size; the last one may be shorter.

    Args:
        items: read one list at a time, and no further.
        size: items of a list, 1 or more.
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch
