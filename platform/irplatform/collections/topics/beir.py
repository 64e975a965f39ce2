"""Topics as BEIR keeps them: JSON lines with `_id`, `text` and, for some, `metadata`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections import jsonlines
from irplatform.collections.topics.record import TopicRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `text` and one field for every entry of `metadata`."""
    for line, record in jsonlines.read(path):
        topic_id = jsonlines.identifier(record, "_id", path, line)
        fields = jsonlines.metadata(record, "metadata", path, line)
        yield TopicRecord(
            topic_id, {**fields, "text": jsonlines.text(record, "text", path, line)}, line
        )
