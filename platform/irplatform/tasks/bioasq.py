"""Submissions to BioASQ: runs with the documents and snippets of each question.

Snippets are the sentences of the first documents that a reranker ranks highest.

The sentences of all questions are a collection of their own, so that any reranker can score them:
one that reads texts, such as a cross-encoder; one that reads an index, such as `bm25-text`, whose
word frequencies are then those of sentences; or one that learned elsewhere, such as a checkpoint of
`deepsense`.

Documents are read from the files of the collection: an index keeps ligatures and invisible
characters in another form, which would move offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from irplatform.collections.derived import counted_documents
from irplatform.data import Collection, Corpus, Document
from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import as_path, collection_name
from irplatform.files.digests import fingerprint
from irplatform.files.writing import refuse_same_file, write_file
from irplatform.queries.ready import reranker
from irplatform.registry.loading import registry
from irplatform.runs import read_run
from irplatform.runs.bioasq import MOST_DOCUMENTS, MOST_SNIPPETS, Question, Snippet, answers
from irplatform.system.console import notice
from irplatform.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnySystem
    from irplatform.plugin.rerankers import Reranker

BM25 = "bm25-text"
"""The reranker that needs no training."""


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
        (question, rankings[question.id].doc_ids if question.id in rankings else ())
        for question in questions
    ]
    content = answers(questions_with_documents)  # refuses ids that are no PMIDs at once
    choices: dict[str, list[Snippet]] = {}
    if snippets is not None:
        ranked = {question.id: doc_ids for question, doc_ids in questions_with_documents}
        choices = choose_snippets(topics, ranked, resolved_collection.corpus, snippets, **options)
        content = answers(questions_with_documents, choices)
    write_file(out, content, force=force)
    if unanswered := [question.id for question, doc_ids in questions_with_documents if not doc_ids]:
        number = counted(len(unanswered), "question")
        notice(f"WARNING: {path} has no documents for {number}: {listing(unanswered)}.")
    return {
        "path": str(out),
        "questions": len(questions_with_documents),
        "documents": sum(len(doc_ids[:MOST_DOCUMENTS]) for _, doc_ids in questions_with_documents),
        "snippets": sum(map(len, choices.values())),
        "unanswered": unanswered,
    }


def choose_snippets(
    topics: Sequence[Topic],
    ranked: Mapping[str, Sequence[str]],
    corpus: Corpus,
    name: AnySystem[Reranker] = BM25,
    **options: Any,
) -> dict[str, list[Snippet]]:
    """Choose the ten best sentences of the first ten documents of each topic.

    Args:
        topics: the questions.
        ranked: topic id to documents of the collection, best first.
        corpus: the collection's documents.
        name: the reranker.
        options: its settings, checkpoint and so on, as for `irplatform.reranker`.

    Returns:
        Topic id to snippets, best first; those with equal scores in the order of the documents.

    Raises:
        InputError: a document is not in the collection, or see `irplatform.reranker`.
    """
    results = {topic.id: list(ranked.get(topic.id, ()))[:MOST_DOCUMENTS] for topic in topics}
    documents = _documents(corpus, {doc_id for doc_ids in results.values() for doc_id in doc_ids})
    snippets = {
        topic: {
            _id(snippet): snippet
            for doc_id in doc_ids
            for snippet in snippets_of(documents[doc_id])
        }
        for topic, doc_ids in results.items()
    }
    texts = {
        name: snippet.text for of_topic in snippets.values() for name, snippet in of_topic.items()
    }
    if not texts:
        return {topic.id: [] for topic in topics}
    collection = Collection(
        "sentences", "Sentences of the first documents", _Sentences(texts), lambda: topics
    )
    ready = reranker(name, collection, **options)
    questions = [topic for topic in topics if snippets[topic.id]]
    scores = ready.scores(questions, {t.id: [*snippets[t.id]] for t in questions}, cached=False)
    return {
        topic.id: [
            snippet
            for _, snippet in sorted(
                zip(scores.get(topic.id, ()), snippets[topic.id].values(), strict=True),
                key=lambda scored: -scored[0],
            )
        ][:MOST_SNIPPETS]
        for topic in topics
    }


def _documents(corpus: Corpus, doc_ids: set[str]) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for document in counted_documents(corpus, "looking for the documents of snippets"):
        if document.id in doc_ids:
            documents[document.id] = document
            if len(documents) == len(doc_ids):
                return documents
    if missing := sorted(doc_ids - documents.keys()):
        raise InputError(
            f"'{corpus.name}' does not have {counted(len(missing), 'document')} of the run: "
            f"{listing(missing)}."
        )
    return documents


def snippets_of(document: Document) -> list[Snippet]:
    """Return the title and the sentences of the abstract, with their places.

    Examples:
        >>> for snippet in snippets_of(Document("7", "Aspirin.", "It helps. We saw it.")):
        ...     print(snippet.section, snippet.begin, snippet.end, snippet.text)
        title 0 8 Aspirin.
        abstract 0 9 It helps.
        abstract 10 20 We saw it.
    """
    snippets = []
    for section, text in (("title", document.title), ("abstract", document.abstract)):
        end = 0
        for sentence in sentences(text):
            begin = text.index(sentence, end)
            end = begin + len(sentence)
            snippets.append(Snippet(document.id, section, begin, end, sentence))
    return snippets


def _id(snippet: Snippet) -> str:
    return f"{snippet.document}-{snippet.section}-{snippet.begin}-{snippet.end}"


@dataclass(frozen=True)
class _Sentences(Corpus):
    """Sentences as documents."""

    texts: Mapping[str, str]
    name: str = "sentences"
    fields: tuple[str, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint({"sentences": dict(self.texts)})

    def __iter__(self) -> Iterator[Document]:
        return (Document(name, abstract=text) for name, text in self.texts.items())

    def count(self) -> int:
        return len(self.texts)


def _question(topic: Topic, collection: str) -> Question:
    body, kind = topic.fields.get("body"), topic.fields.get("type", "")
    if not isinstance(body, str) or not isinstance(kind, str):
        raise InputError(
            f"the topics of '{collection}' are not questions of BioASQ: its collection.toml has to "
            'read them with format = "bioasq".'
        )
    return Question(topic.id, body, kind, {})
