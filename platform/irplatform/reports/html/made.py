"""How a run was made, from its metadata, in names and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.errors import PlatformError
from irplatform.registry.loading import registry
from irplatform.run_folder.metadata_files import lines_digest, metadata_path, read_metadata
from irplatform.run_folder.mixture import mixture_of
from irplatform.settings import flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.run_folder.metadata_model import Method, RunMetadata

_DIGITS = 12
"""Digits of fingerprints; digests of files are whole."""


@dataclass(frozen=True)
class RunOrigin:
    """How a run was made, for readers.

    Attributes:
        system: its name in the comparison.
        command: the command or call.
        facts: names and texts: dates, versions, digests….
        seconds: stage to seconds; empty if unknown.
    """

    system: str
    command: str = ""
    facts: Sequence[tuple[str, str]] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def made_of(system: str, path: Path) -> RunOrigin:
    """Return how a run file was made; without metadata of ours, its digest alone.

    Args:
        system: the run's name in the comparison.
        path: the run file.
    """
    metadata = read_metadata(path)
    digest = lines_digest(path)
    about = [("file", path.name)]
    try:
        return RunOrigin(
            system,
            metadata.implementation.executable["cmd"],
            [*about, *_facts(metadata, digest)],
            metadata.timings,
        )
    except (AttributeError, KeyError, TypeError, ValueError):  # none, or somebody else's
        missing = f"{metadata_path(path).name} is not beside it, nor of this program"
        return RunOrigin(
            system, facts=[*about, ("SHA-256 of the run", digest), ("metadata", missing)]
        )


def _facts(metadata: RunMetadata, digest: str) -> Iterator[tuple[str, str]]:
    recorded = metadata.run.sha256
    state = {None: "not recorded in its metadata", digest: "as its metadata say"}
    yield "SHA-256 of the run", f"{digest} ({state.get(recorded, 'NOT as its metadata say')})"
    if metadata.date:
        yield "made", str(metadata.date)
    if folder := metadata.implementation.executable.get("working directory"):
        yield "in", folder
    source = metadata.implementation.source
    commit = f", commit {source['commit']}" if source.get("commit") else ""
    yield "irplatform", f"{source.get('version', '?')}{commit}"
    yield from _mixture(metadata.method)
    yield from _training(metadata.method.content())
    for step in (step.content() for step in metadata.method.retrieval):
        for kind in ("retriever", "reranker"):
            if kind in step:
                remark = f"; {step['remark']}" if step.get("remark") else ""
                package = f"{step.get('distribution', '?')} {step.get('version', '')}"
                changed = changed_options(kind, step)
                options = f"; {', '.join(changed)}" if changed else ""
                yield kind, f"{step[kind]} of {package}{remark}{options}"
    if metadata.method.seed is not None:
        yield "seed", str(metadata.method.seed)
    for part, marks in metadata.data.content().items():
        if isinstance(marks, dict):
            entries = {k: v if k == "name" else str(v)[:_DIGITS] for k, v in marks.items() if v}
            yield part, ", ".join(f"{k} {v}" for k, v in entries.items())
    for file in metadata.data.inputs:
        yield str(file["role"]), f"{file['path']} (SHA-256 {file['sha256']})"
    yield from _platform(metadata.platform.content())


def _mixture(method: Method) -> Iterator[tuple[str, str]]:
    """The first stage's share, and the weights of fused retrievers."""
    mixture = mixture_of(method)
    if mixture.share is not None:
        text = f"{mixture.share_text} of {mixture.first_stage}, {1 - mixture.share:.2f} of its own"
        folds = f": {', '.join(f'{w:.2f}' for w in mixture.shares)}" if mixture.shares else ""
        mean = f" (the mean over {mixture.folds} folds{folds})" if mixture.folds else ""
        none = f"; it was given no weight: this is {mixture.first_stage}'s ranking"
        yield "first stage's share W", f"{text}{mean}{none * mixture.has_no_weight}"
    if mixture.fused:
        yield "fused", mixture.fusion


def _training(method: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How much a reranker ranked, and what it learned from."""
    depth = method.get("candidates", {}).get("rerank_depth")
    if "interpolation" in method and depth:
        yield "rerank depth", f"{depth:,}"
    for trained in [fold for fold in method.get("training", ()) if fold][:1]:
        folds = len(method["training"])
        if "members" in trained:
            yield "members", f"{trained['members']}" + f" in each of {folds} folds" * (folds > 1)
        if "topics" in trained:
            topics = f"{trained['topics']} of {trained.get('trained_on', 'another collection')}"
            yield "training topics", topics + " (the first fold)" * (folds > 1)


def changed_options(kind: str, step: Mapping[str, Any]) -> list[str]:
    """Return the options of a step that are not the defaults, such as "k1 = 1.2".

    Args:
        kind: "retriever" or "reranker".
        step: the step, as metadata have it.
    """
    plugins = registry()
    called = plugins.retriever if kind == "retriever" else plugins.reranker
    try:
        defaults = flat(called(str(step[kind])).options({}).model_dump(mode="json"))
    except (PlatformError, ValueError):  # not installed here, or an option has no default
        return []
    options = flat(step.get("options", {}))
    return [f"{name} = {value}" for name, value in options.items() if defaults.get(name) != value]


def _platform(platform: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    software = platform.get("software", {})
    versions = software.get("libraries", {}).get("python", {})
    others = {name: software[name] for name in ("python", "java", "lucene") if name in software}
    yield "software", ", ".join(f"{n} {v}" for n, v in {**others, **versions}.items())
    hardware = platform.get("hardware", {})
    cpu = hardware.get("cpu", {})
    cores = f"{cpu['usable cores']} cores" if "usable cores" in cpu else ""
    gpu = hardware.get("gpu", {}).get("model")
    yield (
        "machine",
        ", ".join(str(e) for e in (cpu.get("model"), cores, hardware.get("ram"), gpu) if e),
    )
