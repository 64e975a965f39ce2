"""A run made again from its metadata: in an empty cache and another folder, and compared."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.names import aliases_file
from irplatform.errors import InputError
from irplatform.experiment.arguments import as_path
from irplatform.experiment.calls import settings_from
from irplatform.experiment.fuse import fuse_runs
from irplatform.experiment.run import run as run_collection
from irplatform.runs import read_run
from irplatform.runs.ir_metadata import as_recorded, read_yaml
from irplatform.runs.metadata import RUN, SUFFIX, lines_digest, read_metadata
from irplatform.runs.overlap import overlap
from irplatform.system.writing import home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.experiment.arguments import AnyPath
    from irplatform.runs.overlap import Overlap

_LENT = ("collections", "kb", "lucene")
"""Folders that an empty cache borrows: what users put there, and a jar that pip fetched."""


@dataclass(frozen=True)
class Rerun:
    """The outcome of making a run again.

    Attributes:
        name: the run file's name.
        recorded: the SHA-256 of its lines in the metadata.
        obtained: that of the new run.
        path: the new run file; None if it was not kept.
        seconds: how long it took.
        overlap: how alike both rankings are; None if the bytes are the same, or the recorded run
            is not beside its metadata.
    """

    name: str
    recorded: str
    obtained: str
    path: Path | None
    seconds: float
    overlap: Overlap | None = None

    @property
    def same(self) -> bool:
        """The new run has the same bytes."""
        return self.recorded == self.obtained

    def as_json(self) -> dict[str, Any]:
        """Return an object of `platform rerun --json`."""
        alike = self.overlap
        return {
            "run": self.name,
            "same": self.same,
            "recorded": self.recorded,
            "obtained": self.obtained,
            "path": str(self.path) if self.path else None,
            "seconds": round(self.seconds, 1),
            "rbo": alike.rbo if alike else None,
            "tau_union": alike.tau if alike else None,
            "same_topics": alike.same if alike else None,
            "topics": alike.topics if alike else None,
        }


def rerun(
    metadata: AnyPath,
    *,
    out: AnyPath | None = None,
    collection: str | None = None,
    cached: bool = False,
) -> Rerun:
    """Make a run again from its metadata, and compare the two.

    Args:
        metadata: `NAME.run.meta.json`, the run beside it, or `ir-metadata.yml`.
        out: the folder for the new runs; None is a temporary one.
        collection: where the collection is now, if not where it was.
        cached: use what the cache holds, instead of an empty one.

    Raises:
        InputError: the metadata do not say how to make the run, or `out` has other runs in it.

    Examples:
        >>> import irplatform as ir
        >>> report = ir.run("demo", depth=10, run_dir="runs/ten")
        >>> ir.rerun("runs/ten/bm25.run.meta.json").same
        True
    """
    metadata = as_path(metadata, "metadata")
    out = None if out is None else as_path(out, "out")
    content, original = _read(metadata)
    about, call = content.get(RUN), content.get("implementation", {}).get("call")
    if about is None or call is None:
        raise InputError(
            "this metadata has no settings or no digest of the run: an older version, or another "
            "program, wrote it.",
            path=metadata,
        )
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="irplatform-rerun-") as scratch:
        folder = out or Path(scratch) / "runs"
        made = folder / about["file"]
        with _cache(None if cached else Path(scratch) / "cache"):
            _make(call, made, collection)
        if not made.exists():
            raise InputError(f"the settings make no {about['file']} now.", path=metadata)
        obtained = lines_digest(made)
        alike = None
        if obtained != about["sha256"] and original is not None:
            alike = overlap(read_run(original), read_run(made))
    seconds = time.monotonic() - started
    path = made if out else None
    return Rerun(about["file"], about["sha256"], obtained, path, seconds, alike)


def _read(path: Path) -> tuple[Mapping[str, Any], Path | None]:
    """The metadata at a path, and the run that they describe if it is there, unchanged."""
    if path.is_dir():
        raise InputError("this is a folder; name a run in it.", path=path)
    if path.suffix in (".yml", ".yaml"):
        content: Mapping[str, Any] = as_recorded(read_yaml(path))
        if RUN not in content and (runs := content.get("runs")):
            content = {**content, RUN: runs[-1]}
        run = path.with_name(str(content.get(RUN, {}).get("file", "")))
    else:
        run = path.with_name(path.name.removesuffix(SUFFIX))
        content = read_metadata(run)
        if not path.exists():
            raise InputError("there is no such file.", path=path)
        if not content:
            raise InputError("there are no metadata here, or beside this run.", path=path)
    sha256 = content.get(RUN, {}).get("sha256")
    there = run.is_file() and lines_digest(run) == sha256
    return content, run if there else None


def _make(call: Mapping[str, Any], made: Path, collection: str | None) -> None:
    if call.get("function") == "fuse_runs":
        fuse_runs(**call["settings"], out=made)
        return
    settings = settings_from(call)
    if collection is not None:
        settings = replace(settings, collection=collection)
    run_collection(replace(settings, run_dir=made.parent))


@contextmanager
def _cache(folder: Path | None) -> Iterator[None]:
    """Use an empty cache, which borrows knowledge bases and collections; None changes nothing."""
    if folder is None:
        yield
        return
    folder.mkdir(parents=True)
    for name in _LENT:
        if (home() / name).is_dir():
            (folder / name).symlink_to(home() / name, target_is_directory=True)
    if aliases_file().exists():
        shutil.copyfile(aliases_file(), folder / aliases_file().name)
    before = os.environ.get("IRPLATFORM_HOME")
    os.environ["IRPLATFORM_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["IRPLATFORM_HOME"]
        else:
            os.environ["IRPLATFORM_HOME"] = before
