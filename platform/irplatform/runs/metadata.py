"""The file beside each run that says how it was made.

Its sections are those of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022), which follow the
PRIMAD model of reproducibility: platform, research goal, implementation, method, actor, data. It is
JSON, which is YAML as well, and holds what ir_metadata has no word for (hashes, seeds, timings)
under names of our own.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.json_io import read_own_json
from irplatform.runs.machine import describe_platform, source_revision
from irplatform.runs.trec import write_run
from irplatform.storage import as_json, atomic_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.runs.run import Run

_SCHEMA_VERSION = "0.1"
"""Of ir_metadata."""
_SUFFIX = ".meta.json"
_TIES = "document id descending"


def metadata_path(run_path: Path | str) -> Path:
    """Where the metadata of a run file lies: `delta.run.gz` has `delta.run.gz.meta.json`."""
    path = Path(run_path)
    return path.with_name(path.name + _SUFFIX)


def run_metadata(
    *,
    tag: str,
    command: Sequence[str],
    data: Mapping[str, Any],
    method: Mapping[str, Any],
    timings: Mapping[str, float],
    measures: Sequence[str] = (),
    baseline: str | None = None,
    significance: Sequence[Mapping[str, str]] = (),
    java: str | None = None,
    lucene: str | None = None,
    accelerator: str | None = None,
) -> dict[str, Any]:
    """Put together what a run's metadata file holds.

    Args:
        tag: the run's name.
        command: the command line, program first.
        data: `test collection` (name, hashes of topics and qrels), `training data`, `index`
            (fingerprint).
        method: `retrieval` (a list of steps: name, method, options, what they rerank or
            interpolate), `seed`, `weights` (hash).
        timings: seconds per stage.
        measures: names of the measures that are reported.
        baseline: the run that the others are tested against.
        significance: the tests: name, correction method.
        java: see `describe_platform`, as of `lucene` and `accelerator`.
        lucene: see there.
        accelerator: see there.
    """
    import irplatform

    implementation: dict[str, Any] = {
        "executable": {"cmd": shlex.join(command)},
        "source": {"lang": ["python", "java"], "version": irplatform.__version__},
    }
    if revision := source_revision(irplatform.__file__):
        implementation["source"]["commit"] = revision
    evaluation: dict[str, Any] = {"reported measures": list(measures)}
    if baseline is not None:
        evaluation["baseline"] = [baseline]
    if significance:
        evaluation["significance test"] = [dict(test) for test in significance]
    return {
        "schema version": _SCHEMA_VERSION,
        "tag": tag,
        "platform": describe_platform(java=java, lucene=lucene, accelerator=accelerator),
        "research goal": {"evaluation": evaluation},
        "implementation": implementation,
        "data": dict(data),
        "method": {"automatic": True, "score ties": _TIES} | dict(method),
        "timings": {stage: round(seconds, 3) for stage, seconds in timings.items()},
    }


def write_run_with_metadata(run: Run, path: Path, metadata: Mapping[str, Any]) -> None:
    """Write a run file and its metadata, whose tag is the last column of the file.

    Wherever this is interrupted, no run stands beside the metadata of another one; where it fails,
    both files of before stay.

    Raises:
        InputError: see `write_run`.
    """
    described = metadata_path(path)
    content = as_json(dict(metadata), default=_plain)
    with atomic_write(described, "wb") as file:
        file.write(content)
        file.flush()  # what a full disk lacks room for is known before the old files go
        write_run(run.renamed(metadata["tag"]), path, outdated=described)


def read_metadata(run_path: Path | str) -> Mapping[str, Any]:
    """What is recorded beside a run; nothing where there is no such file, or a broken one."""
    try:
        content = read_own_json(metadata_path(run_path))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _plain(value: object) -> object:
    """Say paths, sets and numpy's numbers as JSON does."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"metadata cannot hold a {type(value).__name__}: {value!r}")
