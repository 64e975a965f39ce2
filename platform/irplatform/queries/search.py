"""Searching a collection: its index, and what a retriever finds for a topic or a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.data import Topic
from irplatform.errors import InputError, unknown
from irplatform.experiment.arguments import as_names, as_path, as_retriever, collection_name
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import refuse_large_downloads, resolve_systems
from irplatform.registry.loading import registry
from irplatform.retrieval.retrievers import checked_run
from irplatform.settings import check_least
from irplatform.spelling import option
from irplatform.system.arithmetic import settings_kept
from irplatform.system.console import waiting
from irplatform.workers.distribution import use_workers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnySystem, Names
    from irplatform.plugin.retrievers import Retriever
    from irplatform.workers.distribution import Count


@settings_kept()
def search(
    collection: AnyCollection,
    query: str | None = None,
    *,
    retriever: AnySystem[Retriever] = "bm25",
    topic: str | None = None,
    depth: int = 10,
    settings: Mapping[str, object] | None = None,
    expand: Names = (),
    query_plan: AnyPath | None = None,
    ignore_identical_ids: bool = False,
    explain: bool = False,
) -> dict[str, Any]:
    """Search a collection for some words, or for one of its topics.

    Args:
        collection: a name, a path, an ir_datasets id or a `Collection`.
        query: some words, or None for a topic.
        retriever: a name, a class or an object.
        topic: the id of a topic of the collection, or None for words.
        depth: hits at most, 1 or more.
        settings: options of the retriever.
        expand: knowledge bases to expand the query with.
        query_plan: a TOML file that says how expanded queries are made and weighed.
        ignore_identical_ids: leave the document with the topic's own id out.
        explain: add the query that the retriever made.

    Returns:
        `topic`, `query` and `hits`: rank, score, id, title, abstract (or other text) and grade
            (None: not judged); with `explain`, the `explanation` of the retriever.

    Raises:
        InputError: a wrong name, an empty query, or neither or both of `query` and `topic`.

    Examples:
        >>> import irplatform as ir
        >>> found = ir.search("demo", "melanoma BRAF", depth=3)
        >>> [hit["rank"] for hit in found["hits"]]
        [1, 2, 3]
    """
    if (query is None) == (topic is None):
        raise InputError(f"give either {option('query')} or {option('topic')}.")
    if query is not None and not query.strip():
        raise InputError(f"the query is empty: give {option('query')} some words.")
    check_least("depth", depth, 1)
    plugins = registry()
    run_settings = RunSettings(
        collection_name(collection),
        first_stages=as_retriever(retriever),
        settings=settings or {},
        expand=as_names(expand, "expand"),
        query_plan=None if query_plan is None else as_path(query_plan, "query_plan"),
        ignore_identical_ids=ignore_identical_ids,
    )
    collection = run_settings.collection
    with waiting(f"reading {collection}"):
        systems = resolve_systems(run_settings, plugins, documents_only=topic is None).expanded()
    resolved_collection, (choice,) = systems.collection, systems.retrievers
    refuse_large_downloads(resolved_collection, collection)
    searched_topic = Topic("query", query or "")
    grades: Mapping[str, float] = {}
    if topic is not None:
        topics = {t.id: t for t in resolved_collection.topics}
        if topic not in topics:
            raise unknown("topic", topic, topics, of=f"'{resolved_collection.id}'")
        searched_topic = topics[topic]
        choice.check_topics(list(topics.values()))
        if resolved_collection.load_qrels:
            grades = resolved_collection.qrels.get(topic, {})
    resources = resources_for(run_settings, resolved_collection, systems.retrievers)
    choice.describe_run([searched_topic], resources)
    searcher = choice.make()
    run = checked_run(choice, [searched_topic], depth, resources, retriever=searcher)
    ranking = run.rankings[searched_topic.id]
    documents = resources.documents(ranking.doc_ids)
    hits = [
        {
            "rank": rank,
            "score": score,
            "id": document.id,
            "title": document.title,
            "abstract": document.abstract,
            "grade": grades.get(document.id),
        }
        for rank, ((_, score), document) in enumerate(zip(ranking, documents, strict=True), start=1)
    ]
    query = searched_topic.query
    result: dict[str, Any] = {"topic": searched_topic.id, "query": query, "hits": hits}
    if explain:
        result["explanation"] = choice.explain(searched_topic, resources, searcher)
    return result


@settings_kept()
def index(
    collection: AnyCollection,
    *,
    threads: int | None = None,
    workers: Count = None,
    retriever: AnySystem[Retriever] | None = None,
    settings: Mapping[str, object] | None = None,
    export: AnyPath | None = None,
) -> dict[str, Any]:
    """Build a collection's index, if it is missing: Lucene's, or that of a retriever.

    Args:
        collection: a name, a path, an ir_datasets id or a `Collection`.
        threads: index at once.
        workers: processes that read PubMed's files, or those of a Ray cluster ("ray").
        retriever: one with an index of its own that is exported, such as `sparse-encoder`.
        settings: options of the retriever.
        export: the file to write it to; its name's end says in which format.

    Returns:
        Of Lucene's: path, fingerprint, if it was built now, the seconds that took, and statistics.
        Of a retriever's: what was written.

    Raises:
        InputError: a wrong name, documents that cannot be read, or a retriever that has no index
            of its own.

    Examples:
        >>> import irplatform as ir
        >>> ir.index("demo")["documents"] > 1000
        True
    """
    if (retriever is None) != (export is None):
        raise InputError(f"{option('retriever')} and {option('export')} go together.")
    if settings and retriever is None:
        raise InputError(f"{option('settings')} has no effect without {option('retriever')}.")
    collection = collection_name(collection)
    if retriever is not None and export is not None:
        run_settings = RunSettings(
            collection,
            first_stages=as_retriever(retriever),
            settings=settings or {},
            threads=threads,
        )
        systems = resolve_systems(run_settings, registry(), documents_only=True)
        refuse_large_downloads(systems.collection, collection)
        resources = resources_for(run_settings, systems.collection, systems.retrievers)
        path = as_path(export, "export")
        return {"path": str(path), **systems.retrievers[0].export(path, resources)}
    resolved_collection = registry().documents_of(collection)
    refuse_large_downloads(resolved_collection, collection)
    resources = resources_for(RunSettings(collection, threads=threads), resolved_collection)
    with use_workers(workers):
        artifact = resources.index_artifact()
    return {
        "path": str(artifact.path),
        "fingerprint": artifact.fingerprint,
        "built now": artifact.built,
        "seconds": round(artifact.seconds, 1),
        **resources.index().stats(),
    }
