"""Descriptions of runs for working notes, in Markdown, from what their metadata record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.runs.ir_metadata import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.runs.checks import RunCheck
    from irplatform.tasks.model import Task

_LIBRARIES = ("irplatform", "torch", "transformers", "lightgbm", "numpy")
_NO_OPTIONS = {
    *("name", "retriever", "reranker", "method", "reranks", "interpolates", "fuses"),
    *("lexical", "deep_neural_model", "sparse_neural_model", "single_stage_retrieval"),
}
"""Keys of a step that are not options of its system."""


@dataclass(frozen=True)
class Described:
    """A run to describe.

    Attributes:
        heading: the heading of its section.
        file: the name of its file.
        check: the check of this file.
        metadata: its ir_metadata; None if it has none.
        digest: the SHA-256 of the file.
    """

    heading: str
    file: str
    check: RunCheck
    metadata: Mapping[str, Any] | None
    digest: str


def describe_runs(task: Task, runs: Sequence[Described]) -> str:
    """Describe the runs of a task in Markdown, a section for each."""
    sections = [f"# Runs for {task.title}\n"]
    sections += ["\n".join([f"## {run.heading}\n", *_section(run)]) for run in runs]
    return "\n".join(sections)


def _section(run: Described) -> Iterator[str]:
    content = run.metadata
    told = [] if content is None else parts(content, "method.description")
    told += [] if content is None else parts(content, "research goal.description")
    yield next(
        (f"{text}\n" for text in told if text),
        "How this run was made is not recorded. Describe it here.\n",
    )
    rows = [("file", f"`{run.file}`"), ("answers", run.check.counts)]
    rows += _facts(content) if content is not None else []
    rows.append(("SHA-256", f"`{run.digest}`"))
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in rows)
    yield ""


def _facts(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    (automatic,) = parts(content, "method.automatic")[:1]
    yield "type", "automatic" if str(automatic).lower() == "true" else "manual"
    steps = parts(content, "method.retrieval")[0]
    for step in steps if isinstance(steps, list) else [steps]:
        if isinstance(step, dict):
            kind = next((kind for kind in ("retriever", "reranker") if kind in step), "step")
            options = ", ".join(f"{k} {value}" for k, value in step.items() if k not in _NO_OPTIONS)
            yield kind, str(step.get("name")) + (f" ({options})" if options else "")
    yield "collection", _named(parts(content, "data.test collection")[0])
    yield "training data", _named(parts(content, "data.training data")[0])
    listed = parts(content, "platform.software.libraries")[0]
    entries = [str(entry) for entry in listed] if isinstance(listed, list) else []
    libraries = dict(entry.split("==", 1) for entry in entries if "==" in entry)
    known = [f"{name} {libraries[name]}" for name in _LIBRARIES if name in libraries]
    python = [f"Python {libraries['python']}"] if "python" in libraries else []
    yield "software", ", ".join(python + known) or ", ".join(entries) or "unknown"
    if commit := parts(content, "implementation.source.commit")[0]:
        yield "commit", f"`{commit}`"
    if command := parts(content, "implementation.executable.cmd")[0]:
        yield "command", f"`{command}`"
    if date := content.get("date"):
        yield "made", str(date)


def _named(part: Any) -> str:
    if isinstance(part, list):
        return ", ".join(map(_named, part)) or "none"
    return str(part.get("name", "unknown")) if isinstance(part, dict) else str(part or "unknown")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
