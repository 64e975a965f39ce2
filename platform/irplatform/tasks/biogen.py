"""Citations for TREC BioGen: up to three articles that support each sentence of an answer.

Each sentence is a query. Its articles are found in a collection of PubMed's, or among those that a
run found for the question, and reranked. Three forms of answers are read, and written with their
citations: those of task A of 2025 (`answer`, a list of sentences; articles that they cite already
are not cited again), of task B (`responses`, likewise), and of 2024 (`answer`, a text).
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.data import Collection, Topic
from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import collection_name
from irplatform.experiment.run import rank_unscored
from irplatform.files.writing import refuse_same_file, write_file
from irplatform.registry.loading import registry
from irplatform.runs import Ranking, Run, read_run, write_run
from irplatform.runs.bioasq import PMID
from irplatform.runs.names import check_tag
from irplatform.system.console import notice
from irplatform.tasks.bioasq import BM25
from irplatform.tasks.check_answers import CITED
from irplatform.tasks.entries import read_answers
from irplatform.text import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.experiment.run_settings import RunSettings

MOST_CITATIONS = 3
"""Citations of a sentence that count."""
_END = re.compile(r"\s*([.!?]+[\"'”’)]*)\s*$")
_FORMS = 'items with "answer" or "responses", lists of {"text": …}, or {"results": […]}'


@dataclass
class _Answer:
    """An answer: its entry, its topic, its sentences, and the articles that each cites already."""

    entry: dict[str, Any]
    topic: str
    texts: list[str]
    cited: list[set[str]]


def cite(
    source: Path,
    out: Path,
    settings: RunSettings,
    *,
    team: str,
    tag: str | None = None,
    candidates: Path | None = None,
    most: int = MOST_CITATIONS,
    force: bool = False,
) -> dict[str, Any]:
    """Add citations to answers, and write them in the form in which they came.

    Args:
        source: the answers, or task A's question-answer pairs.
        out: the file to write.
        settings: of the search: the collection, first stage, reranker and so on.
        team: the team's id.
        tag: the run's id; None is the system's name.
        candidates: a run over the questions, in whose documents a sentence's articles are; None
            searches the collection for each sentence.
        most: citations per sentence, 1 to 3.
        force: replace a file with other content.

    Returns:
        The `path`, and the number of `topics`, `sentences` and `citations`.

    Raises:
        InputError: the answers have no known form, the run lacks a question, `out` has other
            content, or see `irplatform.run`.
    """
    if tag is not None:
        check_tag(tag)
    refuse_same_file(source, out)
    head, answers = _read(source)
    name = collection_name(settings.collection)
    queries = {
        f"{answer.topic}-{number}": Topic(f"{answer.topic}-{number}", text)
        for answer in answers
        for number, text in enumerate(answer.texts, start=1)
    }
    collection = Collection(
        f"{Path(name).stem}-sentences",
        "Sentences of answers",
        registry().collection(name).corpus,
        lambda: [*queries.values()],
    )
    with tempfile.TemporaryDirectory(prefix="irplatform-biogen-") as temporary:
        work = Path(temporary)
        if candidates is not None:
            write_run(_of_sentences(candidates, answers), work / "candidates.run")
            rerankers = settings.rerankers or (BM25,)
            stages = (str(work / "candidates.run"),)
            settings = replace(settings, first_stages=stages, rerankers=rerankers)
        search = replace(settings, collection=collection_name(collection), run_dir=work / "runs")
        system = rank_unscored(search)
        rankings = read_run(system.path).rankings
    run_id = tag or system.name
    citations = 0
    for answer in answers:
        articles = [
            _articles(rankings.get(f"{answer.topic}-{number}"), cited, most)
            for number, cited in enumerate(answer.cited, start=1)
        ]
        citations += sum(map(len, articles))
        _write(answer, articles, team, run_id)
    content = _content(head, answers, team, run_id)
    write_file(out, content, force=force)
    return {
        "path": str(out),
        "topics": len(answers),
        "sentences": len(queries),
        "citations": citations,
    }


def _read(path: Path) -> tuple[Mapping[str, Any] | None, list[_Answer]]:
    """The head of a file (of 2024 only), and its answers."""
    read = read_answers(path)
    head = None if read.key is None else read.head
    answers = [
        _answer(entry.value, f"entry {number}", path)
        for number, entry in enumerate(read.entries, start=1)
    ]
    if not answers or (head is None) != all(_key(a.entry) != "text" for a in answers):
        raise InputError(f"these are no answers of BioGen: {_FORMS}.", path=path)
    return head, answers


def _answer(entry: Any, subject: str, path: Path) -> _Answer:
    if not isinstance(entry, dict) or not (key := _key(entry)):
        raise InputError(f"{subject} is no answer of BioGen: {_FORMS}.", path=path)
    metadata = entry.get("metadata") or entry.get("meta_data") or entry
    topic = metadata.get("qa_id") or metadata.get("topic_id")
    if not isinstance(topic, str | int):
        raise InputError(f"{subject} has no 'qa_id' or 'topic_id'.", path=path)
    if key == "text":
        texts = sentences(CITED.sub("", entry["answer"]))
        return _Answer(entry, str(topic), texts, [set() for _ in texts])
    parts = entry[key]
    if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
        raise InputError(f"{subject} has a sentence without 'text'.", path=path)
    cited = [{*map(str, part.get("existing_supported_citations") or ())} for part in parts]
    return _Answer(entry, str(topic), [part["text"] for part in parts], cited)


def _key(entry: Mapping[str, Any]) -> str:
    """The key of the sentences, "answer" or "responses"; "text" if the answer is one text."""
    for key in ("answer", "responses"):
        if isinstance(entry.get(key), list):
            return key
    return "text" if isinstance(entry.get("answer"), str) else ""


def _of_sentences(path: Path, answers: Sequence[_Answer]) -> Run:
    """The documents of each question, as candidates of its sentences."""
    rankings = read_run(path).rankings
    if missing := [answer.topic for answer in answers if answer.topic not in rankings]:
        raise InputError(
            f"there are no documents for {counted(len(missing), 'question')}: {listing(missing)}.",
            path=path,
        )
    return Run(
        "candidates",
        {
            f"{answer.topic}-{number}": rankings[answer.topic]
            for answer in answers
            for number in range(1, len(answer.texts) + 1)
        },
    )


def _articles(ranking: Ranking | None, cited: set[str], most: int) -> list[str]:
    doc_ids = ranking.doc_ids if ranking is not None else ()
    return [doc_id for doc_id in doc_ids if PMID.fullmatch(doc_id) and doc_id not in cited][:most]


def _write(answer: _Answer, articles: Sequence[Sequence[str]], team: str, run_id: str) -> None:
    """Put the citations into the entry."""
    entry, key = answer.entry, _key(answer.entry)
    if key == "text":
        pairs = zip(answer.texts, articles, strict=True)
        entry["answer"] = " ".join(_with_citations(text, pmids) for text, pmids in pairs)
        entry["references"] = [*dict.fromkeys(pmid for pmids in articles for pmid in pmids)]
        entry["topic_id"] = answer.topic
        return
    metadata = {**(entry.pop("meta_data", None) or {}), **(entry.get("metadata") or {})}
    name = "qa_id" if key == "answer" else "topic_id"
    entry["metadata"] = {**metadata, "team_id": team, "run_id": run_id, name: answer.topic}
    for sentence, pmids in zip(entry[key], articles, strict=True):
        numbers = [int(pmid) for pmid in pmids]
        if key == "answer":
            sentence["supported_citations"] = numbers
            sentence.setdefault("contradicted_citations", [])
        else:
            sentence["citations"] = numbers


def _with_citations(text: str, pmids: Sequence[str]) -> str:
    """A sentence with its citations before the last punctuation mark."""
    if not pmids:
        return text
    end = _END.search(text)
    mark = end[1] if end else "."
    return f"{text[: end.start()] if end else text} [{', '.join(pmids)}]{mark}"


def _content(
    head: Mapping[str, Any] | None, answers: Sequence[_Answer], team: str, run_id: str
) -> bytes:
    if head is None:
        return b"".join(orjson.dumps(answer.entry) + b"\n" for answer in answers)
    if not head.get("contact_email"):
        notice("WARNING: there is no 'contact_email', which BioGen 2024 asks for; write it.")
    submission = {
        "team_id": team,
        "run_name": run_id,
        "contact_email": head.get("contact_email", ""),
        "results": [answer.entry for answer in answers],
    }
    return orjson.dumps(submission, option=orjson.OPT_INDENT_2)
