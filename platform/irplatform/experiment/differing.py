"""Whether runs side by side differ in more than their systems: documents, topics, judgments, depth.

Only what metadata record is compared. Of runs without any nothing is known, and nothing is said.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from irplatform.collections.identical_ids import ignoring_identical_ids
from irplatform.errors import InputError, listing
from irplatform.experiment.calls import topic_marks
from irplatform.experiment.topics import only_topics
from irplatform.runs.listed import listed_runs, run_here
from irplatform.runs.metadata import PART, RUN, is_as_recorded, read_metadata
from irplatform.runs.names import alone_name, file_name

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection

    Metadata = Mapping[str, Any]

_DIGITS = 8
_JUDGED = ("qrels", "sampled qrels")


def differences_told(
    files: Mapping[str, Path], collection: Collection | None = None, *, across: bool = True
) -> list[str]:
    """Return sentences on runs whose metadata record other things than those of the others.

    Args:
        files: name to run file.
        collection: the present one, all of it; topics and judgments that have changed since are
            told of runs of this name.
        across: different documents are allowed, and told.

    Raises:
        InputError: the runs are of different documents, or metadata are damaged.
    """
    runs = {name: read_metadata(file) for name, file in files.items()}
    if (told := _documents(runs)) and not across:
        raise InputError(
            f"{told} A test would compare documents, not systems. Make the runs again over the "
            "same documents. If these are the same in another form, or differ on purpose, add "
            "--different-documents."
        )
    notes = [f"WARNING: {told}"] if told else []
    notes += _replaced(files, runs)
    changed = _changed_since(runs, collection)
    notes += [
        f"WARNING: the {part} of '{collection.id}' have changed since these runs were made: "
        f"{listing(names)}. Here the present ones count."
        for part, names in changed.items()
        if collection is not None and names
    ]
    whole = {n: run for n, run in runs.items() if collection is None or not _asked(run)}
    for part in ("topics", "judgments"):
        values = {n: _mark(run, part) for n, run in whole.items() if n not in changed[part]}
        if groups := _groups(values):
            shown = "; ".join(f"{str(v)[:_DIGITS]}… of {listing(names)}" for v, names in groups)
            notes.append(f"WARNING: the runs were made with different {part}: {shown}.")
    method = {name: run.get("method", {}) for name, run in runs.items()}
    depth = {name: each.get("settings", {}).get("depth") for name, each in method.items()}
    seed = {name: each.get("seed") for name, each in method.items()}
    versions = {name: _versions(run) for name, run in runs.items()}
    libraries = dict.fromkeys(library for own in versions.values() for library in own)
    others = {v: {n: own.get(v) for n, own in versions.items() if own} for v in libraries}
    told_of = {"depth": depth, "seed": seed, **others}
    lines = [f"{what} {told}" for what, values in told_of.items() if (told := _told(values))]
    return [*notes, *([f"the runs differ in: {'; '.join(lines)}."] if lines else [])]


def _groups(values: Mapping[str, Any]) -> list[tuple[Hashable, list[str]]]:
    """The names by their value, if there are several values; names without one are left out."""
    groups: dict[Hashable, list[str]] = {}
    for name, value in values.items():
        if value is not None:
            groups.setdefault(value, []).append(name)
    return [*groups.items()] if len(groups) > 1 else []


def _told(values: Mapping[str, Any]) -> str:
    """Different values in words: "1000 (bm25, rm3), 100 (ltr)"."""
    known = {n: value for n, value in values.items() if isinstance(value, str | int)}
    return ", ".join(f"{value} ({listing(names, 3)})" for value, names in _groups(known))


def _collection(run: Metadata) -> Metadata:
    found: Metadata = run.get("data", {}).get("test collection", {})
    return found


def _asked(run: Metadata) -> tuple[str, ...]:
    return tuple(run.get("data", {}).get(PART, {}).get("asked", ()))


def _settings(run: Metadata) -> Metadata:
    found: Metadata = run.get("implementation", {}).get("call", {}).get("settings", {})
    return found


def _mark(run: Metadata, part: str) -> str | None:
    """The fingerprint of topics or judgments; None if none is recorded."""
    recorded = _collection(run)
    marks = [recorded.get(key) for key in (_JUDGED if part == "judgments" else (part,))]
    return " ".join(filter(None, marks)) or None


def _documents(runs: Mapping[str, Metadata]) -> str:
    """A sentence on runs of different documents; "" if they are the same, as far as recorded.

    The documents of an existing index have a fingerprint of their own.
    """
    groups: list[tuple[Metadata, list[str]]] = []
    indexed = []
    for name, run in runs.items():
        own = _collection(run)
        if not own.get("documents"):
            continue
        same = (names for first, names in groups if _same_documents(first, own))
        if names := next(same, None):
            names.append(name)
        elif groups and "index" in _settings(run):
            indexed.append(name)
        else:
            groups.append((own, [name]))
    if len(groups) > 1:
        told = [f"{listing(names)} of {one['documents'][:_DIGITS]}…" for one, names in groups]
        return f"the runs are of different documents: {'; '.join(told)}."
    if indexed:
        return (
            f"{listing(indexed)}: whether an existing index has the others' documents is unknown."
        )
    return ""


def _same_documents(one: Metadata, other: Metadata) -> bool:
    keys = ("documents", "texts")
    return any(one.get(key) is not None and one.get(key) == other.get(key) for key in keys)


def _replaced(files: Mapping[str, Path], runs: Mapping[str, Metadata]) -> Iterator[str]:
    """Sentences on run files that are not those which metadata or the folder's report describe."""
    reports: dict[Path, Mapping[Path, str]] = {}
    for name, file in files.items():
        if not file.is_file():
            continue
        recorded = {"its metadata": runs[name].get(RUN, {}).get("sha256", "")}
        if (folder := file.parent) not in reports:
            reports[folder] = {}
            with suppress(InputError):  # a report is not needed where run files are named
                listed = listed_runs(folder)
                reports[folder] = {run_here(each.path) or each.path: each.sha256 for each in listed}
        recorded["report.json"] = reports[folder].get(file, "")
        wrong = (
            by for by, digest in recorded.items() if digest and not is_as_recorded(file, digest)
        )
        if by := next(wrong, ""):
            yield (
                f"WARNING: {file} is not the run that {by} records: it was changed or replaced. "
                "`platform verify` says more."
            )
        alone = file.with_name(f"{alone_name(file_name(file))}.run")
        if alone in reports[folder] and not alone.exists():
            yield f"WARNING: {alone}, the reranker's own scores, is not here any more."


def _changed_since(
    runs: Mapping[str, Metadata], collection: Collection | None
) -> dict[str, Sequence[str]]:
    """The runs of a collection whose topics or judgments were others when they were made."""
    present: dict[Hashable, Metadata] = {}
    changed: dict[str, list[str]] = {"topics": [], "judgments": []}
    for name, run in runs.items():
        if collection is None or _collection(run).get("name") != collection.id:
            continue
        key = _asked(run), bool(_settings(run).get("ignore_identical_ids"))
        if key not in present:
            part = only_topics(collection, key[0])
            part = ignoring_identical_ids(part) if key[1] else part
            qrels = part.load_qrels() if part.load_qrels else None
            present[key] = {"data": {"test collection": topic_marks(part, qrels)}}
        for part_name, names in changed.items():
            mark = _mark(run, part_name)
            if mark is not None and mark != _mark(present[key], part_name):
                names.append(name)
    return dict(changed)


def _versions(run: Metadata) -> dict[str, str]:
    """The versions of what can move a score: libraries, Python, Java, Lucene."""
    software = run.get("platform", {}).get("software", {})
    others = {name: software[name] for name in ("python", "java", "lucene") if name in software}
    return {**others, **software.get("libraries", {}).get("python", {})}
