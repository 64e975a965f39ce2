"""Repairs of answers in JSON, for BioASQ and TREC BioGen: a corrected copy, entry by entry."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import listing
from irplatform.runs.bioasq import ADDRESS
from irplatform.runs.ids import id_text, pmid_of, pmids_of, whole_number
from irplatform.runs.trec import Problem
from irplatform.tasks.check_answers import CITED
from irplatform.tasks.entries import (
    KEYS,
    LISTS,
    place_in,
    read_answers,
    reference_places,
    sentences_of,
)
from irplatform.tasks.repair import Repair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from irplatform.tasks.catalogue.rules import Task
    from irplatform.tasks.entries import Answers, Keys

_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


def repair_answers(
    path: Path,
    task: Task,
    *,
    topics: Collection[str] = (),
    has_document: Callable[[str], bool] | None = None,
    tag: str | None = None,
) -> Repair:
    """Repair a file of answers by the rules of a task; the file itself stays as it is.

    What cannot be read as the task has it stays as it is, for the check to refuse, or is left out
    and counted. An answer that loses all of its documents, snippets or citations is an error.

    Args:
        path: the file.
        task: the task, which takes JSON.
        topics: ids of its topics, if known.
        has_document: says if the collection has a document; others are left out.
        tag: the new name of the run; by default the most frequent one.

    Raises:
        InputError: the file is not JSON of the task's form.
    """
    answers = read_answers(path, task.form)
    mending = _Mending(task, topics, has_document, tag or _run_name(answers))
    entries: dict[str, Any] = {}
    changed: dict[str, list[int]] = {}
    left_out: dict[str, list[int]] = {}
    lost: dict[str, list[int]] = {}
    faults: list[Problem] = []
    lines: list[tuple[int, str, str | None, str]] = []
    head = mending.names(answers.head, "run_name") if task.form == "biogen-2024" else answers.head
    of_file = {"byte order mark": answers.marked, "layout of the file": answers.odd}
    mending.reasons |= {reason: None for reason, holds in of_file.items() if holds}
    for entry in answers.entries:
        name, value = mending.entry(entry.value)
        reason = "entry without an id" if not name else ""
        if name and topics and name not in topics:
            reason = "topic that the task does not have"
        elif name in entries:
            reason = "topic that comes a second time"
        if reason:
            left_out.setdefault(reason, []).append(entry.line)
            lines.append((entry.line, _compact(entry.value), None, reason))
            mending.start()
            continue
        entries[name] = value
        for change in mending.reasons:
            changed.setdefault(change, []).append(entry.line)
        for loss, number in mending.lost.items():
            lost.setdefault(loss, []).extend([entry.line] * number)
        if reasons := ", ".join([*mending.reasons, *(f"{loss} left out" for loss in mending.lost)]):
            lines.append((entry.line, _compact(entry.value), _compact(value), reasons))
        for noun in mending.gone:
            losses = listing(f"{n} {loss}" for loss, n in mending.lost.items())
            fault = f"'{name}' has lost all of its {noun}: {losses}."
            faults.append(Problem("error", fault, entry.line))
        mending.start()
    content = canonical(head, [*entries.values()], task.form)
    return Repair(content, changed, left_out, tuple(lines), lost, tuple(faults))


def _run_name(answers: Answers) -> str | None:
    """The most frequent name of the run that is text, else a number as text."""
    metadata = [
        value.get("metadata") or value.get("meta_data") or value
        for value in (entry.value for entry in answers.entries)
        if isinstance(value, dict)
    ]
    run_ids = [record.get("run_id") for record in metadata if isinstance(record, dict)]
    run_ids = run_ids if any(run_ids) else [answers.head.get("run_name")]
    texts = [run_id for run_id in run_ids if isinstance(run_id, str) and run_id]
    names = texts or [name for name in map(id_text, run_ids) if name]
    return next((name for name, _ in Counter(names).most_common(1)), None)


def canonical(head: Mapping[str, Any], entries: Sequence[Any], form: str) -> bytes:
    """Write answers in the form of a task: one JSON object, or one a line."""
    if form in LISTS:
        return orjson.dumps({**head, LISTS[form]: entries}, option=orjson.OPT_INDENT_2) + b"\n"
    return b"".join(orjson.dumps(entry) + b"\n" for entry in entries)


def _with_references(sentence: Any, keys: Keys, places: Mapping[int, Any]) -> Any:
    """A sentence that cites places, with the references there."""
    if not isinstance(sentence, dict):
        return sentence
    cited = {k: sentence[k] for k in keys.citations if isinstance(sentence.get(k), list | dict)}
    return sentence | {
        k: [places.get(place_in(citation) or 0) for citation in v] for k, v in cited.items()
    }


def _compact(value: Any) -> str:
    return orjson.dumps(value).decode()


class _Mending:
    """Corrects entries, one after the other.

    Attributes:
        reasons: what was changed in the present entry.
        lost: what it lost, in the plural, and how much of it.
        gone: what it had, and has none of any more.
    """

    def __init__(
        self,
        task: Task,
        topics: Collection[str],
        has_document: Callable[[str], bool] | None,
        run_name: str | None,
    ) -> None:
        self._task = task
        self._topics = topics
        self._has_document = has_document
        self._run_name = run_name
        self.start()

    def start(self) -> None:
        """Forget the entry before."""
        self.reasons: dict[str, None] = {}
        self.lost: Counter[str] = Counter()
        self._had: Counter[str] = Counter()

    @property
    def gone(self) -> list[str]:
        return [noun for noun, count in self._had.items() if not count]

    def entry(self, value: Any) -> tuple[str, Any]:
        """Return an entry's id, "" if it has none, and the corrected entry."""
        if not isinstance(value, dict):
            return "", value
        match self._task.form:
            case "bioasq":
                return self._bioasq(value)
            case "biogen-2024":
                return self._biogen_2024(value)
            case form:
                return self._biogen(value, KEYS[form])

    def names(self, holder: Mapping[str, Any], key: str) -> dict[str, Any]:
        """The keys of a run, with its name and that of the team as text."""
        team = holder.get("team_id")
        names = {"team_id": id_text(team) or team, key: self._run_name or holder.get(key)}
        self._change(team, names["team_id"], "name of the team, as text")
        self._change(holder.get(key), names[key], "name of the run")
        return {**holder, **{field: after for field, after in names.items() if after is not None}}

    def _change(self, before: Any, after: Any, reason: str) -> Any:
        if _compact(before) != _compact(after):  # 0.0 and 0 are equal
            self.reasons[reason] = None
        return after

    def _name(self, value: Any) -> str:
        """An id as text, in the spelling of the task's topics."""
        name = id_text(value)
        if self._topics and name not in self._topics and (other := pmid_of(name)) in self._topics:
            name = other or ""  # a whole number, without zeros before or behind it
        return str(self._change(value, name, "ids written as the task has them"))

    def _lose(self, number: int, noun: str) -> None:
        if number > 0:
            self.lost[noun] += number

    def _documents(self, values: Any, noun: str, *, prefix: str = "") -> list[Any]:
        """The PMIDs of a value, each once, as addresses or as they are written."""
        documents: dict[str, Any] = {}
        elements = values if isinstance(values, list) else [values] * (values not in (None, "", {}))
        if not isinstance(values, list):
            self.reasons["lists made of other values" if elements else "lists added"] = None
        for value in elements:
            pmids, others = pmids_of(value)
            if pmids or others:
                self._had[noun] += 0  # nothing of it is left so far
            else:
                self.reasons["empty values left out"] = None
            self._lose(len(others), f"{noun} that are no PMIDs")
            for pmid in pmids:
                if self._has_document is not None and not self._has_document(pmid):
                    self._lose(1, f"{noun} that the collection does not have")
                elif pmid in documents:
                    self.reasons["documents that come twice left out"] = None
                else:
                    number = isinstance(value, int | float) and not prefix
                    documents[pmid] = int(pmid) if number else prefix + pmid
                    if value != documents[pmid] or isinstance(value, float):
                        self.reasons["documents written as the task has them"] = None
        return [*documents.values()]

    def _cut(self, values: list[Any], most: int | None, noun: str) -> list[Any]:
        first_values = values if most is None else values[:most]
        self._lose(len(values) - len(first_values), f"{noun} beyond {most}")
        if first_values:
            self._had[noun] += len(first_values)
        return first_values

    def _bioasq(self, value: dict[str, Any]) -> tuple[str, Any]:
        rules = self._task.rules
        name = self._name(value.get("id"))
        documents = self._documents(value.get("documents"), "documents", prefix=ADDRESS)
        documents = self._cut(documents, rules.depth, "documents")
        mended = {**value, "id": name, "documents": documents}
        source = value.get("snippets")
        if source is None or isinstance(source, list | dict):
            snippets = []
            values = [source] if isinstance(source, dict) and source else source or []
            self._change(source, values, "lists made of other values" if values else "lists added")
            for snippet in values:
                self._had["snippets"] += 0
                if (sound := self._snippet(snippet)) is not None:
                    snippets.append(sound)
                else:
                    self._lose(1, "snippets without a document, a text or offsets")
            mended["snippets"] = self._cut(snippets, rules.snippets, "snippets")
        return name, mended

    def _snippet(self, snippet: Any) -> dict[str, Any] | None:
        if not isinstance(snippet, dict):
            return None
        pmid = pmid_of(snippet.get("document"))
        sound = pmid and (self._has_document is None or self._has_document(pmid))
        offsets = [f"offsetIn{part}Section" for part in ("Begin", "End")]
        begin, end = (whole_number(snippet.get(key)) for key in offsets)
        if not sound or not isinstance(snippet.get("text"), str):
            return None
        if begin is None or end is None or not 0 <= begin < end:
            return None
        mended = {**snippet, "document": f"{ADDRESS}{pmid}", offsets[0]: begin, offsets[1]: end}
        for key in ("beginSection", "endSection"):
            if isinstance(section := snippet.get(key), str):
                plain = section.strip().lower()
                mended[key] = plain.replace("sections.0", "abstract")  # its name of former years
        return dict(self._change(snippet, mended, "snippets written as the task has them"))

    def _biogen_2024(self, value: dict[str, Any]) -> tuple[str, Any]:
        name, most = self._name(value.get("topic_id")), self._task.rules.citations
        value = {**value, "topic_id": name}
        answer = value.get("answer")
        if not isinstance(answer, str):
            return name, value
        sources: Any = value.get("references") or []
        is_numbered = isinstance(sources, dict) and [*map(pmid_of, sources)] == [
            str(number) for number in range(1, len(sources) + 1)
        ]
        parts = [*sources.values()] if is_numbered else sources
        documents, others = pmids_of(parts)
        documents = [*dict.fromkeys(documents)]
        cited = [pmid for m in CITED.finditer(answer) for pmid in re.findall(r"\d+", m[1])]
        places = parts if isinstance(parts, list) else documents
        numbers = {str(number): pmids_of(part)[0] for number, part in enumerate(places, start=1)}
        numbered = numbers.keys() >= {*cited} and not {*cited} & {*documents}

        def as_cited(match: re.Match[str]) -> str:
            pmids, words = pmids_of(match[1])
            if words or not pmids:
                return match[0]
            if CITED.fullmatch(match[0]) and numbered:
                pmids = [pmid for number in pmids for pmid in numbers[number]]
            citations = [*dict.fromkeys(pmids)][:most]
            self._lose(len({*pmids}) - len(citations), f"citations beyond {most}")
            if citations == re.findall(r"\d+", match[1]) and CITED.fullmatch(match[0]):
                return match[0]
            return f"[{', '.join(citations)}]" if citations else ""

        mended = _BRACKETS.sub(as_cited, answer)
        self._change(answer, mended, "citations written as the task has them")
        cited = [pmid for m in CITED.finditer(mended) for pmid in re.findall(r"\d+", m[1])]
        references = [pmid for pmid in documents if pmid in cited]
        references += [pmid for pmid in dict.fromkeys(cited) if pmid not in references]
        self._lose(len(others), "references that are no PMIDs")
        self._lose(len({*documents} - {*cited}), "references that the answer cites nowhere")
        if documents or others:
            self._had["citations"] = len(references)
        self._change(value.get("references"), references, "references made those that are cited")
        return name, {**value, "answer": mended, "references": references}

    def _biogen(self, value: dict[str, Any], keys: Keys) -> tuple[str, Any]:
        records = (value.get(key) for key in ("metadata", "meta_data"))
        metadata = next((record for record in records if isinstance(record, dict)), None)
        if metadata is None:
            metadata = {k: value[k] for k in ("team_id", "run_id", keys.id) if k in value}
            self.reasons["metadata made of the entry's keys"] = None
        name = self._name(metadata.get(keys.id))
        metadata = {**self.names(metadata, "run_id"), keys.id: name}
        sentences, places = sentences_of(value, keys), reference_places(value, keys)
        if sentences and keys.sentences not in value:
            self.reasons[f"'{keys.sentences}' made of 'answer'"] = None
            value = {key: part for key, part in value.items() if key != "answer"}
        if places:
            self.reasons["citations made of places in 'references'"] = None
            sentences = [_with_references(sentence, keys, places) for sentence in sentences]
        if isinstance(sentences, str | dict) and sentences:
            self.reasons["sentences put into a list"] = None
            sentences = [sentences]
        mended = {**value, "metadata": metadata}
        if places == {}:  # the check says that they cannot be told
            mended[keys.sentences] = sentences
        elif isinstance(sentences, list):
            mended[keys.sentences] = [
                self._sentence(sentence, keys) for sentence in sentences if sentence
            ]
            self._lose(sum(not sentence for sentence in sentences), "empty sentences")
        return name, mended

    def _sentence(self, sentence: Any, keys: Keys) -> Any:
        if isinstance(sentence, str) and not any(map(pmid_of, _BRACKETS.findall(sentence))):
            self.reasons["sentences made of texts"] = None
            sentence = {"text": sentence}
        if not isinstance(sentence, dict):
            return sentence
        existing = {*pmids_of(sentence.get("existing_supported_citations") or [])[0]}
        corrected = dict(sentence)
        is_elsewhere = any(
            isinstance(value, list | dict) and pmids_of(value)[0]
            for key, value in sentence.items()
            if key not in keys.citations and key != "existing_supported_citations"
        )
        for key in keys.citations:
            if key not in sentence and is_elsewhere:
                continue  # the check says that there are none
            citations = self._documents(sentence.get(key), "citations")
            if key == "supported_citations":
                new = [pmid for pmid in citations if str(pmid) not in existing]
                self._lose(len(citations) - len(new), "citations that exist already")
                citations = new
            corrected[key] = self._cut(citations, self._task.rules.citations, "citations")
        return corrected
