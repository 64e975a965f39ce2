"""What rerankers learn from before they learn from the training collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.mesh_queries import FIELD as MESH_FIELD
from irplatform.collections.mesh_queries import TooFewHeadingsError, check_headings, mesh_queries
from irplatform.errors import InputError
from irplatform.experiment.choosing import choose_systems
from irplatform.experiment.learning import check_same_documents, find_candidates
from irplatform.retrieval.fusion import Fusion
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.data import Collection
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import TrainingSet
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import ChosenRetriever

MESH = "mesh"
"""The name of pre-training on MeSH-term queries."""
NO_PRETRAINING = "none"
"""Says that rerankers are not pre-trained, those that would be by default included."""
MESH_QUERIES = 10_000
"""How many are drawn where nobody says."""
PLAIN_RETRIEVER = "bm25"
"""What finds candidates for MeSH-term queries."""
_MAKE_SOME = (
    "Queries to pre-train on ask for the same documents; `platform headings --from "
    "COLLECTION` makes some where these have MeSH headings."
)
PRETRAINING_DEPTH = 100
"""Candidates of a topic in pre-training: topics are many, and few candidates are used of each."""


def check_pretraining(
    name: str | None,
    collection: Collection,
    checkpoint: Path | None,
    rerankers: Sequence[ChosenReranker],
    plugins: Registry,
    *,
    queries: int = MESH_QUERIES,
) -> None:
    """Refuse pre-training that would have no effect, or on what there is not.

    Raises:
        InputError: nothing is trained, a reranker cannot be pre-trained with its options, there is
            no such collection, it has other documents or no judgments, the documents have no MeSH
            headings, or a number of queries is set and none are drawn.
    """
    if queries != MESH_QUERIES:
        _refuse_idle_queries(name, checkpoint, rerankers)
    if name is not None and checkpoint is not None:
        raise InputError("--pretrain has no effect with --checkpoint: nothing is trained then.")
    if name in (None, NO_PRETRAINING):
        return
    if not any(choice.trainable for choice in rerankers):
        raise InputError("--pretrain has no effect: no reranker that learns is asked for.")
    for choice in rerankers:
        choice.in_pretraining()
    if name == MESH:
        check_headings(collection.corpus)
        return
    source = plugins.collection(name, also=(MESH, NO_PRETRAINING))
    if source.load_qrels is None:
        raise InputError(f"'{source.id}' has no judgments to pre-train on.")
    _refuse_test_topics(name, source, plugins)
    check_same_documents(source, collection.corpus, _MAKE_SOME)


def _refuse_test_topics(name: str, source: Collection, plugins: Registry) -> None:
    """See that a folder that also has training topics is not taken for its test topics.

    Raises:
        InputError: it is.
    """
    if ":" in name or name in plugins.collections:
        return
    try:
        others = plugins.collection(f"{name}:train")
    except InputError:  # no folder, or without such a split
        return
    if others.id != source.id:
        raise InputError(
            f"--pretrain {name} would learn from the test topics of this folder, which has others "
            f"to learn from: --pretrain {name}:train."
        )


def _refuse_idle_queries(
    name: str | None, checkpoint: Path | None, rerankers: Sequence[ChosenReranker]
) -> None:
    """See that somebody is pre-trained on MeSH-term queries, because the user or it says so."""
    if checkpoint is not None:
        raise InputError(
            "--pretrain-queries has no effect with --checkpoint: nothing is trained then."
        )
    declared = name is None and any(choice.pretrained_on == MESH for choice in rerankers)
    if name != MESH and not declared:
        raise InputError("--pretrain-queries has no effect without --pretrain mesh.")


def declared_pretraining(
    collection: Collection,
    rerankers: Sequence[ChosenReranker],
    learned_before: Callable[[str], TrainingSet | None],
) -> TrainingSet | None:
    """What rerankers learn from first where nobody says: MeSH-term queries, if one declares it.

    Documents without headings, or hardly any with some, make none; then nothing is learned from
    first, which a notice tells.

    Args:
        collection: the collection that is run or trained on.
        rerankers: those that learn.
        learned_before: `pretraining_set`, by its first argument.
    """
    declaring = [choice.name for choice in rerankers if choice.pretrained_on == MESH]
    if not declaring:
        return None
    if MESH_FIELD not in collection.corpus.fields:
        why = f"the documents of '{collection.id}' have no MeSH headings."
    else:
        try:
            return learned_before(MESH)
        except TooFewHeadingsError as error:
            why = error.message
    notice(f"{', '.join(declaring)}: not pre-trained, since {why}")
    return None


def pretraining_set(
    name: str | None,
    collection: Collection,
    plugins: Registry,
    retrievers: Sequence[ChosenRetriever],
    resources: CollectionResources,
    fusion: Fusion,
    *,
    queries: int,
) -> TrainingSet | None:
    """What rerankers learn from before they learn from the training collection.

    Args:
        name: "mesh" for MeSH-term queries of the collection's documents, or a collection over the
            same documents; None or "none" for nothing.
        collection: the collection that is run or trained on.
        plugins: where names of collections are looked up.
        retrievers: the first stage, for the candidates of a collection's topics; those of topics
            that are made of headings are found by plain BM25.
        resources: the harness's resources.
        fusion: how the retrievers are fused.
        queries: how many MeSH-term queries to draw.

    Raises:
        InputError: the documents have no headings, or the collection has others or no judgments.
    """
    if name in (None, NO_PRETRAINING):
        return None
    source = (
        mesh_queries(collection.corpus, queries, resources.seed)
        if name == MESH
        else plugins.collection(name)
    )
    if _of_headings(source):
        # Plain words only: an expanded query may search the very headings that it was made of.
        retrievers, _ = choose_systems(plugins, (PLAIN_RETRIEVER,), (), {})
        fusion = Fusion()
    candidates = find_candidates(
        source, retrievers, PRETRAINING_DEPTH, PRETRAINING_DEPTH, resources
    )
    return candidates.training_set(fusion, resources)


def _of_headings(source: Collection) -> bool:
    """Whether all topics were made of MeSH headings."""
    topics = source.load_topics()
    return bool(topics) and all(topic.fields.get(MESH_FIELD) for topic in topics)
