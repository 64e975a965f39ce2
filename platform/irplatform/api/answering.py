"""A run as the answers that BioASQ takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.api import arguments
from irplatform.bioasq import MOST_DOCUMENTS, Question, answers
from irplatform.collections.toml import declared_files
from irplatform.console import notice
from irplatform.errors import InputError, counted, listing
from irplatform.registry import registry
from irplatform.runs import read_run
from irplatform.storage import atomic_write, same_file

if TYPE_CHECKING:
    from irplatform.api.arguments import AnyPath
    from irplatform.plugin import Topic


def write_bioasq_answers(
    path: AnyPath, collection: AnyPath, out: AnyPath, *, force: bool = False
) -> dict[str, Any]:
    """Write a run as BioASQ takes it in phase A of task b: JSON with at most ten documents each.

    Args:
        path: a TREC run whose documents are PMIDs.
        collection: whose topics it answers, questions of BioASQ.
        out: the file to write.
        force: replace what is there, though it is something else.

    Returns:
        `path`, the number of `questions`, of `documents`, and the ids in `unanswered`.

    Raises:
        InputError: the run cannot be read or answers topics that the collection does not have, the
            topics are no questions of BioASQ, a document is no PMID, or `out` is the run itself, a
            file of the collection or of something else, or ends in `.gz`.
    """
    path, out = arguments.path(path, "path"), arguments.path(out, "out")
    collection = str(collection)
    if same_file(path, out):
        raise InputError(f"--out {out} is the run itself; name another file.")
    if out.suffix == ".gz":
        raise InputError("answers are not packed; name a file without '.gz'.", path=out)
    resolved_collection = registry().collection(collection)
    declaration = resolved_collection.metadata.get("declared in")
    if declaration and any(same_file(file, out) for file in declared_files(Path(declaration))):
        raise InputError(f"--out {out} is a file of '{collection}'; name another file.")
    questions = [_question(topic, collection) for topic in resolved_collection.load_topics()]
    rankings = read_run(path).rankings
    question_ids = {question.id for question in questions}
    if strange := [topic for topic in rankings if topic not in question_ids]:
        raise InputError(
            f"topics that '{collection}' does not have: {listing(strange)}.", path=path
        )
    questions_with_documents = [
        (question, rankings[question.id].doc_ids if question.id in rankings else ())
        for question in questions
    ]
    content = answers(questions_with_documents)
    if not force and out.is_file() and out.read_bytes() != content:
        raise InputError(
            "this file is there already, with other content. Name another --out, or replace it "
            "with --force.",
            path=out,
        )
    with atomic_write(out, "wb") as file:
        file.write(content)
    unanswered = [question.id for question, doc_ids in questions_with_documents if not doc_ids]
    if unanswered:
        number = counted(len(unanswered), "question")
        notice(f"WARNING: {path} has no documents for {number}: {listing(unanswered)}.")
    return {
        "path": str(out),
        "questions": len(questions_with_documents),
        "documents": sum(len(doc_ids[:MOST_DOCUMENTS]) for _, doc_ids in questions_with_documents),
        "unanswered": unanswered,
    }


def _question(topic: Topic, collection: str) -> Question:
    body, kind = topic.fields.get("body"), topic.fields.get("type", "")
    if not isinstance(body, str) or not isinstance(kind, str):
        raise InputError(
            f"the topics of '{collection}' are no questions of BioASQ: its collection.toml has to "
            'read them with format = "bioasq".'
        )
    return Question(topic.id, body, kind, {})
