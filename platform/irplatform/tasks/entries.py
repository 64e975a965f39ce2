"""Files of answers in JSON, as entries that know their lines: one per question or topic.

The entries are the elements of a list (BioASQ's `questions`, the `results` of BioGen 2024, a list
alone), or one object after the other.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from irplatform.errors import InputError
from irplatform.files.formats import JSONError, parse_json
from irplatform.files.reading import in_utf_8, read_whole
from irplatform.runs.ids import pmid_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_OF_ENTRIES = {"id", "metadata", "meta_data", "qa_id", "topic_id"}
"""Keys of an entry, which no object around the entries has."""
_BETWEEN = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Entry:
    """An entry of a file: its value, its first line and its JSON."""

    value: Any
    line: int
    text: str = field(repr=False, default="")

    def line_of(self, value: object) -> int:
        """Return the line of a value in it; its own line if the file spells the value otherwise."""
        before, match, _ = self.text.partition(json.dumps(value, ensure_ascii=False))
        return self.line + before.count("\n") if match else self.line


@dataclass(frozen=True)
class Answers:
    """A file of answers.

    Attributes:
        head: the keys beside the list of entries.
        entries: the entries.
        key: the key of that list; None if the entries stand alone.
        marked: True if the file begins with a byte order mark.
        odd: how its layout is not that of the form, in words; or "".
    """

    head: Mapping[str, Any]
    entries: tuple[Entry, ...]
    key: str | None
    marked: bool
    odd: str = ""


def read_answers(path: Path, form: str | None = None) -> Answers:
    """Read a file of answers in a form; by default in that which its content has.

    Entries in another layout are read, too: over several lines, as a list, under another key.

    Raises:
        InputError: the file cannot be read, is not JSON, or has no entries.
    """
    file_bytes = read_whole(path, _MOST_BYTES)
    content = in_utf_8(file_bytes)
    marked = content != file_bytes
    entries = _values(content, path)
    root = entries[0].value if len(entries) == 1 else None
    keys = LISTS.values() if form is None else filter(None, [LISTS.get(form)])
    head, key, odd = {}, None, ""
    if isinstance(root, dict):
        lists = [name for name, value in root.items() if isinstance(value, list)]
        objects = [name for name in lists if any(isinstance(value, dict) for value in root[name])]
        alone = objects[0] if len(objects) == 1 and not _OF_ENTRIES & root.keys() else None
        if (key := next((name for name in keys if name in lists), alone)) is not None:
            head = {k: v for k, v in root.items() if k != key}
            entries = _elements(content.decode(), key)
    elif isinstance(root, list):
        entries = _elements(content.decode(), None)
    if form in LISTS and key != LISTS[form]:
        odd = f"this is not {{\"{LISTS[form]}\": […]}}: there is no list '{LISTS[form]}'."
        if key is None and not any(_OF_ENTRIES & {*_keys(entry)} for entry in entries):
            raise InputError(odd, path=path)
    elif form in KEYS and key is not None:
        odd = f"the entries are under '{key}'. Write one a line, or the list alone."
    elif form in KEYS and not isinstance(root, list) and not _in_lines(content, entries):
        odd = "write one entry a line, from the first line on."
    key = key if key in LISTS.values() else None
    return Answers(head, tuple(entries), key, marked, odd)


def sentences_of(value: Mapping[str, Any], keys: Keys) -> Any:
    """Return the sentences of an entry, also if they are a list where TREC RAG has it."""
    answer = value.get("answer")
    return value.get(keys.sentences, answer if isinstance(answer, list) else None)


def reference_places(value: Mapping[str, Any], keys: Keys) -> dict[int, Any] | None:
    """Return the references of an entry by the numbers that its citations have for them.

    They count from 0 in TREC RAG's layout, else as the numbers show. The result is empty if these
    do not tell, and None if citations are ids.
    """
    sources, sentences = value.get("references"), sentences_of(value, keys)
    sentences = sentences if isinstance(sentences, list) else []
    lists = [s.get(k) for s in sentences if isinstance(s, dict) for k in keys.citations]
    cited = {
        place_in(citation)
        for citations in lists
        if isinstance(citations, list | dict)
        for citation in citations
    }
    numbered = sources if isinstance(sources, dict) else {}
    documents = [*numbered.values()] if numbered else sources if isinstance(sources, list) else []
    pmids = {*map(pmid_of, documents)}
    places = {n for n in cited if n in range(len(documents) + 1) and str(n) not in pmids}
    if not (places and documents):
        return None
    ends = cited & {0, len(documents)}
    if places != cited or len(ends) == 2 or not (ends or numbered or keys.sentences not in value):
        return {}
    if numbered:
        return {place_in(key) or 0: document for key, document in numbered.items()}
    return dict(enumerate(documents, start=int(len(documents) in cited)))


def place_in(cited: Any) -> int | None:
    """Return the number that a citation is, as in 1, "1" and "[1]"; None without one."""
    return whole_number(cited.strip("[]() ") if isinstance(cited, str) else cited)


def _keys(entry: Entry) -> Iterable[str]:
    return entry.value if isinstance(entry.value, dict) else ()


def _in_lines(content: bytes, entries: Sequence[Entry]) -> bool:
    """Whether each entry is a line, the first two without an empty one, by which NIST tells."""
    lines = [n for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
    return [entry.line for entry in entries] == lines and lines[:2] == [1, 2][: len(lines)]


def _values(content: bytes, path: Path) -> list[Entry]:
    """The values of a file: one a line, or each over several lines."""
    lines = [(n, line) for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
    try:
        return [Entry(parse_json(line, path, n), n, line.decode()) for n, line in lines]
    except JSONError:
        with suppress(ValueError, RecursionError):
            return [*_parse_entries(content.decode(), 0)]
        with suppress(JSONError):
            parse_json(lines[0][1])
            raise
        parse_json(content, path)
        raise


def _elements(text: str, key: str | None) -> list[Entry]:
    """The elements of a list: the whole, or that with a key."""
    return [*_parse_entries(text, 1 + (text.index("[") if key is None else _place_of(text, key)))]


def _parse_entries(text: str, place: int) -> Iterator[Entry]:
    """Yield the values from a place on, to the end of the list or of the text."""
    line, counted_to = 1, 0
    while (place := _after_blanks(text, place)) < len(text) and text[place] != "]":
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
