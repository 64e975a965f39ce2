"""Files of answers in JSON, as entries that know their lines: one per question or topic.

The entries are the elements of a list (BioASQ's `questions`, the `results` of BioGen 2024, a list
alone), or one object a line.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from irplatform.errors import InputError
from irplatform.system.formats import JSONError, parse_json
from irplatform.system.reading import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Keys(NamedTuple):
    """The keys of an entry with sentences: of its id, its sentences, and their citations."""

    id: str
    sentences: str
    citations: tuple[str, ...]


_MOST_BYTES = 1 << 28
"""The largest file of answers that is read."""
LISTS = {"bioasq": "questions", "biogen-2024": "results"}
"""Forms that are one object → the key of their entries."""
KEYS = {
    "biogen-a": Keys("qa_id", "answer", ("supported_citations", "contradicted_citations")),
    "biogen-b": Keys("topic_id", "responses", ("citations",)),
}
"""Forms that are one object a line → the keys of their entries."""
_BETWEEN = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Entry:
    """An entry of a file.

    Attributes:
        value: its value.
        line: the number of its first line.
        text: its JSON.
    """

    value: Any
    line: int
    text: str = field(repr=False, default="")

    def line_of(self, value: object) -> int:
        """Return the line of a value in it; its own line if the file spells the value otherwise."""
        before, found, _ = self.text.partition(json.dumps(value, ensure_ascii=False))
        return self.line + before.count("\n") if found else self.line


@dataclass(frozen=True)
class Answers:
    """A file of answers.

    Attributes:
        head: the keys beside the list of entries.
        entries: the entries.
        key: the key of that list; None if the entries stand alone.
        marked: True if the file begins with a byte order mark.
    """

    head: Mapping[str, Any]
    entries: tuple[Entry, ...]
    key: str | None
    marked: bool


def read_answers(path: Path, form: str | None = None) -> Answers:
    """Read a file of answers in a form; by default in that which its content has.

    Raises:
        InputError: the file cannot be read, is not JSON, or lacks the list of the form.
    """
    content = read_whole(path, _MOST_BYTES)
    marked = content.startswith(BOM_UTF8)
    content = content.removeprefix(BOM_UTF8)
    key = LISTS.get(form) if form else _key_in(content)
    if key is None and not content.lstrip().startswith(b"["):
        lines = enumerate(content.splitlines(), start=1)
        entries = tuple(
            Entry(parse_json(line, path, number), number, line.decode())
            for number, line in lines
            if line.strip()
        )
        return Answers({}, entries, None, marked)
    whole = parse_json(content, path)
    if key is not None and (not isinstance(whole, dict) or not isinstance(whole.get(key), list)):
        raise InputError(f"this is not {{\"{key}\": […]}}: there is no list '{key}'.", path=path)
    head = {k: v for k, v in whole.items() if k != key} if key else {}
    return Answers(head, tuple(_elements(content.decode(), key)), key, marked)


def _key_in(content: bytes) -> str | None:
    """The key of the list of entries, if the content is one object that has such a list."""
    with suppress(JSONError):
        whole = parse_json(content)
        for key in LISTS.values():
            if isinstance(whole, dict) and isinstance(whole.get(key), list):
                return key
    return None


def _elements(text: str, key: str | None) -> Iterator[Entry]:
    """Yield the elements of a list: the whole, or that with a key."""
    place = text.index("[") if key is None else _place_of(text, key)
    place, line, counted_to = place + 1, 1, 0
    while text[place := _after_blanks(text, place)] != "]":
        _, end = _DECODER.raw_decode(text, place)
        line += text.count("\n", counted_to, place)
        counted_to = place
        yield Entry(parse_json(text[place:end].encode()), line, text[place:end])
        place = end


def _place_of(text: str, key: str) -> int:
    """The position of the value of a key of the outermost object."""
    place = text.index("{") + 1
    while True:
        name, place = _DECODER.raw_decode(text, _after_blanks(text, place))
        place = _after_blanks(text, place)
        if name == key:
            return place
        _, place = _DECODER.raw_decode(text, place)


def _after_blanks(text: str, place: int) -> int:
    match = _BETWEEN.match(text, place)
    return match.end() if match else place
