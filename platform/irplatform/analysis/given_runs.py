"""Runs that a caller gives: files, folders or runs in memory, each with a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isclose
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.comparison.results import Matrix
from irplatform.errors import InputError, counted, listing, quoted
from irplatform.experiment.arguments import FOLDER, AnyPath, Names, as_names, as_path
from irplatform.run_folder.collection_names import collections_named
from irplatform.run_folder.listed import current_path, matrix_cells, run_files
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.run_folder.mixture import Mixture, mixture_of
from irplatform.run_folder.published import PublishedRuns, published_among
from irplatform.runs import Run
from irplatform.runs.in_memory import is_results, run_of
from irplatform.runs.names import alone_name, file_beside, file_name, names_of
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.comparison.results import Comparison
    from irplatform.reports.matrix import MatrixReport
    from irplatform.reports.run_report import RunReport
    from irplatform.run_folder.listed import MatrixCell

AnyRun: TypeAlias = "AnyPath | Run | RunReport | MatrixReport | Any"
Runs: TypeAlias = "AnyRun | Iterable[AnyRun] | Mapping[str, AnyRun]"
"""Files, folders or reports of runs, and runs in memory, see `runs.in_memory`; a mapping gives each
a name.
"""


@dataclass(frozen=True)
class GivenRuns:
    """Runs by path; those in memory have their name for a path.

    Attributes:
        names: path to name.
        ready: the runs that need no reading.
        cells: those of a matrix, if its folder was given and nothing else.
        matrix: the first stages and rerankers, see `of_collection`.
    """

    names: Mapping[Path, str]
    ready: Mapping[Path, Run]
    cells: Sequence[MatrixCell] = ()
    matrix: Matrix | None = None

    def of_collection(self, collection: str | None) -> GivenRuns:
        """Return the runs of one collection of a matrix, named by first stage and reranker.

        Raises:
            InputError: the matrix has several collections and none is named, or another one is.
        """
        collections = [*dict.fromkeys(cell.collection for cell in self.cells)]
        if len(collections) > 1 and collection not in collections:
            raise InputError(
                f"the matrix is of several collections: name one of {listing(collections)} with "
                f"{option('collection')}."
            )
        cells = [
            cell for cell in self.cells if len(collections) == 1 or cell.collection == collection
        ]
        names: dict[Path, str] = {}
        places: dict[str, tuple[str, str]] = {}
        for cell in cells:
            reranked = {path: file_name(path) for path in map(cell.file, cell.reranked)}
            for path, reranker in {cell.file(cell.first): "", **reranked}.items():
                name = f"{cell.first_stage}/{reranker}" if reranker else cell.first_stage
                names[path], places[name] = name, (cell.first_stage, reranker)
        return GivenRuns(names, {}, cells, Matrix(places))

    def file(self, path: Path) -> Path | None:
        """Return the file that a run was read from, if there is one."""
        return self.ready[path].path if path in self.ready else path

    @property
    def files(self) -> dict[str, Path]:
        """The files of the runs that have one, by their names."""
        files = {name: self.file(path) for path, name in self.names.items()}
        return {name: file for name, file in files.items() if file is not None}

    @cached_property
    def published(self) -> PublishedRuns:
        """Those of the runs that are published results; InputError if they are of two tables."""
        return published_among(path for path in self.names if path not in self.ready)

    def mixtures(self) -> dict[str, Mixture]:
        """Return what the runs are made of, by name, as far as their metadata say.

        A first stage is called as among these runs, if it is the one that lay beside the reranker's
        run.
        """
        files = {path: file for path in self.names if (file := self.file(path)) is not None}
        called = {_plain(file): self.names[path] for path, file in files.items()}
        mixtures = {}
        for path, file in files.items():
            mixture = mixture_of(read_metadata(file).method)
            if first := mixture.first_stage:
                other = f"{file.parent.name}/{first}" if first in called.values() else first
                name = called.get(_plain(file_beside(file, first)), other)
                mixture = replace(mixture, first_stage=name)
            mixtures[self.names[path]] = mixture
        for path, row in self.published.rows.items():
            mixtures[self.names[path]] = Mixture(row.first_stage, row.share)
        return mixtures

    def alone(self) -> dict[str, Path]:
        """Return the files of rerankers' own scores, by the names of their mixed runs."""
        files = {}
        for name, file in self.files.items():
            path = current_path(file_beside(file, alone_name(file_name(file))))
            if path.is_file() and mixture_of(read_metadata(path).method).share == 0:
                files[name] = path
        return files

    def recorded_measures(self) -> dict[str, tuple[str, ...]]:
        """Return the measures that the runs were reported by, by name, as far as recorded."""
        run_measures = {}
        for name, file in self.files.items():
            run_measures[name] = tuple(
                read_metadata(file).research_goal.evaluation.reported_measures
            )
        return {name: measures for name, measures in run_measures.items() if measures}

    def recorded_collection(self) -> str:
        """Return the collection that the metadata of the runs name.

        Raises:
            InputError: a run is missing, or they name none or several.
        """
        for file in self.files.values():
            if not file.exists():
                raise InputError("there is no such file.", path=file)
        published = self.published
        collections = collections_named(f for f in self.files.values() if f not in published.rows)
        if published.table and not collections:
            name = Template(published.table.collection).safe_substitute(os.environ)
            if "${" in name:
                raise InputError(
                    f"the published results are of {name}: set this variable, or give "
                    f"{option('collection')}."
                )
            return name
        if not collections:
            raise InputError(
                f"the runs' metadata name no collection: give {option('collection')} or "
                f"{option('qrels')}."
            )
        if len(collections) > 1:
            raise InputError(
                f"the runs are of several collections: name one of {listing(collections)} with "
                f"{option('collection')}."
            )
        return collections[0]

    def with_ceilings(self, comparison: Comparison) -> Comparison:
        """Add the ceilings of a matrix, by measures that score its first stages as in its table."""
        if comparison.matrix is None:
            return comparison
        ceilings = {}
        for cell in self.cells:
            scores = comparison.system(cell.first_stage).scores
            ceilings[cell.first_stage] = {
                measure: ceiling
                for measure, ceiling in cell.ceiling.items()
                if measure in scores
                and isclose(scores[measure].mean, cell.first.measures.get(measure) or 0)
            }
        return replace(comparison, matrix=replace(comparison.matrix, ceilings=ceilings))


