"""Topics of TREC Precision Medicine: XML with disease, gene, demographic, other, treatment.

2017 has `other`, 2018 and 2019 do not, 2020 has `treatment` in place of both; whatever elements a
topic has become its fields. Those of an element that comes twice are joined, as two genes are. A
topic of TREC Clinical Trials 2021 and 2022 has text and no elements, or markup within it; all of it
is its field `text`. In 2023 it is `<field name="visual acuity">0.3</field>` and the like: a field
of that name, and all of them in the field `field`. The attributes of `<topic>` are fields, too, as
`type="diagnosis"` is in TREC Clinical Decision Support. The number is an attribute or, in TREC
Health Misinformation, an element. Where no element is called topic, each that has a number right
below the root is one, as the `<query>` of CLEF eHealth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.collections.jsonlines import check_id
from irplatform.collections.topics import xml
from irplatform.collections.topics.record import TopicRecord
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from xml.etree.ElementTree import Element

_NUMBERS = ("number", "num", "id", "qid", "topic_id", "query_id")
"""Names of the attribute or element of a topic's number, the likeliest first."""
_LABEL = re.compile(r"^(?:Number|Topic)\s*:\s*", re.IGNORECASE)


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with a field for every element that has text, or with `text`.

    Attributes other than the number are fields where no element has their name.
    """
    root, lines = xml.parse(path)
    for element in _topics(root):
        line = lines[element]
        parts = list(element)
        attributes = {name: " ".join(value.split()) for name, value in element.attrib.items()}
        topic_id = _take_number(attributes, parts)
        if not topic_id:
            raise InputError('a topic without a number="…" or <number>.', path=path, line=line)
        check_id(topic_id, path, line)
        fields = _fields(parts)
        if (not fields or _is_mixed(element)) and (text := _text(element)):
            fields.setdefault("text", text)
        given = {name: value for name, value in attributes.items() if value}
        yield TopicRecord(topic_id, {**given, **fields}, line)


def _topics(root: Element) -> list[Element]:
    """The elements called topic; else those right below the root that have a number."""
    topics = [each for each in root.iter() if each.tag.lower() == "topic"]
    return topics or [each for each in root if _take_number(dict(each.attrib), [*each])]


def _take_number(attributes: dict[str, str], parts: list[Element]) -> str:
    """A topic's number, which is removed from its attributes or elements; "" without one."""
    for name in _NUMBERS:
        if given := next((each for each in attributes if each.lower() == name), ""):
            return attributes.pop(given)
        part = next((part for part in parts if part.tag.lower() == name and _text(part)), None)
        if part is not None:
            parts.remove(part)
            return _LABEL.sub("", _text(part))
    return ""


def _fields(parts: Sequence[Element]) -> dict[str, str]:
    """The texts of elements by their names; also by the names that their attributes give them."""
    fields: dict[str, str] = {}
    named: dict[str, str] = {}
    for part in parts:
        if not (text := _text(part) or " ".join(part.get("value", "").split())):
            continue
        name = " ".join(part.get("name", "").split())
        if name:
            named[name] = f"{named[name]}, {text}" if name in named else text
        told, between = (f"{name}: {text}", "; ") if name else (text, ", ")
        fields[part.tag] = f"{fields[part.tag]}{between}{told}" if part.tag in fields else told
    return {**named, **fields}


def _is_mixed(part: Element) -> bool:
    """Whether there is text beside the elements within an element: these may be markup."""
    beside = [part.text, *(child.tail for child in part)]
    return any((text or "").strip() for text in beside)


def _text(part: Element) -> str:
    """The text of an element; elements in place of text are parted by spaces, markup is not."""
    between = "" if _is_mixed(part) else " "
    return " ".join(between.join(part.itertext()).split())
