"""Timing rerankers on a collection: candidates, devices, and a measurement of each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from irplatform import pipeline
from irplatform.choices import choose_systems, with_expansion_of
from irplatform.console import progress
from irplatform.devices import choose_device, settings_kept, within_cores
from irplatform.parallel import available_cores
from irplatform.registry import registry
from irplatform.resources import CollectionResources
from irplatform.timing.measure import Timing, pools, time_reranker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RETRIEVERS = ("bm25",)


@dataclass(frozen=True)
class BenchSettings:
    """What the timing of rerankers can be told.

    Attributes:
        collection: a name, a path or an ir_datasets id.
        rerankers: names; none takes all.
        documents: of a topic.
        topics: how many.
        rounds: measurements of each topic.
        devices: "cpu", "cuda" or "mps"; none takes the CPU, and a GPU where there is one.
        model_threads: of torch on the CPU.
        settings: options of rerankers, see `choose_systems`.
        preset: see `choose_systems`.
    """

    collection: str
    rerankers: Sequence[str] = ()
    documents: int = 500
    topics: int = 10
    rounds: int = 3
    devices: Sequence[str] = ()
    model_threads: int = 1
    settings: Mapping[str, object] = field(default_factory=dict)
    preset: str | None = None


@settings_kept()
def time_rerankers(settings: BenchSettings) -> list[Timing]:
    """Measure how long rerankers take for the documents of a topic.

    Returns:
        A timing of each reranker on each device; of one that cannot be timed, the reason.

    Raises:
        InputError: a wrong name, option or device, or too few documents.
    """
    plugins = registry()
    names = settings.rerankers or sorted(plugins.rerankers)
    collection = plugins.collection(settings.collection)
    options = with_expansion_of(collection, plugins, _RETRIEVERS, settings.settings)
    retrievers, choices = choose_systems(plugins, _RETRIEVERS, names, options, settings.preset)
    pipeline.refuse_silent_downloads(collection, settings.collection)
    threads = within_cores("--model-threads", settings.model_threads)
    devices = _devices(settings, threads)
    resources = CollectionResources(
        collection.corpus,
        devices[0],
        seed=42,
        threads=available_cores(),
        model_threads=threads,
    )
    depth = settings.documents
    candidates = pipeline.search(collection, retrievers, depth, depth, resources)
    topic_pools = pools(candidates, settings.topics, depth)
    judgments = collection.load_qrels() if collection.load_qrels else {}
    timings = []
    with progress("timing rerankers", len(choices) * len(devices)) as advance:
        for choice in choices:
            for device in devices:
                on_device = replace(resources, device=device)
                timings.append(
                    time_reranker(choice, topic_pools, settings.rounds, on_device, judgments)
                )
                advance(1)
    return timings


def _devices(settings: BenchSettings, threads: int) -> list[str]:
    """The devices that were named, else the CPU and a GPU where there is one."""
    names = settings.devices or ("cpu", "auto")
    return list(dict.fromkeys(choose_device(name, threads) for name in names))
