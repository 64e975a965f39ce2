"""The resources of a run's systems, by its settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.collection_resources import CollectionResources
from irplatform.system.arithmetic import choose_device
from irplatform.text.vector_source import VectorSource
from irplatform.workers.distribution import available_cores, cluster, within_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.data import Collection
    from irplatform.experiment.settings import RunSettings
    from irplatform.retrieval.first_stage import ChosenRetriever


def resources_for(
    settings: RunSettings, collection: Collection, retrievers: Sequence[ChosenRetriever] = ()
) -> CollectionResources:
    """Return the resources of a run's systems, ready to compute.

    Raises:
        InputError: there is no such device, or a file holds neither word vectors nor text.
    """
    return on_device(undecided_resources(settings, collection), settings, retrievers)


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


def on_device(
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
    wanted, threads = settings.device, resources.model_threads
    if (machines := cluster()) is None or wanted not in ("auto", "cuda"):
        device = choose_device(wanted, threads)
    else:
        choose_device("auto", threads)  # for what is computed on this machine
        device = "cuda" if machines.gpus or wanted == "cuda" else "cpu"
    return replace(resources, device=device)