def _plain(file: Path) -> Path:
    """A run file's path by which it is known, packed or not."""
    return file.resolve().with_name(file_name(file))


def given_runs(runs: Runs, names: Names = ()) -> GivenRuns:
    """Return the runs that a caller gave, with their names; a folder has those of its last table.

    Args:
        runs: files or runs, or a mapping of name to one.
        names: a name for each; by default those of the mapping, of runs, and of files.

    Raises:
        InputError: there are not as many different names as runs, or one is no run.
    """
    names = as_names(names, "names")
    if is_results(runs := [*runs] if isinstance(runs, Iterator) else runs):
        runs = run_of(runs)
    if isinstance(runs, Mapping):
        if names:
            raise InputError("names has no effect: the runs are a mapping, which names them.")
        entries = {str(name): _run_or_path(run, str(name)) for name, run in runs.items()}
        paths = {name: Path(name) if isinstance(r, Run) else r for name, r in entries.items()}
        if folder := next(
            (r for r in entries.values() if isinstance(r, Path) and r.is_dir()), None
        ):
            raise InputError("this is a folder; a mapping gives names to single runs.", path=folder)
        ready = {paths[name]: run for name, run in entries.items() if isinstance(run, Run)}
        return GivenRuns({path: name for name, path in paths.items()}, ready)
    sources = (
        [runs] if isinstance(runs, AnyPath | Run) or not isinstance(runs, Iterable) else [*runs]
    )
    inputs = [_run_or_path(run, f"run-{place}") for place, run in enumerate(sources, start=1)]
    ready = {Path(run.name): run for run in inputs if isinstance(run, Run)}
    files = [Path(run.name) if isinstance(run, Run) else run for run in inputs]
    cells = (
        [] if len(files) > 1 or names else [c for f in files for c in matrix_cells(f) if c.reranked]
    )
    files = [f for path in files for f in ([path] if path in ready else run_files([path]))]
    return GivenRuns(name_runs(files, names), ready, cells)


def _run_or_path(run: object, name: str) -> Run | Path:
    if isinstance(run, Run):
        return run
    if isinstance(run, Path | str) or isinstance(getattr(run, FOLDER, None), Path):
        return as_path(run, "runs")
    if run is None or (not isinstance(run, Mapping | Iterable) and not is_results(run)):
        raise InputError(
            f"runs is {quoted(run)}; it must be a path, a Run, a mapping of topic to document to "
            "score, or a frame."
        )
    return run_of(run, name)


def name_runs(paths: Iterable[Path], names: Iterable[str] = ()) -> dict[Path, str]:
    """Return the names of runs by path: those given, in their order, or the files' names.

    Raises:
        InputError: there are not as many different names as runs.
    """
    paths, names = [*paths], [*names]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise InputError(f"the run {twice} is named more than once.")
    if not names:
        return names_of(paths)
    if len(names) != len(paths) or len({*names}) != len(names) or not all(map(str.strip, names)):
        raise InputError(
            f"{option('names')} gives {listing(names)} for {counted(len(paths), 'run')}: give each "
            "run a name of its own, in their order, or none."
        )
    return dict(zip(paths, names, strict=True))
