"""Checks of answers in JSON: documents and snippets for BioASQ, citations for TREC BioGen.

BioGen's follow the track's guidelines and the checkers of NIST's submission system.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any

from irplatform.errors import counted, listing, quoted
from irplatform.runs.bioasq import ADDRESS
from irplatform.runs.ids import id_text, pmid_of, pmids_of, whole_number
from irplatform.runs.trec import Problem
from irplatform.tasks.check_runs import RunCheck
from irplatform.tasks.entries import KEYS, Answers, Entry, read_answers, reference_places
from irplatform.text import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from irplatform.tasks.catalogue.rules import Task
    from irplatform.tasks.entries import Keys

_SECTION = re.compile(r"title|abstract|sections\.0")
"""The last is an abstract in files of former years, for BioASQ's program, too."""
CITED = re.compile(r"\[((?:\d+,?\s*)+)\]")
"""Citations in the text of an answer, as BioGen 2024 has them."""
_BULLET = re.compile(r"^\s*[-*•–]\s+", re.MULTILINE)
_FINAL = re.compile(r"[.!?]")
_WORD = re.compile(r"\w+(?:[-'’.,/]\w+)*")


def check_answers(
    path: Path,
    task: Task,
    topics: Collection[str] = (),
    has_document: Callable[[str], bool] | None = None,
) -> RunCheck:
    """Check a file of answers by its task's rules.

    Raises:
        InputError: the file is not JSON of the task's form.
    """
    answers = read_answers(path, task.form)
    checking = _CHECKS[task.form](task, answers, has_document)
    if answers.marked:
        checking.error(1, "the file begins with a byte order mark. Save it as UTF-8 without one.")
    if answers.odd:
        checking.error(1, answers.odd)
    checking.check(topics)
    counts = list(checking.counts.values()) or [0]
    return RunCheck(
        checking.problems,
        len(checking.counts),
        (min(counts), max(counts)),
        checking.tag,
        answers=True,
        nouns=(checking.noun, checking.each),
    )


def _but(value: Any) -> str:
    """What stands where something else is wanted, if anything does."""
    return "" if value in (None, "") else f", but {quoted(value)}"


class _Checking(ABC):
    """The check of a file.

    Attributes:
        problems: the problems found so far.
        counts: by question or topic, the number of its documents or citations.
        tag: the name of the run, where the file has it.
    """

    id_keys: tuple[str, ...] = ("id",)
    noun = "question"
    each = "document"

    def __init__(
        self, task: Task, answers: Answers, has_document: Callable[[str], bool] | None
    ) -> None:
        self.rules = task.rules
        self.answers = answers
        self.problems: list[Problem] = []
        self.counts: dict[str, int] = {}
        self.tag = ""
        self._has_document = has_document
        self._document = re.compile(task.rules.documents or ".+")

    def check(self, topics: Collection[str]) -> None:
        for number, entry in enumerate(self.answers.entries, start=1):
            if not isinstance(entry.value, dict):
                self.error(entry.line, f"entry {number} is not a JSON object.")
            elif (name := self.name_of(entry, number)) is not None:
                self.check_name(entry, name, topics)
                self.counts[name] = self.check_entry(entry, f"{self.noun} '{name}'")
        missing = [topic for topic in topics if topic not in self.counts]
        if missing:
            share = f"{len(missing):,} of {counted(len(topics), self.noun)}"
            self.error(None, f"{share} have no answer: {listing(missing)}.")
        elif not topics and (expected := self.rules.topics) not in (None, len(self.counts)):
            answered = counted(len(self.counts), self.noun)
            self.error(None, f"{answered} answered, but the task has {expected:,}.")

    @abstractmethod
    def check_entry(self, entry: Entry, subject: str) -> int:
        """Check an entry; return the number of its documents."""

    def error(self, line: int | None, message: str) -> None:
        self.problems.append(Problem("error", message, line))

    def warn(self, line: int | None, message: str) -> None:
        self.problems.append(Problem("warning", message, line))

    def name_of(self, entry: Entry, number: int) -> str | None:
        value: Any = entry.value
        for key in self.id_keys:
            value = value.get(key) if isinstance(value, dict) else None
        key = ".".join(self.id_keys)
        if not (name := id_text(value)):
            self.error(entry.line, f"entry {number} has no '{key}'.")
        elif isinstance(value, float):
            self.error(entry.line, f"'{key}' of entry {number} is {value!r}; write '{name}'.")
        return name or None

    def check_name(self, entry: Entry, name: str, topics: Collection[str]) -> None:
        if name in self.counts:
            self.error(entry.line, f"{self.noun} '{name}' comes a second time.")
        elif topics and name not in topics:
            self.error(entry.line, f"{self.noun} '{name}' is not one of the task.")

    def texts(self, entry: Entry, holder: Any, keys: Collection[str], subject: str) -> None:
        """Check that the values of some keys are texts."""
        for key in keys:
            value = holder.get(key) if isinstance(holder, dict) else None
            if not isinstance(value, str) or not value.strip():
                self.error(entry.line, f"{subject} has no text '{key}'{_but(value)}.")

    def run_name(self, line: int, value: Any, key: str) -> None:
        """Check the name of the run, which is the same everywhere."""
        if not isinstance(value, str) or not value:
            self.error(line, f"there is no text '{key}'{_but(value)}.")
        elif self.tag and value != self.tag:
            self.error(line, f"a second '{key}', {quoted(value)}; a run has one.")
        elif not self.tag:
            self.tag = value
            if self.rules.tag and not re.fullmatch(self.rules.tag, value):
                self.error(line, f"'{key}' {quoted(value)} does not match {self.rules.tag}.")

    def documents(self, entry: Entry, values: list[Any], subject: str, *, prefix: str = "") -> None:
        """Check a list of ids or addresses: their form, and that each comes once."""
        for value, times in Counter(map(str, values)).items():
            if times > 1:
                self.error(entry.line_of(value), f"{subject} has '{value}' {times} times.")
        for value in values:
            name = str(value)
            document = name.removeprefix(prefix)
            line = entry.line_of(value)
            if not self._document.fullmatch(document) or (prefix and document == name):
                fault = f"{quoted(value)} is not the PMID of an article"
                if (pmid := pmid_of(value)) and self._document.fullmatch(pmid):
                    fault = f"write '{prefix}{pmid}' for {quoted(value)}"
                self.error(line, f"{subject}: {fault}.")
            elif self._has_document is not None and not self._has_document(document):
                self.error(line, f"{subject}: '{document}' is not in the collection.")

    def at_most(self, entry: Entry, values: list[Any], most: int | None, noun: str) -> None:
        if most is not None and len(values) > most:
            self.error(entry.line, f"{noun}: {len(values):,}, but at most {most:,} are accepted.")

    def words(self, entry: Entry, texts: list[Any], subject: str) -> None:
        number = sum(len(_WORD.findall(text)) for text in texts if isinstance(text, str))
        if self.rules.words and number > self.rules.words:
            most = f"at most {self.rules.words:,} are accepted"
            self.error(entry.line, f"the answer of {subject} has {number:,} words; {most}.")


