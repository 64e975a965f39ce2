"""Classic TREC topics: `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`, closed or not.

Not XML: tags are seldom closed and contents repeat the tag's name ("Number: 301", "Description:").
"""

from __future__ import annotations

import re
from html import unescape
from itertools import zip_longest
from typing import TYPE_CHECKING

from irplatform.collections.jsonlines import check_id
from irplatform.collections.topics.record import LARGEST, TopicRecord
from irplatform.errors import InputError
from irplatform.text_files import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ATTRIBUTES = r"(?:\s[^<>=]*=[^<>]*)?"
_TOPIC = re.compile(rf"(?P<begin><top{_ATTRIBUTES}>)|</top>", re.IGNORECASE)
_TAG = re.compile(rf"<([a-z][\w-]*){_ATTRIBUTES}>", re.IGNORECASE)
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
    raw = read_whole(path, LARGEST)
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = "this line is not UTF-8. Convert the file."
        raise InputError(message, path=path, line=line) from error
    for topic, line in _topics(content, path):
        parts = _parts(topic)
        topic_id = parts.pop("num", "")
        if not topic_id:
            raise InputError("a topic without <num>.", path=path, line=line)
        check_id(topic_id, path, line)
        yield TopicRecord(
            topic_id, {_NAMES.get(tag, tag): text for tag, text in parts.items() if text}, line
        )


def _topics(content: str, path: Path) -> Iterator[tuple[str, int]]:
    """What stands within each `<top>`, and the line where that begins."""
    begin: re.Match[str] | None = None
    line, counted = 1, 0
    for match in _TOPIC.finditer(content):
        if match["begin"] and begin is not None:  # the next end is that of a later topic
            break
        if match["begin"]:
            begin = match
            line += content.count("\n", counted, match.start())
            counted = match.start()
        elif begin is not None:
            yield content[begin.end() : match.start()], line
            begin = None
    if begin is not None:
        raise InputError("this <top> has no </top>.", path=path, line=line)


def _parts(topic: str) -> dict[str, str]:
    """A topic's texts by tag; what marks words within a text begins no other."""
    text = _BREAK.sub(" ", _INLINE.sub("", topic))
    tags = list(_TAG.finditer(text))
    parts: dict[str, list[str]] = {}
    for tag, following in zip_longest(tags, tags[1:]):
        end = following.start() if following else None
        parts.setdefault(tag[1].lower(), []).append(_clean(text[tag.end() : end]))
    return {name: " ".join(filter(None, texts)) for name, texts in parts.items()}


def _clean(text: str) -> str:
    return " ".join(unescape(_LABEL.sub("", _CLOSING.sub(" ", text))).split())
