"""Runs written as BioASQ takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import as_path, collection_name
from irplatform.registry.loading import registry
from irplatform.runs import read_run
from irplatform.runs.bioasq import MOST_DOCUMENTS, Question, answers
from irplatform.system.console import notice
from irplatform.system.writing import refuse_same_file, write_file

if TYPE_CHECKING:
    from irplatform.data import Topic
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnySystem
    from irplatform.plugin.rerankers import Reranker
    from irplatform.runs.bioasq import Snippet


def write_bioasq_answers(
    path: AnyPath,
    collection: AnyCollection,
    out: AnyPath,
    *,
    snippets: AnySystem[Reranker] | None = None,
    force: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Write a run as BioASQ takes it in phase A of task b: JSON with at most ten documents each.

    Args:
        path: the run; its documents are PMIDs.
        collection: its topics are questions of BioASQ.
        out: the file to write.
        snippets: a reranker that chooses sentences of these documents, at most ten a question;
            None writes no snippets.
        force: replace a file with other content.
        options: of that reranker, as for `irplatform.reranker`.

    Returns:
        `path`, the number of `questions`, of `documents`, of `snippets`, and the ids in
        `unanswered`.

    Raises:
        InputError: the run cannot be read or answers unknown topics, the topics are not
            questions of BioASQ, a document is not a PMID, or `out` is the run or has other
            content.

    Examples:
        >>> import irplatform as ir
        >>> asked = ir.Topic("q1", "BRAF", {"body": "What is BRAF?", "type": "factoid"})
        >>> corpus = ir.collection("demo").corpus
        >>> questions = ir.Collection("questions", "Some", corpus, lambda: [asked])
        >>> ir.write_run(ir.Run("mine", {"q1": ir.Ranking.of(["29126288"], [1.0])}), "my.run")
        >>> told = ir.write_bioasq_answers("my.run", questions, "answers.json")
        >>> told["questions"], told["documents"]
        (1, 1)
    """
    path, out = as_path(path, "path"), as_path(out, "out")
    collection = collection_name(collection)
    refuse_same_file(path, out)
    resolved_collection = registry().collection(collection)
    topics = resolved_collection.load_topics()
    questions = [_question(topic, collection) for topic in topics]
    rankings = read_run(path).rankings
    question_ids = {question.id for question in questions}
    if unknown := [topic for topic in rankings if topic not in question_ids]:
        raise InputError(
            f"topics that '{collection}' does not have: {listing(unknown)}.", path=path
        )
    questions_with_documents = [
        (each, rankings[each.id].doc_ids if each.id in rankings else ()) for each in questions
    ]
    content = answers(questions_with_documents)  # refuses ids that are no PMIDs at once
    chosen: dict[str, list[Snippet]] = {}
    if snippets is not None:
        from irplatform.experiment.snippets import choose_snippets

        ranked = {each.id: doc_ids for each, doc_ids in questions_with_documents}
        chosen = choose_snippets(topics, ranked, resolved_collection.corpus, snippets, **options)
        content = answers(questions_with_documents, chosen)
    write_file(out, content, force=force)
    if unanswered := [each.id for each, doc_ids in questions_with_documents if not doc_ids]:
        number = counted(len(unanswered), "question")
        notice(f"WARNING: {path} has no documents for {number}: {listing(unanswered)}.")
    return {
        "path": str(out),
        "questions": len(questions_with_documents),
        "documents": sum(len(doc_ids[:MOST_DOCUMENTS]) for _, doc_ids in questions_with_documents),
        "snippets": sum(map(len, chosen.values())),
        "unanswered": unanswered,
    }


def _question(topic: Topic, collection: str) -> Question:
    body, kind = topic.fields.get("body"), topic.fields.get("type", "")
    if not isinstance(body, str) or not isinstance(kind, str):
        raise InputError(
            f"the topics of '{collection}' are not questions of BioASQ: its collection.toml has to "
            'read them with format = "bioasq".'
        )
    return Question(topic.id, body, kind, {})
