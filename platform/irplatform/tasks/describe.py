"""Descriptions of runs for working notes, in Markdown, from what their metadata record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    if content is None:
        yield "How this run was made is not recorded. Describe it here.\n"
    else:
        yield f"{content['method']['description']}\n"
    rows = [("file", f"`{run.file}`"), ("answers", run.check.counts)]
    rows += _facts(content) if content is not None else []
    rows.append(("SHA-256", f"`{run.digest}`"))
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in rows)
    yield ""


def _facts(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    method, data = content["method"], content["data"]
    yield "type", "automatic" if method.get("automatic") else "manual"
    for step in method["retrieval"]:
        kind = next((kind for kind in ("retriever", "reranker") if kind in step), "step")
        options = ", ".join(f"{k} {value}" for k, value in step.items() if k not in _NO_OPTIONS)
        yield kind, step["name"] + (f" ({options})" if options else "")
    yield "collection", _named(data.get("test collection"))
    yield "training data", _named(data.get("training data"))
    libraries = dict(entry.split("==", 1) for entry in content["platform"]["software"]["libraries"])
    known = [f"{name} {libraries[name]}" for name in _LIBRARIES if name in libraries]
    yield "software", ", ".join([f"Python {libraries.get('python', '')}", *known])
    if commit := content["implementation"]["source"].get("commit"):
        yield "commit", f"`{commit}`"
    if command := content["implementation"]["executable"].get("cmd"):
        yield "command", f"`{command}`"
    if date := content.get("date"):
        yield "made", str(date)


def _named(part: Any) -> str:
    if isinstance(part, list):
        return ", ".join(map(_named, part)) or "none"
    return str(part.get("name", "unknown")) if isinstance(part, dict) else str(part or "unknown")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
