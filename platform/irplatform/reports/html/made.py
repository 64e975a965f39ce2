"""How a run was made, from its metadata, in names and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.runs.metadata import RUN, lines_digest, metadata_path, read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_DIGITS = 12
"""Digits of fingerprints; digests of files are whole."""


@dataclass(frozen=True)
class Made:
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


def made_of(system: str, path: Path) -> Made:
    """Return how a run file was made; without metadata of ours, its digest alone.

    Args:
        system: the run's name in the comparison.
        path: the run file.
    """
    metadata = read_metadata(path)
    digest = lines_digest(path)
    about = [("file", path.name)]
    try:
        return Made(
            system,
            metadata["implementation"]["executable"]["cmd"],
            [*about, *_facts(metadata, digest)],
            {stage: float(seconds) for stage, seconds in metadata.get("timings", {}).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError):  # none, or somebody else's
        missing = f"{metadata_path(path).name} is not beside it, nor of this program"
        return Made(system, facts=[*about, ("SHA-256 of the run", digest), ("metadata", missing)])


def _facts(metadata: Mapping[str, Any], digest: str) -> Iterator[tuple[str, str]]:
    recorded = metadata.get(RUN, {}).get("sha256")
    state = {None: "not recorded in its metadata", digest: "as its metadata say"}
    yield "SHA-256 of the run", f"{digest} ({state.get(recorded, 'NOT as its metadata say')})"
    if date := metadata.get("date"):
        yield "made", str(date)
    implementation = metadata["implementation"]
    if folder := implementation["executable"].get("working directory"):
        yield "in", str(folder)
    source = implementation.get("source", {})
    commit = f", commit {source['commit']}" if source.get("commit") else ""
    yield "irplatform", f"{source.get('version', '?')}{commit}"
    method = metadata.get("method", {})
    for step in method.get("retrieval", ()):
        for kind in ("retriever", "reranker"):
            if kind in step:
                remark = f"; {step['remark']}" if step.get("remark") else ""
                package = f"{step.get('distribution', '?')} {step.get('version', '')}"
                yield kind, f"{step[kind]} of {package}{remark}"
    if (seed := method.get("seed")) is not None:
        yield "seed", str(seed)
    data = metadata.get("data", {})
    for part, marks in data.items():
        if isinstance(marks, dict):
            yield part, ", ".join(f"{k} {str(v)[:_DIGITS]}" for k, v in marks.items() if v)
    for used in data.get("inputs", ()):
        yield str(used["role"]), f"{used['path']} (SHA-256 {used['sha256']})"
    yield from _platform(metadata.get("platform", {}))


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
