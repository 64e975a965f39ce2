"""The resources of a run's systems, by its settings, and the check of its documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.collection_resources import CollectionResources
from irplatform.collections.inspection import refuse_broken, warning_of_abstracts
from irplatform.files.cache import artifact
from irplatform.files.digests import fingerprint
from irplatform.system.arithmetic import choose_device
from irplatform.system.console import notice, section
from irplatform.text.vector_source import VectorSource
from irplatform.workers.distribution import available_cores, cluster, within_cores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.data import Collection, Qrels
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.retrieval.retrievers import ChosenRetriever

SEARCHING = 1 / 3
"""Share of the progress bar of each chapter before reranking."""


def resources_for(
    settings: RunSettings, collection: Collection, retrievers: Sequence[ChosenRetriever] = ()
) -> CollectionResources:
    """Return the resources of a run's systems, ready to compute.

    Raises:
        InputError: there is no such device, or a file holds neither word vectors nor text.
    """
    return with_device(undecided_resources(settings, collection), settings, retrievers)


def undecided_resources(settings: RunSettings, collection: Collection) -> CollectionResources:
    """Return the resources of a run's systems; their device may still be "auto".

    Raises:
        InputError: a file holds neither word vectors nor text.
    """
    source = VectorSource(settings.vectors, tuple(settings.vectors_text))
    source.check()
    return CollectionResources(
        corpus=collection.corpus,
        device=settings.device,
        seed=settings.seed,
        threads=within_cores("threads", settings.threads or available_cores()),
        source=source,
        resume=settings.resume,
        model_threads=within_cores("model_threads", settings.model_threads),
    )


def with_device(
    resources: CollectionResources, settings: RunSettings, retrievers: Sequence[ChosenRetriever]
) -> CollectionResources:
    """Return resources with a device: rerankers, and some retrievers, compute there.

    On a cluster with GPUs this is a GPU, also if this machine has none.

    Raises:
        InputError: there is no such device.
    """
    computing = settings.rerankers or any(choice.traits.on_device for choice in retrievers)
    if not computing:
        return replace(resources, device="cpu")
    device_name, threads = settings.device, resources.model_threads
    if (machines := cluster()) is None or device_name not in ("auto", "cuda"):
        device = choose_device(device_name, threads)
    else:
        choose_device("auto", threads)  # for what is computed on this machine
        device = "cuda" if machines.gpus or device_name == "cuda" else "cpu"
    return replace(resources, device=device)


def refuse_broken_corpus(
    collection: Collection, qrels: Qrels | None, resources: CollectionResources
) -> str:
    """Index the corpus, and check it once; return a warning for the user, or "".

    Raises:
        InputError: many documents are empty, or many relevant ones are missing.
    """
    judged = {topic: dict(grades) for topic, grades in (qrels or {}).items()}
    index_fingerprint = resources.index_artifact().fingerprint

    def look(folder: Path) -> None:
        index = resources.index()
        stats = index.stats()
        empty = stats["documents"] - stats["non_empty_documents"]
        refuse_broken(
            collection,
            qrels,
            contains=index.contains,
            documents=stats["documents"],
            empty=empty,
        )
        titles, abstracts = index.titles_and_abstracts()
        warning = warning_of_abstracts(
            collection,
            documents=stats["documents"],
            titles=titles,
            abstracts=abstracts,
            empty=empty,
        )
        (folder / "warning.txt").write_text(warning, encoding="utf-8")

    depends_on = {
        "format": 2,
        "collection": collection.id,  # which the warning names
        "index": index_fingerprint,
        "qrels": fingerprint(judged),
    }
    with section(SEARCHING), resources.stopwatch.timed("index"):
        check = artifact("check", collection.id, depends_on, look)
    if warning := (check.path / "warning.txt").read_text(encoding="utf-8"):
        notice(warning)
    return warning
