"""A topic as a file gives it, before a query is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.plugin import FieldValue

ID_NAMES = (
    "id", "qid", "queryid", "topicid", "questionid", "qaid", "number", "num", "topicnumber",
    "querynumber",
)  # fmt: skip
"""What the ids of topics are called, in letters of the alphabet, the likeliest first."""
TEXTS = (
    "query", "query_text", "query_txt", "question", "text", "title", "topic", "body", "description",
)  # fmt: skip
"""What the texts of topics are called, the likeliest for a query first."""
LARGEST = 1 << 28
"""Bytes of a file of topics that is read whole: 256 MB."""


@dataclass(frozen=True)
class TopicRecord:
    """A topic of a file."""

    id: str
    fields: Mapping[str, FieldValue]
    line: int | None = None
    """Where it begins, counted from 1; None where a file has no lines."""
    """Where it begins, counted from 1; None where a file has no lines."""


def plain_name(name: str) -> str:
    """The name of a field in small letters and digits, to be compared."""
    return "".join(filter(str.isalnum, name.lower()))
