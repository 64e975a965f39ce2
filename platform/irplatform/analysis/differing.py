"""Whether runs side by side differ in more than their systems: documents, topics, judgments, depth.

Only what metadata record is compared. Of runs without any nothing is known, and nothing is said.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from irplatform.collections.identical_ids import ignoring_identical_ids
from irplatform.errors import InputError, listing
from irplatform.experiment.topics import only_topics, topic_fingerprints, topics_asked
from irplatform.run_folder.listed import current_path, listed_runs
from irplatform.run_folder.metadata_files import is_as_recorded, read_metadata
from irplatform.run_folder.published import published_digests
from irplatform.runs.names import alone_name, file_beside, file_name, other_form
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from irplatform.data import Collection
    from irplatform.run_folder.metadata_model import RunMetadata

    Metadata = Mapping[str, Any]

_DIGITS = 8
_PARTS = (("topics", "topics"), ("judgments", "qrels"), ("judgments", "sampled qrels"))
"""What messages call the parts of a collection, and their keys in metadata."""


def differences_told(
    files: Mapping[str, Path], collection: Collection | None = None, *, across: bool = True
) -> list[str]:
    """Return sentences on runs whose metadata record other things than those of the others.

    Args:
        files: name to run file.
        collection: the present one, all of it; it is told if topics and judgments of runs of this
            name have changed since.
        across: different documents are allowed, and told.

    Raises:
        InputError: the runs are of different documents, or metadata are damaged.
    """
    runs = {name: read_metadata(file) for name, file in files.items()}
    of = {name: run.data.test_collection.content() for name, run in runs.items()}
    notes = [*_documents({name: data.get("documents") for name, data in of.items()}, runs, across)]
    notes += _replaced(files, runs)
    looks = {name: topics_asked(file) for name, file in files.items()}
    present = _present({n: of[n].get("name") for n in of}, runs, looks, collection)
    for part, key in _PARTS:
        marks = {n: data.get(key) for n, data in of.items() if data.get(key) is not None}
        changed = [n for n in present if n in marks and marks[n] != present[n].get(key)]
        if changed:
            notes.append(
                f"WARNING: the {part} of '{of[changed[0]]['name']}' have changed since these runs "
                f"were made: {listing(changed)}. Here the present ones count."
            )
        others = {n: marks[n] for n in marks.keys() - changed if not (collection and looks[n])}
        if text := _values_in_words({n: others[n] for n in marks if n in others}):
            notes.append(f"WARNING: the runs were made with different {part}: {text}.")
    said = {n: {**(run.method.settings or {}), **run.method.content()} for n, run in runs.items()}
    for facts in said.values():
        facts["depth"] = facts.get("written-depth") or facts.get("depth")
    for part in ("depth", "seed"):
        if text := _values_in_words({name: facts.get(part) for name, facts in said.items()}):
            notes.append(f"the runs differ in {part}: {text}.")
    return notes


def _present(
    names: Mapping[str, str | None],
    runs: Mapping[str, RunMetadata],
    looks: Mapping[str, tuple[str, ...]],
    collection: Collection | None,
) -> dict[str, Metadata]:
    """What the metadata of a collection's runs would say now of topics and judgments."""
    marks: dict[tuple[tuple[str, ...], bool], Metadata] = {}
    fingerprints = {}
    for name in names:
        if collection is not None and names[name] == collection.id:
            key = (
                looks[name],
                bool(_settings(runs[name]).get("ignore_identical_ids")),
            )
            if key not in marks:
                part = only_topics(collection, key[0])
                part = ignoring_identical_ids(part) if key[1] else part
                qrels = part.qrels if part.load_qrels else None
                marks[key] = topic_fingerprints(part, qrels)
            fingerprints[name] = marks[key]
    return fingerprints


def _values_in_words(values: Mapping[str, Any]) -> str:
    """Different values in words: "1000 (bm25, rm3), 100 (ltr)"; "" for less than two."""
    groups: dict[str, list[str]] = {}
    for name, value in values.items():
        if isinstance(value, str | int):
            groups.setdefault(str(value), []).append(name)
    phrases = (f"{value[:_DIGITS]} ({listing(names)})" for value, names in groups.items())
    return ", ".join(phrases) if len(groups) > 1 else ""


def _settings(run: RunMetadata) -> Mapping[str, Any]:
    return run.implementation.call.settings


def _documents(
    marks: Mapping[str, str | None], runs: Mapping[str, RunMetadata], across: bool
) -> Iterator[str]:
    """A sentence on different documents; InputError if they are not allowed.

    An existing index has a fingerprint of its own: whether it has the same documents is not known.
    """
    corpus_marks = {
        name: mark for name, mark in marks.items() if "index" not in _settings(runs[name])
    }
    if text := _values_in_words(corpus_marks):
        text = f"the runs are of different documents: {text}."
        if not across:
            raise InputError(
                f"{text} A test would compare documents, not systems. Make the runs again over the "
                "same ones. If they are the same in another form, or differ on purpose, add "
                f"{option('different_documents', True)}."
            )
        yield f"WARNING: {text}"
    elif text := _values_in_words(marks):
        yield f"WARNING: an existing index may have other documents: {text}."


def _replaced(files: Mapping[str, Path], runs: Mapping[str, RunMetadata]) -> Iterator[str]:
    """Sentences on run files that are not those which metadata or the folder's report describe."""
    digests: dict[Path, str] = {}
    for folder in dict.fromkeys(file.parent for file in files.values()):
        with suppress(InputError):  # a damaged report is not needed where run files are named
            digests |= listed_runs(folder) | published_digests(folder, alone=True)
    for name, file in files.items():
        recorded = [*filter(None, {runs[name].run.sha256, digests.get(file)})]
        if file.is_file() and not all(is_as_recorded(file, sha256) for sha256 in recorded):
            yield (
                f"WARNING: {file} is not the run that was recorded: it was changed or replaced. "
                "`platform verify` says more."
            )
        alone = current_path(file_beside(file, alone_name(file_name(file))))
        for lost in {alone, other_form(alone)} & digests.keys() if not alone.exists() else ():
            yield f"WARNING: {lost}, the reranker's own scores, is not here any more."
