"""A topic as a file gives it, before a query is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.plugin import FieldValue

LARGEST = 1 << 28
"""Bytes of a file of topics that is read whole: 256 MB."""


@dataclass(frozen=True)
class TopicRecord:
    """A topic of a file.

    Attributes:
        id: its id.
        fields: its parts, by name.
        line: where it begins, counted from 1; None where a file has no lines.
    """

    id: str
    fields: Mapping[str, FieldValue]
    line: int | None = None
