"""A run compared with its metadata: the file, the data, the models, the versions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from irplatform.errors import InputError, PlatformError, counted, listing
from irplatform.experiment.arguments import as_path
from irplatform.experiment.calls import content_digest, describe_data, settings_from
from irplatform.experiment.plan import plan_run, planned_runs
from irplatform.experiment.systems import collection_of, refuse_large_downloads
from irplatform.files.cache import MANIFEST, damage
from irplatform.files.code_digests import our_digest
from irplatform.files.digests import fingerprint
from irplatform.files.formats import read_own_json
from irplatform.files.writing import home, within_home
from irplatform.lucene.build import composed_mark
from irplatform.lucene.java import lucene_version
from irplatform.registry.loading import registry
from irplatform.run_folder.environment import describe_platform, source_revision
from irplatform.run_folder.listed import described_runs, listed_runs, moved_to
from irplatform.run_folder.metadata_files import (
    is_as_recorded,
    known_metadata,
    metadata_file,
    metadata_path,
    ranking_digests,
)
from irplatform.run_folder.resuming import differences
from irplatform.runs import read_run
from irplatform.runs.names import file_name
from irplatform.training.checkpoints import KIND, Checkpoint
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.data import Collection, Qrels
    from irplatform.experiment.arguments import AnyPath
    from irplatform.run_folder.metadata_model import Marks, RunMetadata

Verdict = Literal["agrees", "changed", "unknown"]
_PARTS = {
    "topics": "topics",
    "qrels": "judgments",
    "sampled qrels": "sampled judgments",
    "documents": "documents",
}
"""Parts of a collection in metadata → what messages call them."""
_BY_CONTENT = ("collection", "documents", "topics", "judgments", "tag", "device")
"""Settings of a run that are compared as data, or not at all."""
_INPUT = ("role", "path", "sha256")
_DIGITS = 12


@dataclass(frozen=True)
class Finding:
    """The state of one part that a run was made of.

    Attributes:
        subject: "run", "judgments", "index", "numpy"….
        verdict: "agrees", "changed", or "unknown" where it is not here or was not recorded.
        detail: what changed, in words.
    """

    subject: str
    verdict: Verdict
    detail: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the finding as a JSON object."""
        return asdict(self)


def verify(run: AnyPath, *, collection: str | None = None) -> list[Finding]:
    """Compare a run file, and all that it was made of, with what its metadata record.

    Args:
        run: the run file; its metadata lie beside it or stand in its head.
        collection: where the collection is now, if not where it was.

    Raises:
        InputError: there is no such run, or it has no metadata, or these are damaged.

    Examples:
        >>> import irplatform as ir
        >>> report = ir.run("demo", depth=10, run_dir="runs/ten")
        >>> [f.subject for f in ir.verify("runs/ten/bm25.run") if f.verdict == "changed"]
        []
    """
    run = as_path(run, "run")
    if not run.exists() and metadata_file(run) is None:
        raise InputError("there is no such file.", path=run)
    metadata = known_metadata(run)
    findings = [_file(run, metadata)]
    findings += _data(metadata, collection)
    findings += _inputs(metadata)
    findings += _artifacts(metadata)
    findings += _weights(metadata)
    findings += _versions(metadata)
    return findings


def verify_folder(folder: Path, *, collection: str | None = None) -> dict[Path, list[Finding]]:
    """Verify all runs that a folder, or a matrix, says it has: in its report, or by metadata.

    Raises:
        InputError: it says so of none, or see `verify`.
    """
    findings = {run: verify(run, collection=collection) for run in described_runs(folder)}
    for run, sha256 in listed_runs(folder).items():
        if run not in findings:
            lost = f"{metadata_path(run).name} is not here any more"
            findings[run] = [] if run.is_file() else [_gone(run)]
            findings[run].append(Finding("metadata", "changed", lost))
        elif sha256 and findings[run][0].verdict == "agrees" and not is_as_recorded(run, sha256):
            other = f"another took its place: report.json lists sha256 {sha256[:_DIGITS]}…"
            findings[run][0] = Finding("run", "changed", other)
    if not findings:
        raise InputError("there are no run files with metadata in this folder.", path=folder)
    return findings


