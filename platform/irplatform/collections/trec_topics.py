"""Topics in TREC's formats: the classic one, and XML as of the precision medicine tracks.

Classic topics are `<top>` with `<num>`, `<title>`, `<desc>`, `<narr>`. They are not XML: tags are
seldom closed and contents repeat the tag's name ("Number: 301", "Description:"). In XML, elements
and attributes of a topic become its fields, text beside or without elements the field `text`.
Where no element is called topic (CLEF eHealth), elements below the root with a number are topics.
Entities may not be declared; characters that HTML knows by name (`&eacute;`) are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from html.entities import html5
from itertools import zip_longest
from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from irplatform.documents.jsonlines import check_id
from irplatform.errors import InputError
from irplatform.files.reading import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import FieldValue

ID_NAMES = (
    "id", "qid", "queryid", "topicid", "questionid", "qaid", "requestid", "narrativeid", "number",
    "num", "topicnumber", "querynumber",
)  # fmt: skip
"""Names of the ids of topics, in small letters, the likeliest first."""
TEXTS = (
    "query", "query_text", "query_txt", "question", "text", "title", "topic", "body", "description",
    "narrative", "request", "problem_statement",
)  # fmt: skip
"""Names of the texts of topics, the likeliest query first."""
LARGEST = 1 << 28
_ATTRIBUTES = r"(?:\s[^<>=]*=[^<>]*)?"
_TOPIC = re.compile(rf"(?P<begin><top{_ATTRIBUTES}>)|</top>", re.IGNORECASE)
_TAG = re.compile(rf"<([a-z][\w-]*){_ATTRIBUTES}>", re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE
)
_BREAK = re.compile(r"<(?:br|p)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_CLOSING = re.compile(r"</[\w-]+>")
_LABEL = re.compile(r"^\s*(?:Number|Topic|Descr?i?ption|Narrative)\s*:", re.IGNORECASE)
_NAMES = {"desc": "description", "narr": "narrative"}
_HINTS = {
    expat.errors.XML_ERROR_INVALID_TOKEN: "Write '&' as '&amp;' and '<' as '&lt;', and save "
    "the file as UTF-8.",
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "Put one element around all topics: "
    "<topics>…</topics>.",
    expat.errors.XML_ERROR_MISPLACED_XML_PI: "<?xml …?> can only be the beginning of the file.",
}
_NUMBERS = ("number", "num", "id", "qid", "topic_id", "query_id")
"""Names of the attribute or element of a topic's number, the likeliest first."""
_PM_LABEL = re.compile(r"^(?:Number|Topic)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TopicRecord:
    """A topic of a file."""

    id: str
    fields: Mapping[str, FieldValue]
    line: int | None = None
    """Where it begins, counted from 1; None if the file has no lines."""


def plain_name(name: str) -> str:
    """The name of a field in small letters and digits, for comparisons."""
    return "".join(filter(str.isalnum, name.lower()))


def read_trec(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the fields `title`, `description`, `narrative` and any others.

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
    """The content of each `<top>`, and the line where it begins."""
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
    """A topic's texts by tag, without tags that mark words within a text."""
    text = _BREAK.sub(" ", _INLINE.sub("", topic))
    tags = list(_TAG.finditer(text))
    parts: dict[str, list[str]] = {}
    for tag, following in zip_longest(tags, tags[1:]):
        end = following.start() if following else None
        part = unescape(_LABEL.sub("", _CLOSING.sub(" ", text[tag.end() : end])))
        parts.setdefault(tag[1].lower(), []).append(" ".join(part.split()))
    return {name: " ".join(filter(None, texts)) for name, texts in parts.items()}


def parse(path: Path) -> tuple[Element, Mapping[Element, int]]:
    """Parse a file; return the root, and the line where each element begins.

    Raises:
        InputError: the file is missing, not well-formed, or declares entities.
    """
    builder = TreeBuilder()
    lines: dict[Element, int] = {}
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    def refuse(name: str, *_: object) -> NoReturn:
        raise InputError(
            f"the entity '{name}' is declared here. Entities can fill the memory: write its text "
            "where it is used, and remove the declaration.",
            path=path,
            line=parser.CurrentLineNumber,
        )

    def skipped(name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        if f"{name};" not in html5:
            raise InputError(
                f"the entity '&{name};' is not declared. Write its text.",
                path=path,
                line=parser.CurrentLineNumber,
            )
        builder.data(html5[f"{name};"])

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = skipped
    content = read_whole(path, LARGEST)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        hint = f" {_HINTS[reason]}" if reason in _HINTS else ""
        raise InputError(
            f"this is not well-formed XML ({reason}).{hint}", path=path, line=error.lineno
        ) from error
    except (LookupError, ValueError) as error:  # of the encoding that it declares
        raise InputError(f"cannot be read: {error}. Save it as UTF-8.", path=path) from error
    return builder.close(), lines


def read_trec_pm(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with a field for every element that has text, or with `text`.

    Attributes other than the number are fields where no element has their name.
    """
    root, lines = parse(path)
    for element in _pm_topics(root):
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
        metadata = {name: value for name, value in attributes.items() if value}
        yield TopicRecord(topic_id, {**metadata, **fields}, line)


def _pm_topics(root: Element) -> list[Element]:
    """The elements called topic; else those right below the root that have a number."""
    topics = [element for element in root.iter() if element.tag.lower() == "topic"]
    return topics or [element for element in root if _take_number(dict(element.attrib), [*element])]


def _take_number(attributes: dict[str, str], parts: list[Element]) -> str:
    """A topic's number, which is removed from its attributes or elements; "" without one."""
    for name in _NUMBERS:
        if attribute := next((key for key in attributes if key.lower() == name), ""):
            return attributes.pop(attribute)
        part = next((part for part in parts if part.tag.lower() == name and _text(part)), None)
        if part is not None:
            parts.remove(part)
            return _PM_LABEL.sub("", _text(part))
    return ""


def _fields(parts: Sequence[Element]) -> dict[str, str]:
    """The texts of elements by their tags, and by their attribute `name`."""
    fields: dict[str, str] = {}
    texts: dict[str, str] = {}
    for part in parts:
        if not (text := _text(part) or " ".join(part.get("value", "").split())):
            continue
        name = " ".join(part.get("name", "").split())
        if name:
            texts[name] = f"{texts[name]}, {text}" if name in texts else text
        entry, between = (f"{name}: {text}", "; ") if name else (text, ", ")
        fields[part.tag] = f"{fields[part.tag]}{between}{entry}" if part.tag in fields else entry
    return {**texts, **fields}


def _is_mixed(part: Element) -> bool:
    """Return whether an element has text beside its elements, which are then markup."""
    beside = [part.text, *(child.tail for child in part)]
    return any((text or "").strip() for text in beside)


def _text(part: Element) -> str:
    """The text of an element; spaces separate elements, unless they are markup."""
    between = "" if _is_mixed(part) else " "
    return " ".join(between.join(part.itertext()).split())
