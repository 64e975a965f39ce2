"""Repairs of answers in JSON, for BioASQ and TREC BioGen: a corrected copy, entry by entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.runs.bioasq import ADDRESS
from irplatform.tasks.answers import CITED
from irplatform.tasks.entries import KEYS, LISTS, read_answers
from irplatform.tasks.repair import Repair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from irplatform.tasks.entries import Keys
    from irplatform.tasks.model import Task

_PMID = re.compile(
    r"(?:https?://\S*pubmed\S*/|(?:pmid|pubmed)\s*[:_-]?\s*)?([1-9]\d{0,8})/?", re.IGNORECASE
)


def repair_answers(
    path: Path,
    task: Task,
    *,
    topics: Collection[str] = (),
    has_document: Callable[[str], bool] | None = None,
    tag: str | None = None,
) -> Repair:
    """Repair a file of answers by the rules of a task; the file itself stays as it is.

    Args:
        path: the file.
        task: the task, which takes JSON.
        topics: ids of its topics, if known.
        has_document: says if the collection has a document; others are left out.
        tag: the new name of the run; by default that of the first entry.

    Raises:
        InputError: the file is not JSON of the task's form.
    """
    answers = read_answers(path, task.form)
    mending = _Mending(task, has_document, tag)
    kept: dict[str, Any] = {}
    changed: dict[str, list[int]] = {}
    left_out: dict[str, list[int]] = {}
    lines: list[tuple[int, str, str | None, str]] = []
    for entry in answers.entries:
        mending.reasons = {"byte order mark": None} if answers.marked and not kept else {}
        name, value = mending.entry(entry.value)
        reason = "entry without an id" if not name else ""
        if name and topics and name not in topics:
            reason = "topic that the task does not have"
        elif name in kept:
            reason = "topic that comes a second time"
        if reason:
            left_out.setdefault(reason, []).append(entry.line)
            lines.append((entry.line, _compact(entry.value), None, reason))
            continue
        kept[name] = value
        if mending.reasons:
            for each in mending.reasons:
                changed.setdefault(each, []).append(entry.line)
            reasons = ", ".join(mending.reasons)
            lines.append((entry.line, _compact(entry.value), _compact(value), reasons))
    head = {**answers.head, **({"run_name": tag} if tag and task.form == "biogen-2024" else {})}
    content = canonical(head, [*kept.values()], task.form)
    return Repair(content, changed, left_out, tuple(lines))


def canonical(head: Mapping[str, Any], entries: Sequence[Any], form: str) -> bytes:
    """Write answers in the form of a task: one JSON object, or one a line."""
    if form in LISTS:
        return orjson.dumps({**head, LISTS[form]: entries}, option=orjson.OPT_INDENT_2) + b"\n"
    return b"".join(orjson.dumps(entry) + b"\n" for entry in entries)


def _compact(value: Any) -> str:
    return orjson.dumps(value).decode()


class _Mending:
    """Corrects entries; `reasons` are those of the latest."""

    def __init__(
        self, task: Task, has_document: Callable[[str], bool] | None, tag: str | None
    ) -> None:
        self._task = task
        self._has_document = has_document
        self._tag = tag
        self.reasons: dict[str, None] = {}

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

    def _change(self, before: Any, after: Any, reason: str) -> Any:
        if before != after:
            self.reasons[reason] = None
        return after

    def _documents(self, values: Any, most: int | None, *, prefix: str = "") -> list[Any]:
        """The PMIDs of a list, each once, as addresses or as they are written."""
        kept: dict[str, Any] = {}
        for value in values if isinstance(values, list) else []:
            match = _PMID.fullmatch(str(value).strip())
            if match is None:
                self.reasons["documents that are no PMIDs left out"] = None
            elif self._has_document is not None and not self._has_document(match[1]):
                self.reasons["documents that the collection does not have left out"] = None
            elif match[1] in kept:
                self.reasons["documents that come twice left out"] = None
            else:
                written = prefix + match[1]
                kept[match[1]] = value if isinstance(value, int) and not prefix else written
                if str(value) != written:
                    self.reasons["documents written as the task has them"] = None
        if not isinstance(values, list):
            self.reasons["lists added"] = None
        return self._cut([*kept.values()], most)

    def _cut(self, values: list[Any], most: int | None) -> list[Any]:
        if most is not None and len(values) > most:
            self.reasons[f"more than {most} left out"] = None
        return values[:most]

    def _bioasq(self, value: dict[str, Any]) -> tuple[str, Any]:
        rules = self._task.rules
        snippets = []
        for snippet in value.get("snippets") or []:
            if (sound := self._snippet(snippet)) is not None:
                snippets.append(sound)
            else:
                self.reasons["snippets without a text or offsets left out"] = None
        mended = {
            **value,
            "documents": self._documents(value.get("documents"), rules.depth, prefix=ADDRESS),
            "snippets": self._cut(snippets, rules.snippets),
        }
        return str(value.get("id") or ""), mended

    def _snippet(self, snippet: Any) -> dict[str, Any] | None:
        if not isinstance(snippet, dict):
            return None
        documents = self._documents([snippet.get("document")], 1, prefix=ADDRESS)
        begin, end = (snippet.get(f"offsetIn{part}Section") for part in ("Begin", "End"))
        if not documents or not isinstance(snippet.get("text"), str):
            return None
        if not (type(begin) is int and type(end) is int and 0 <= begin < end):
            return None
        return {**snippet, "document": documents[0]}

    def _biogen_2024(self, value: dict[str, Any]) -> tuple[str, Any]:
        name = str(value.get("topic_id") or "")
        answer, most = str(value.get("answer") or ""), self._task.rules.citations

        def first_ones(match: re.Match[str]) -> str:
            pmids = re.findall(r"\d+", match[1])
            kept = [*dict.fromkeys(pmids)][:most]
            return match[0] if kept == pmids else f"[{', '.join(kept)}]"

        answer = self._change(answer, CITED.sub(first_ones, answer), f"more than {most} left out")
        cited = [pmid for match in CITED.finditer(answer) for pmid in re.findall(r"\d+", match[1])]
        references = list(dict.fromkeys(cited))
        given = value.get("references")
        listed = [str(each) for each in given] if isinstance(given, list) else []
        ordered = [each for each in dict.fromkeys(listed) if each in references]
        ordered += [each for each in references if each not in ordered]
        self._change(given, ordered, "references made those that are cited")
        self._change(value.get("topic_id"), name, "ids written as text")
        return name, {**value, "topic_id": name, "answer": answer, "references": ordered}

    def _biogen(self, value: dict[str, Any], keys: Keys) -> tuple[str, Any]:
        key = keys.id
        metadata = value.get("metadata")
        metadata = dict(metadata) if isinstance(metadata, dict) else {}
        name = str(metadata.get(key) or "")
        self._change(metadata.get(key), name, "ids written as text")
        self._tag = self._tag or metadata.get("run_id")
        self._change(metadata.get("run_id"), self._tag, "name of the run")
        metadata |= {key: name, "run_id": self._tag}
        mended = []
        for sentence in value.get(keys.sentences) or []:
            if not isinstance(sentence, dict):
                self.reasons["sentences without a text left out"] = None
                continue
            existing = {*map(str, sentence.get("existing_supported_citations") or [])}
            corrected = dict(sentence)
            for each in keys.citations:
                found = self._documents(sentence.get(each), None)
                if each == "supported_citations":
                    new = [pmid for pmid in found if str(pmid) not in existing]
                    found = self._change(found, new, "existing citations left out")
                corrected[each] = self._cut(found, self._task.rules.citations)
            mended.append(corrected)
        return name, {**value, "metadata": metadata, keys.sentences: mended}