def _gone(run: Path) -> Finding:
    now = moved_to(run, run.parent)
    again = "; `platform rerun` makes it again" if metadata_file(run) else ""
    hint = f"; {now.name} has its content" if now else again
    return Finding("run", "changed", f"{run.name} is not here any more{hint}")


def changed(findings: list[Finding]) -> list[str]:
    """Return the subjects that changed."""
    return [finding.subject for finding in findings if finding.verdict == "changed"]


def _file(path: Path, metadata: RunMetadata) -> Finding:
    about = metadata.run
    if not path.exists():
        return _gone(path)
    if about.sha256 is None:
        reason = "an older version or another program made it"
        return Finding("run", "unknown", f"its digest was not recorded; {reason}")
    if is_as_recorded(path, about.sha256):
        return Finding("run", "agrees", f"sha256 {about.sha256[:_DIGITS]}…")
    try:
        now = ranking_digests(read_run(path))
    except InputError as error:
        return Finding("run", "changed", str(error))
    then: Mapping[str, str] = about.rankings
    touched = [topic for topic in {**then, **now} if then.get(topic) != now.get(topic)]
    if not touched:
        same = (
            "the rankings are the same; ranks, the run tag, or the order or ends of lines changed"
        )
        return Finding("run", "changed", same)
    topics = counted(len(touched), "topic")
    return Finding("run", "changed", f"other rankings of {topics}: {listing(touched)}")


def _data(metadata: RunMetadata, location: str | None) -> Iterator[Finding]:
    """The topics, judgments and documents, and what the settings stand for now."""
    data, call, then = metadata.data, metadata.implementation.call, metadata.method.settings
    if data.test_collection.name is None:
        return
    name = location or call.settings.get("collection") or data.test_collection.name
    settings, unreadable = None, ""
    try:
        settings = settings_from(
            {**call.content(), "settings": {**call.settings, "collection": name}}
        )
    except PlatformError as error:
        unreadable = str(error)
    try:
        plugins = registry()
        collection = collection_of(settings, plugins) if settings else plugins.collection(name)
        refuse_large_downloads(collection, name)
        now = describe_data(collection, _qrels(collection))
    except PlatformError as error:
        yield Finding("collection", "unknown", str(error))
        return
    yield from _parts(data.test_collection, now, "")
    if settings is None:
        yield Finding("settings", "unknown", unreadable)
        return
    try:
        plan = plan_run(settings, plugins)
        planned = planned_runs(plan, now).get(file_name(Path(metadata.run.file or "")))
    except PlatformError as error:
        yield Finding("settings", "unknown", str(error))
        return
    if plan.training is not None and data.training_data:
        trained = describe_data(plan.training, _qrels(plan.training))
        yield from _parts(data.training_data, trained, "training ")
    if planned is not None and then is not None:
        before = {k: v for k, v in then.items() if k not in _BY_CONTENT}
        after = {k: v for k, v in planned.items() if k not in _BY_CONTENT}
        changes = "; ".join(differences(before, after))
        yield Finding("settings", "changed" if changes else "agrees", changes)


def _qrels(collection: Collection) -> Qrels | None:
    return collection.qrels or None


def _parts(marks: Marks, now: Mapping[str, Any], of: str) -> Iterator[Finding]:
    then = marks.content()
    for part, name in _PARTS.items():
        if part in then and then[part] != now.get(part):
            changed = f"{then.get(part) or 'none'} -> {now.get(part) or 'none'}"
            index = "; so is their index" if part == "documents" else ""
            yield Finding(of + name, "changed", f"of {then['name']}: {changed}{index}")
        elif then.get(part):
            yield Finding(of + name, "agrees", f"of {then['name']}")