class _BioASQ(_Checking):
    def check_entry(self, entry: Entry, subject: str) -> int:
        documents: list[Any] = entry.value.get("documents") or []
        if not isinstance(documents, list):
            self.error(entry.line, f"'documents' of {subject} is not a list.")
            return 0
        if not documents:
            self.warn(entry.line, f"{subject} has no documents.")
        self.at_most(entry, documents, self.rules.depth, f"documents of {subject}")
        self.documents(entry, documents, subject, prefix=ADDRESS)
        snippets = entry.value.get("snippets") or []
        if not isinstance(snippets, list):
            self.error(entry.line, f"'snippets' of {subject} is not a list.")
            return len(documents)
        self.at_most(entry, snippets, self.rules.snippets, f"snippets of {subject}")
        for number, snippet in enumerate(snippets, start=1):
            self.check_snippet(entry, snippet, f"snippet {number} of {subject}")
        return len(documents)

    def check_snippet(self, entry: Entry, snippet: Any, subject: str) -> None:
        if not isinstance(snippet, dict):
            self.error(entry.line, f"{subject} is not a JSON object.")
            return
        line = entry.line_of(snippet.get("text"))
        place = Entry(snippet, line)
        self.texts(place, snippet, ["document", "text", "beginSection", "endSection"], subject)
        self.documents(
            place, [d] if (d := snippet.get("document")) else [], subject, prefix=ADDRESS
        )
        for key in ("beginSection", "endSection"):
            value = snippet.get(key)
            if isinstance(value, str) and value and not _SECTION.fullmatch(value):
                self.error(
                    line, f"{subject}: '{key}' is {quoted(value)}, neither title nor abstract."
                )
        begin, end = (snippet.get(f"offsetIn{part}Section") for part in ("Begin", "End"))
        if not (type(begin) is int and type(end) is int and 0 <= begin < end):
            fault = f"the offsets {begin!r} and {end!r} are no span of a text"
            if (first := whole_number(begin)) is not None and 0 <= first < (
                last := whole_number(end) or 0
            ):
                fault = f"write the offsets {begin!r} and {end!r} as {first} and {last}"
            self.error(line, f"{subject}: {fault}.")
        elif isinstance(text := snippet.get("text"), str) and (
            snippet.get("beginSection") == snippet.get("endSection") and end - begin != len(text)
        ):
            length = f"{end - begin:,} characters, its text {len(text):,}"
            self.warn(line, f"{subject}: the offsets span {length}.")


