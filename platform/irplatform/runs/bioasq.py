"""Files of BioASQ's task b: questions, the articles that answer them, and answers to submit.

A file is one JSON object with the list `questions`. A question has `id`, `body` and `type`
(factoid, list, summary, yesno) and, once judged, the addresses of relevant articles in `documents`;
in the feedback of the task Synergy these are objects, `{"id": PMID, "golden": true or false}`.
Snippets are parts of a title or an abstract: the characters from `offsetInBeginSection`, counted
from 0, to before `offsetInEndSection`. Answers to phase A have the same form, with at most ten
documents and ten snippets a question (http://participants-area.bioasq.org/general_information/Task13b).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.data import fault
from irplatform.errors import InputError, quoted
from irplatform.files.formats import read_json
from irplatform.files.reading import open_bytes
from irplatform.runs.ids import id_text, pmcid_of, pmid_of, whole_number
from irplatform.spelling import command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MOST_DOCUMENTS = 10
"""Documents that may be submitted per question."""
MOST_SNIPPETS = 10
"""Snippets that may be submitted per question."""
ADDRESS = "http://www.ncbi.nlm.nih.gov/pubmed/"
_NUMBER = "[1-9][0-9]{0,8}"
PMID = re.compile(_NUMBER)
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[\[{]|$))", re.MULTILINE
)
"""The beginning of a JSON object, or of a list of lists or objects; a topic may be called {1}."""
_FORM = 'BioASQ\'s files are one JSON object: {"questions": [{"id": …, "body": …}, …]}'


@dataclass(frozen=True)
class Question:
    """A question of a file.

    Attributes:
        id: its id.
        body: the question.
        type: the kind of answer it asks for, or "".
        documents: id to grade: 1 for articles that answer it, 0 for others that were judged.
        snippets: parts of articles that answer it, where they are read.
    """

    id: str
    body: str
    type: str
    documents: Mapping[str, int]
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True)
class Snippet:
    """A part of an article's title or abstract.

    Attributes:
        document: the article's id.
        section: "title" or "abstract"; "0" in files of former years, of which that is the abstract.
        begin: place of the first character in the section, from 0.
        end: place behind the last character.
        text: what stands there.
    """

    document: str
    section: str
    begin: int
    end: int
    text: str = ""


def holds_json(path: Path) -> bool:
    """Return True if a file begins as JSON, not as a table, in UTF-8 or UTF-16.

    Raises:
        InputError: the file cannot be read.
    """
    with open_bytes(path) as file:
        beginning = file.read(4096).replace(b"\0", b"")  # UTF-16 has a NUL with each letter
    return _BEGINNING.match(beginning) is not None


def read_questions(path: Path, *, bodies: bool = True, snippets: bool = False) -> list[Question]:
    """Read questions, judged or not; without `bodies`, also answers, whose questions have an id.

    Snippets, judged ones or answers, are read where they are asked for.

    Raises:
        InputError: the file is missing or not JSON, there are no questions, one has no body, no id
            or the id of another, a document is not an address of PubMed's, or a snippet has no
            document, section or offsets.
    """
    parsed = read_json(path, hint=f"{_FORM}.")
    entries = parsed.get("questions") if isinstance(parsed, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(
            f"there are no questions here. {_FORM}. Topics in other JSON have the format 'json'.",
            path=path,
        )
    places: dict[str, int] = {}
    questions = []
    for place, entry in enumerate(entries, start=1):
        question = _question(entry, f"question {place}", path, bodies=bodies)
        if first := places.get(question.id):
            raise InputError(
                f"question {place} has the id '{question.id}' of question {first}.", path=path
            )
        places[question.id] = place
        questions.append(question)
    if not snippets:
        return questions
    return [
        replace(question, snippets=_snippets(entry, f"question {place}", path))
        for place, (question, entry) in enumerate(zip(questions, entries, strict=True), start=1)
    ]


def _snippets(entry: Mapping[str, Any], name: str, path: Path) -> tuple[Snippet, ...]:
    return tuple(
        _snippet(snippet, name, path)
        for snippet in entry.get("snippets") or []
        if not isinstance(snippet, dict) or snippet.get("golden") is not False  # of feedback
    )


def judgments_of_questions(path: Path) -> dict[str, dict[str, int]]:
    """Read the judgments in a file of questions: question id to document id to grade.

    Raises:
        InputError: see `read_questions`; or no question has a document.
    """
    judged = {
        question.id: dict(question.documents)
        for question in read_questions(path)
        if question.documents
    }
    if not judged:
        raise InputError(
            "no question has documents, so these are questions to answer, not judgments.", path=path
        )
    return judged


def answers(
    answered: Iterable[tuple[Question, Sequence[str]]],
    snippets: Mapping[str, Sequence[Snippet]] | None = None,
) -> bytes:
    """Write answers as JSON, with the addresses of the first ten documents of each question.

    Args:
        answered: the questions, each with PMIDs, best first.
        snippets: question id to the snippets to write, best first.

    Raises:
        InputError: a document's id is not a PMID.
    """
    entries = [
        {
            "id": question.id,
            "body": question.body,
            "type": question.type,
            "documents": [_address(doc_id, question.id) for doc_id in doc_ids[:MOST_DOCUMENTS]],
            "snippets": [_entry(snippet) for snippet in (snippets or {}).get(question.id, ())],
        }
        for question, doc_ids in answered
    ]
    return orjson.dumps({"questions": entries}, option=orjson.OPT_INDENT_2)


def _address(doc_id: str, question: str) -> str:
    if not PMID.fullmatch(doc_id):
        raise InputError(
            f"document '{doc_id}' of question '{question}' is not a PMID, and BioASQ takes "
            "articles of PubMed only. "
            f"{command('submit fix RUN', '-o OUT', task='bioasq-13b-a')} leaves others out."
        )
    return ADDRESS + doc_id


def _entry(snippet: Snippet) -> dict[str, Any]:
    return {
        "document": ADDRESS + snippet.document,
        "beginSection": snippet.section,
        "endSection": snippet.section,
        "offsetInBeginSection": snippet.begin,
        "offsetInEndSection": snippet.end,
        "text": snippet.text,
    }


def _snippet(entry: Any, name: str, path: Path) -> Snippet:
    values = entry if isinstance(entry, dict) else {}
    begin, end = (whole_number(values.get(f"offsetIn{part}Section")) for part in ("Begin", "End"))
    sections = [values.get(f"{part}Section") for part in ("begin", "end")]
    if begin is None or end is None or None in sections:
        raise InputError(
            f"{name} has a snippet without beginSection, endSection, offsetInBeginSection or "
            "offsetInEndSection.",
            path=path,
        )
    document = _document_id(values.get("document"), name, path)
    # As BioASQ's program has them: "sections.0" of former years is "0".
    first, last = (str(label).partition(".")[2] or str(label) for label in sections)
    section = first if first == last else f"{first} to {last}"
    return Snippet(document, section, begin, end, str(values.get("text", "")))


def _question(entry: Any, name: str, path: Path, *, bodies: bool) -> Question:
    if not isinstance(entry, dict):
        raise InputError(f"{name} is not a JSON object.", path=path)
    value = entry.get("id")
    number = id_text(value) if isinstance(value, int | float) and not bodies else ""
    question_id = number or _text(entry, "id", name, path)
    if wrong := fault(question_id):
        raise InputError(f"the id {quoted(question_id)} of {name} {wrong}.", path=path)
    kind = entry.get("type")
    documents = entry.get("documents")
    if documents is not None and not isinstance(documents, list):
        raise InputError(f"'documents' of {name} is not a list.", path=path)
    grades: dict[str, int] = {}
    for document in documents or ():
        doc_id, grade = _judged(document, name, path)
        if grades.setdefault(doc_id, grade) != grade:
            raise InputError(f"{name} has '{doc_id}' both golden and not golden.", path=path)
    return Question(
        question_id,
        " ".join(_text(entry, "body", name, path).split()) if bodies or entry.get("body") else "",
        kind if isinstance(kind, str) else "",
        grades,
    )


def _text(entry: dict[str, Any], key: str, name: str, path: Path) -> str:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"'{key}' of {name} is {value!r}, which has to be text.", path=path)
    if value is None or not value.strip():
        raise InputError(f"{name} has no '{key}', which has to be text.", path=path)
    return value


def _judged(document: Any, name: str, path: Path) -> tuple[str, int]:
    if not isinstance(document, dict):
        return _document_id(document, name, path), 1
    golden = {"true": 1, "1": 1, "false": 0, "0": 0}.get(str(document.get("golden")).lower())
    if golden is None:
        raise InputError(
            f"{name} has the document {document!r}: in feedback of Synergy, 'golden' of a document "
            "is true or false.",
            path=path,
        )
    others = {key: value for key, value in document.items() if key != "golden"}
    return _document_id(
        document.get("id") if pmid_of(others) is None else others, name, path
    ), golden


def _document_id(document: Any, name: str, path: Path) -> str:
    if pmid := pmid_of(document):
        return pmid
    if isinstance(document, str) and (pmcid := pmcid_of(document)):
        return pmcid
    raise InputError(
        f"{name} names the document {document!r}, which is not an article of PubMed: write its "
        f"address, {ADDRESS}PMID, as text.",
        path=path,
    )
