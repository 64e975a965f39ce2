"""Topics of TREC Precision Medicine: XML with disease, gene, demographic, other, treatment.

2017 has `other`, 2018 and 2019 do not, 2020 has `treatment` in place of both; whatever elements a
topic has become its fields. Those of an element that comes twice are joined, as two genes are. A
topic of TREC Clinical Trials 2021 and 2022 has text and no elements, or markup within it; all of it
is its field `text`. The attributes of `<topic>` are fields, too, as `type="diagnosis"` is in TREC
Clinical Decision Support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.jsonlines import check_id
from irplatform.collections.topics import xml
from irplatform.collections.topics.record import TopicRecord
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with a field for every element that has text, or with `text`.

    Attributes other than the number are fields where no element has their name.
    """
    root, lines = xml.parse(path)
    for element in root.iter("topic"):
        line = lines[element]
        topic_id = element.get("number")
        if topic_id is None:
            raise InputError('a topic without a number="…".', path=path, line=line)
        check_id(topic_id, path, line)
        fields: dict[str, str] = {}
        for part in element:
            if text := _text(part):
                fields[part.tag] = f"{fields[part.tag]}, {text}" if part.tag in fields else text
        if (not fields or _is_mixed(element)) and (text := _text(element)):
            fields.setdefault("text", text)
        yield TopicRecord(topic_id, {**_attributes(element), **fields}, line)


def _attributes(topic: Element) -> dict[str, str]:
    """What its tag says beside its number."""
    values = ((name, " ".join(value.split())) for name, value in topic.attrib.items())
    return {name: value for name, value in values if value and name != "number"}


def _is_mixed(part: Element) -> bool:
    """Whether there is text beside the elements within an element: these may be markup."""
    beside = [part.text, *(child.tail for child in part)]
    return any((text or "").strip() for text in beside)


def _text(part: Element) -> str:
    """The text of an element; elements in place of text are parted by spaces, markup is not."""
    between = "" if _is_mixed(part) else " "
    return " ".join(between.join(part.itertext()).split())
