"""Folders of runs as sources of judgments, for `agreement`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted, unknown
from irplatform.evaluation.agreement import Source
from irplatform.evaluation.measures import parse_measures
from irplatform.runs.folder import FILE_NAME, read_scores
from irplatform.runs.names import alone_name

if TYPE_CHECKING:
    from collections.abc import Sequence


def read_sources(
    folders: Sequence[Path | str], measures: Sequence[str] = (), *, own_scores: bool = False
) -> list[Source]:
    """Read what `platform run` left in folders, one per source.

    Args:
        folders: the folders.
        measures: one for all of them, or one each, by any name that `parse_measures` understands;
            empty takes the first of each table.
        own_scores: take rerankers' own scores instead of those mixed with the first stage's.

    Returns:
        The sources under names that tell them apart: the collection's, with measure or folder
        where it needs to be.

    Raises:
        InputError: a folder has no scores, or not of that measure for every system.
    """
    if len(measures) not in (0, 1, len(folders)):
        raise InputError(
            f"{counted(len(measures), 'measure')} for {counted(len(folders), 'source')}: "
            "give one for all, or one each."
        )
    each: list[str | None] = [*measures] if measures else [None]
    if len(each) == 1:
        each *= len(folders)
    sources = [
        _read(Path(folder), measure, own_scores)
        for folder, measure in zip(folders, each, strict=True)
    ]
    return _named_apart(sources, folders)


def _read(folder: Path, measure: str | None, own_scores: bool) -> Source:
    scores = read_scores(folder)
    if not scores.measures or not any(system.per_topic for system in scores.systems.values()):
        raise InputError(
            f"'{scores.collection}' has no judgments: its runs have no scores.",
            path=folder / FILE_NAME,
        )
    measure_name = scores.measures[0] if measure is None else _right_name(measure, scores.measures)
    if measure_name not in scores.measures:
        raise unknown("measure", measure_name, scores.measures, of=str(folder))
    for name, system in scores.systems.items():
        if measure_name not in system.means or measure_name not in system.per_topic:
            raise InputError(
                f"the system '{name}' has no scores by {measure_name}. Run `platform run` again.",
                path=folder / FILE_NAME,
            )
    if not any(system.per_topic.get(measure_name) for system in scores.systems.values()):
        raise InputError(
            f"no run has a value of {measure_name} for any topic of '{scores.collection}'.",
            path=folder / FILE_NAME,
        )
    alone_names = {alone_name(name) for name in scores.systems}
    systems = {name: scores.systems[name] for name in scores.systems if name not in alone_names}
    if own_scores:
        systems = {n: scores.systems.get(alone_name(n), system) for n, system in systems.items()}
    return Source(
        scores.collection,
        scores.collection,
        measure_name,
        {name: system.means[measure_name] for name, system in systems.items()},
        {name: system.per_topic[measure_name] for name, system in systems.items()},
    )


def _right_name(measure: str, measures: Sequence[str]) -> str:
    """The name that runs are scored under: AP for MAP. What makes no sense stays as it is."""
    if measure in measures:
        return measure
    try:
        (name,) = parse_measures([measure], sampled=True)
    except InputError:
        return measure
    return name


def _named_apart(sources: list[Source], folders: Sequence[Path | str]) -> list[Source]:
    ways = (
        [source.collection for source in sources],
        [f"{source.collection} {source.measure}" for source in sources],
        [str(folder) for folder in folders],
    )
    names = next((names for names in ways if len(set(names)) == len(names)), None)
    if names is None:
        raise InputError("a folder is given twice with the same measure.")
    return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]
