"""Questions of BioASQ's task b, as topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.bioasq import read_questions
from irplatform.collections.topics.record import TopicRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the fields `body` and, where it is known, `type`."""
    for question in read_questions(path):
        fields = {"body": question.body, "type": question.type}
        yield TopicRecord(question.id, {name: text for name, text in fields.items() if text})
