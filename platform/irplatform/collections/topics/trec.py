"""Classic TREC topics: `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`, closed or not.

Not XML: tags are seldom closed and contents repeat the tag's name ("Number: 301", "Description:").
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from irplatform.collections.jsonlines import check_id
from irplatform.collections.topics.record import TopicRecord
from irplatform.errors import InputError
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ATTRIBUTES = r"(?:\s[^<>]*=[^<>]*)?"
_BEGIN = re.compile(rf"<top{_ATTRIBUTES}>", re.IGNORECASE)
_TOPIC = re.compile(rf"<top{_ATTRIBUTES}>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_TAG = rf"<([a-z][\w-]*){_ATTRIBUTES}>"
_PART = re.compile(rf"{_TAG}(.*?)(?={_TAG}|\Z)", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE
)
_BREAK = re.compile(r"<(?:br|p)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_CLOSING = re.compile(r"</[\w-]+>")
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)
_NAMES = {"desc": "description", "narr": "narrative"}


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the fields `title`, `description`, `narrative` and whatever else is there.

    Raises:
        InputError: a topic has no number, a `<top>` is not closed, or the file is not UTF-8.
    """
    with open_bytes(path) as file:
        raw = file.read()
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = "this line is not UTF-8. Convert the file."
        raise InputError(message, path=path, line=line) from error
    end = 0
    for match in _TOPIC.finditer(content):
        if _BEGIN.search(match[1]):  # its end is that of a later topic, which would replace it
            break
        end = match.end()
        line = content.count("\n", 0, match.start()) + 1
        parts = _parts(match[1])
        topic_id = parts.pop("num", "")
        if not topic_id:
            raise InputError("a topic without <num>.", path=path, line=line)
        check_id(topic_id, path, line)
        yield TopicRecord(
            topic_id, {_NAMES.get(tag, tag): text for tag, text in parts.items() if text}, line
        )
    if open_topic := _BEGIN.search(content, end):
        line = content.count("\n", 0, open_topic.start()) + 1
        raise InputError("this <top> has no </top>.", path=path, line=line)


def _parts(topic: str) -> dict[str, str]:
    """A topic's texts by tag; what marks words within a text begins no other."""
    parts: dict[str, str] = {}
    for tag, text, _ in _PART.findall(_BREAK.sub(" ", _INLINE.sub("", topic))):
        name = tag.lower()
        parts[name] = f"{parts.get(name, '')} {_clean(text)}".strip()
    return parts


def _clean(text: str) -> str:
    return " ".join(unescape(_LABEL.sub("", _CLOSING.sub(" ", text))).split())