class _BioGen2024(_Checking):
    id_keys = ("topic_id",)
    noun = "topic"
    each = "citation"

    def check(self, topics: Collection[str]) -> None:
        head = self.answers.head
        for key in ("team_id", "contact_email"):
            if not isinstance(head.get(key), str):
                self.error(1, f"there is no text '{key}'{_but(head.get(key))}.")
        self.run_name(1, head.get("run_name"), "run_name")
        super().check(topics)

    def check_entry(self, entry: Entry, subject: str) -> int:
        answer, references = entry.value.get("answer"), entry.value.get("references")
        if not isinstance(entry.value["topic_id"], str):
            self.error(entry.line, f"'topic_id' of {subject} is a number; write it as text.")
        if not isinstance(answer, str) or not isinstance(references, list):
            self.error(entry.line, f"{subject} needs the text 'answer' and the list 'references'.")
            return 0
        if not all(isinstance(reference, str) for reference in references):
            self.error(entry.line, f"{subject}: 'references' are texts, such as \"12345678\".")
        self.documents(entry, references, subject)
        self.words(entry, [CITED.sub("", answer)], subject)
        number = len(sentences(_BULLET.sub("", CITED.sub("", answer))))
        if self.rules.sentences and number > self.rules.sentences:
            most = f"at most {self.rules.sentences:,} are accepted"
            self.error(entry.line, f"the answer of {subject} has {number:,} sentences; {most}.")
        cited: dict[str, None] = {}
        for match in CITED.finditer(answer):
            pmids = re.findall(r"\d+", match[1])
            cited |= dict.fromkeys(pmids)
            if self.rules.citations and len(pmids) > self.rules.citations:
                self.warn(
                    entry.line_of(answer),
                    f"{subject}: of [{match[1]}] only the first {self.rules.citations} count.",
                )
            before = answer[: match.start()].rstrip()
            if not before or _FINAL.match(before[-1]):
                fault = "stands outside of a sentence and does not count"
                self.warn(entry.line_of(answer), f"{subject}: [{match[1]}] {fault}.")
        names = list(map(str, references))
        if lost := [pmid for pmid in cited if pmid not in names]:
            self.error(entry.line, f"{subject} cites {listing(lost)}, not among its references.")
        if idle := [name for name in names if name not in cited]:
            fault = f"has references that its answer cites nowhere: {listing(idle)}"
            self.error(entry.line, f"{subject} {fault}.")
        return len(references)


class _BioGenLines(_Checking):
    """A line per topic, with sentences and lists of citations."""

    keys: Keys
    keys_are_citations = False
    """Whether citations may be an object, of which NIST's checker takes the keys."""

    def check_entry(self, entry: Entry, subject: str) -> int:
        metadata = entry.value["metadata"]
        if not isinstance(metadata.get("team_id"), str):
            team = _but(metadata.get("team_id"))
            self.error(entry.line, f"{subject} has no text 'metadata.team_id'{team}.")
        self.run_name(entry.line, metadata.get("run_id"), "metadata.run_id")
        if reference_places(entry.value, self.keys) is not None:
            self.error(entry.line, f"{subject} cites places in its 'references'. Write the PMIDs.")
        parts = entry.value.get(self.keys.sentences)
        if not isinstance(parts, list):
            self.error(entry.line, f"{subject} has no list '{self.keys.sentences}'{_but(parts)}.")
            return 0
        cited = 0
        for number, sentence in enumerate(parts, start=1):
            label = f"sentence {number} of {subject}"
            self.texts(entry, sentence, ["text"], label)
            for key in self.keys.citations:
                values = sentence.get(key) if isinstance(sentence, dict) else None
                if self.keys_are_citations and isinstance(values, dict) and not pmids_of(values)[1]:
                    values = [*values]
                if not isinstance(values, list):
                    self.error(entry.line, f"{label} has no list '{key}'{_but(values)}.")
                    continue
                cited += len(values)
                self.at_most(entry, values, self.rules.citations, f"'{key}' of {label}")
                self.documents(entry, values, label)
            self.check_sentence(entry, sentence, label)
        texts = [sentence.get("text") for sentence in parts if isinstance(sentence, dict)]
        self.words(entry, texts, subject)
        return cited

    def check_sentence(self, entry: Entry, sentence: Any, subject: str) -> None:
        """Check the other keys of a sentence."""


class _BioGenA(_BioGenLines):
    keys = KEYS["biogen-a"]
    id_keys = ("metadata", keys.id)

    def check_entry(self, entry: Entry, subject: str) -> int:
        if not isinstance(entry.value["metadata"]["qa_id"], str):
            self.error(entry.line, f"'qa_id' of {subject} is a number; write it as text.")
        return super().check_entry(entry, subject)

    def check_sentence(self, entry: Entry, sentence: Any, subject: str) -> None:
        if not isinstance(sentence, dict):
            return
        existing = {*map(str, sentence.get("existing_supported_citations") or [])}
        supported = sentence.get("supported_citations")
        names = list(map(str, supported)) if isinstance(supported, list) else []
        if overlap := [name for name in names if name in existing]:
            fault = "among both the supporting and the existing citations"
            self.error(entry.line, f"{subject} has {listing(overlap)} {fault}.")


class _BioGenB(_BioGenLines):
    keys = KEYS["biogen-b"]
    keys_are_citations = True
    id_keys = ("metadata", keys.id)
    noun = "topic"
    each = "citation"


_CHECKS: dict[str, type[_Checking]] = {
    "bioasq": _BioASQ,
    "biogen-2024": _BioGen2024,
    "biogen-a": _BioGenA,
    "biogen-b": _BioGenB,
}