def _inputs(metadata: RunMetadata) -> Iterator[Finding]:
    """The files and folders that settings named."""
    entries = [*metadata.data.inputs]
    for step in metadata.method.retrieval:
        for role, runs in (("fused run", step.fuses), ("training run", step.learned.runs)):
            entries += [{"role": role, "path": run.run, **run.content()} for run in runs]
    folder = Path(metadata.implementation.executable.get("working directory", ""))
    for entry in entries:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(k), str) for k in _INPUT):
            yield Finding("inputs", "unknown", "another program recorded them")
            continue
        path = folder / entry["path"]
        now = content_digest(path)
        if not now:
            yield Finding(entry["role"], "unknown", f"{_display_path(path)} is not here")
        elif now != entry["sha256"]:
            yield Finding(entry["role"], "changed", f"{_display_path(path)} has other content")
        else:
            yield Finding(entry["role"], "agrees", _display_path(path))


def _display_path(path: Path) -> str:
    """A path from the current folder, if it lies there."""
    folder = Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _artifacts(metadata: RunMetadata) -> Iterator[Finding]:
    """The index, vectors and the like in the cache: whole, damaged, or not there."""
    for name, mark in metadata.data.artifacts.items():
        subject = name.replace("_", " ")
        for folder in (home() / name.replace("_", "-")).glob("*-*"):
            if mark not in (suffix := folder.name.rpartition("-")[2], composed_mark(suffix)):
                continue
            if fault := damage(folder):
                yield Finding(subject, "changed", f"{within_home(folder)} {fault}")
            else:
                yield Finding(subject, "agrees", str(within_home(folder)))


def _weights(metadata: RunMetadata) -> Iterator[Finding]:
    """The trained models in the cache; those of a given `checkpoint` are inputs."""
    method = metadata.method
    if (method.settings or {}).get("checkpoint") is not None:
        return
    for trained, mark in zip(method.training, method.weights, strict=False):
        if not trained.depends_on:
            continue
        folder = _checkpoint(trained.depends_on)
        if folder is None:
            yield Finding("weights", "unknown", "the trained model is not in this cache")
            continue
        with suppress(InputError):
            identity = read_own_json(folder / MANIFEST)["fingerprint"]
            now = fingerprint({"made": identity, "weights": Checkpoint.read(folder).weights})
            if now == mark and damage(folder) is None:
                yield Finding("weights", "agrees", str(within_home(folder)))
                continue
        yield Finding("weights", "changed", f"others in {within_home(folder)}")


def _checkpoint(depends_on: Mapping[str, Any]) -> Path | None:
    """The folder in the cache of a training, by all that it depends on."""
    for folder in (home() / KIND).glob("*"):
        with suppress(OSError, ValueError, KeyError):
            manifest = read_own_json(folder / MANIFEST)
            if depends_on.items() <= manifest["depends_on"].items():
                return folder
    return None


def _versions(metadata: RunMetadata) -> Iterator[Finding]:
    """The platform's code, Python, Java, Lucene, and libraries that can change a score."""
    source = metadata.implementation.source
    revision = source_revision()
    then, now = _code(source), _code({"version": __version__, "commit": revision})
    if source.get("digest") == our_digest():
        yield Finding("irplatform", "agrees", now)
    elif "version" in source:
        if then == now:  # files were edited, or are newer than the commit
            then, now = f"{then} with source {source.get('digest')}", our_digest()
        yield Finding("irplatform", "changed", f"other code: {then} -> {now}")
    software = metadata.platform.software
    recorded = software.content()
    environment = describe_platform(lucene=lucene_version())["software"]
    installed = environment["libraries"]["python"]
    pairs = {
        name: (version, installed.get(name))
        for name, version in software.libraries.python.items()
        if name != "irplatform"
    }
    for name in ("python", "lucene", "arithmetic"):
        if name in recorded:
            pairs[name] = (recorded[name], environment.get(name))
    others = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    for name, (before, after) in others.items():
        yield Finding(name, "changed", f"{before} -> {after or 'not installed'}")
    if pairs and not others:
        yield Finding("versions", "agrees", f"Python and {counted(len(pairs), 'package')}")


def _code(source: Mapping[str, Any]) -> str:
    commit, dash, dirty = (source.get("commit") or "").partition("-")
    return f"{source.get('version')}{f' ({commit[:_DIGITS]}{dash}{dirty})' if commit else ''}"
