"""The run files that a command will write, and the settings that decide what is in each.

They are recorded with each run, so that a later command can tell whether it would replace one that
was made in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.options import flat
from irplatform.reranking.folds import seeds_of
from irplatform.retrieval.candidates import JUDGED
from irplatform.retrieval.first_stage import made_with
from irplatform.retrieval.run_as_first_stage import FromRun
from irplatform.runs.replacing import code_and_content
from irplatform.runs.run import FUSED, alone_name
from irplatform.system.digests import digest, fingerprint
from irplatform.system.reading import readable_again
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.experiment.plan import RunPlan
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import ChosenRetriever

_DIGITS = 12
"""Of the hash of a file."""


def planned_runs(
    resolved: RunPlan, data: Mapping[str, Any], taken: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """The settings of each run of a command, by its name; as JSON.

    Args:
        resolved: what is run.
        data: what is searched: its name, and fingerprints of its parts.
        taken: names that a run file that is the first stage must not have, beside the rerankers'.
    """
    settings, source = resolved.settings, resolved.source
    judged = settings.candidates == JUDGED
    common: dict[str, Any] = {
        "collection": data["name"],
        "documents": data["documents"],
        "topics": data["topics"],
        "judgments": data["qrels"] if judged or resolved.folds else None,
        "tag": settings.tag,
        "depth": None if judged else settings.depth,
        "candidates": file_mark(source.path)
        if isinstance(source, FromRun)
        else settings.candidates,
    }
    vectors = {
        "vectors": file_mark(settings.vectors) if settings.vectors else None,
        "vectors-text": [file_mark(path) for path in settings.vectors_text],
    }
    retrieval = {c.name: _of_retriever(c, resolved, vectors) for c in resolved.retrievers}
    described = {choice.name: choice.describe() for choice in resolved.retrievers}
    together: dict[str, Any] = {k: v for each in retrieval.values() for k, v in each.items()}
    fused_by = {"fusion": settings.fusion, "train-on": _learned_on(resolved, resolved.fuses)}
    if isinstance(source, FromRun):
        runs = {source.name([*settings.rerankers, *taken]): common}
    else:
        runs = {
            name: {**common, **of_run, **code_and_content({name: described[name]})}
            for name, of_run in retrieval.items()
        }
        if len(retrieval) > 1:
            made_by = code_and_content(described)
            runs[FUSED] = {
                **common,
                **together,
                "retrievers": list(retrieval),
                **fused_by,
                **made_by,
            }
    together |= {"retrievers": list(retrieval), **(fused_by if len(retrieval) > 1 else {})}
    for choice in resolved.rerankers:
        made_by = code_and_content({**described, choice.name: choice.describe()})
        of_run = {**common, **together, **vectors, **_of_reranker(choice, resolved), **made_by}
        seeds = seeds_of(settings.seed, settings.seeds if choice.trainable else 1)
        for seed in seeds:
            name = f"{choice.name}-seed{seed}" if len(seeds) > 1 else choice.name
            runs[name] = runs[alone_name(name)] = {**of_run, "seed": seed}
    return runs


def _of_retriever(
    choice: ChosenRetriever, resolved: RunPlan, vectors: Mapping[str, Any]
) -> dict[str, Any]:
    registration = choice.registration
    reads_vectors = registration.system.on_device or "vectors" in registration.option_names()
    return {
        **flat({choice.name: choice.options.model_dump(mode="json")}),
        **made_with(choice, resolved.resources),
        **(vectors if reads_vectors else {}),
    }


def _of_reranker(choice: ChosenReranker, resolved: RunPlan) -> dict[str, Any]:
    settings, resources = resolved.settings, resolved.resources
    learned: dict[str, Any] = {}
    if choice.trainable and settings.checkpoint is not None:
        description = Checkpoint.read(settings.checkpoint).description
        mark = fingerprint(description)[:_DIGITS]
        learned = {"checkpoint": f"{settings.checkpoint.name} ({mark})"}
    elif choice.trainable:
        learned = {
            "checkpoint": None,
            "members": settings.members,
            "pretrain": settings.pretrain,
            "pretrain-queries": settings.pretrain_queries,
        }
    return {
        **flat({choice.name: choice.options.model_dump(mode="json")}),
        "rerank-depth": settings.rerank_depth,
        "interpolate": "auto" if settings.interpolate is None else settings.interpolate,
        "train-on": _learned_on(resolved, choice in resolved.learning),
        "device": resources.device,
        "model-threads": resources.model_threads,
        **learned,
    }


def _learned_on(resolved: RunPlan, learns: bool) -> str | None:
    if learns and resolved.training is not None:
        return resolved.training.id
    return "its own topics" if learns and resolved.folds else None


def file_mark(path: Path) -> str:
    """A file's name with the beginning of its hash."""
    return f"{path.name} ({digest(readable_again(path))[:_DIGITS]})"
