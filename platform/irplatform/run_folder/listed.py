"""The runs that a folder says it has: in `report.json`, `matrix.json` and metadata.

A folder stands for these, not for the files that happen to be there: a run that is gone is told.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, model_validator

from irplatform.errors import InputError, listing
from irplatform.run_folder.forms import read_form
from irplatform.run_folder.metadata_files import SUFFIX, is_as_recorded, read_metadata
from irplatform.run_folder.published import published_digests
from irplatform.runs.names import alone_name, file_beside, file_name, other_form, run_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REPORT = "report.json"
MATRIX = "matrix.json"
"""The report of several first stages or collections, whose runs lie in folders below."""
_ENDINGS = (run_file(""), run_file("", compressed=True))
_FINAL = re.compile(r".+(?<!-alone)\.run(\.gz)?")
"""Run files but for rerankers' own scores."""
_HINT = "`platform run` writes it. Make the runs again, or remove it and name run files."


class _Seed(BaseModel):
    """A run file; its path is given from where the command was called."""

    path: Path


class _Run(_Seed):
    name: str = ""
    measures: dict[str, float | None] = {}
    measures_alone: dict[str, float | None] | None = None
    interpolation: float | None = None
    seeds: list[_Seed] = []

    def files(self) -> list[str]:
        """The names of its run files: of all seeds, and of a reranker by itself."""
        files = [*dict.fromkeys(result.path for result in (self, *self.seeds))]
        if self.measures_alone is not None:
            files += [file_beside(path, alone_name(file_name(path))) for path in files]
        return [path.name for path in files]


class _Report(BaseModel):
    runs: list[_Run]
    files: dict[str, str] = {}


class MatrixCell(BaseModel):
    """A cell of a matrix: a first stage and what rerankers made of it.

    `folder` is where its runs are now, and `ceiling` has the scores of a perfect reranking.
    """

    collection: str
    first_stage: str
    baseline: str
    folder: Path
    runs: list[_Run]
    ceiling: dict[str, float] = {}

    @model_validator(mode="after")
    def _has_its_baseline(self) -> Self:
        if self.baseline not in {run.name for run in self.runs}:
            raise ValueError("its baseline is not among its runs")
        return self

    @property
    def first(self) -> _Run:
        """The first stage, with its scores."""
        return next(run for run in self.runs if run.name == self.baseline)

    @property
    def reranked(self) -> list[_Run]:
        """The rerankers."""
        return [run for run in self.runs if run.interpolation is not None]

    def file(self, run: _Run) -> Path:
        """The file of a run, packed or not."""
        return current_path(self.folder / run.path.name)


class _Matrix(BaseModel):
    cells: list[MatrixCell]


def matrix_cells(path: Path) -> list[MatrixCell]:
    """Return the cells of a matrix of several first stages or collections; else none."""
    cells = read_form(path / MATRIX, _Matrix, _HINT).cells if (path / MATRIX).exists() else []
    for cell in cells:
        parts = cell.folder.parts  # from where the command was called
        below = (path.joinpath(*parts[-depth:]) for depth in range(1, len(parts) + 1))
        cell.folder = next(filter(Path.is_dir, below), path.joinpath(*parts[-2:]))
    return cells


def run_folders(path: Path) -> list[Path]:
    """Return the folders of a matrix, in its order; else the folder itself."""
    return [cell.folder for cell in matrix_cells(path)] or [path]


def listed_runs(path: Path, *, in_table: bool = False) -> dict[Path, str]:
    """Return the runs that the report of a folder, or a matrix, lists, with their SHA-256 or "".

    Some may be gone. `in_table` leaves out what is no row of a table: own scores, further seeds.
    """
    digests: dict[Path, str] = {}
    cells = matrix_cells(path)
    for folder in [cell.folder for cell in cells] or [path]:
        if (folder / REPORT).exists():
            report = read_form(folder / REPORT, _Report, _HINT)
            names = [run.path.name for run in report.runs]
            if not in_table:
                names += [*(file for run in report.runs for file in run.files()), *report.files]
            digests |= {current_path(folder / name): report.files.get(name, "") for name in names}
    return digests | {f: digests.get(f, "") for cell in cells for f in map(cell.file, cell.runs)}


def current_path(run: Path) -> Path:
    """Return where a run file is now: it may have been packed, or unpacked."""
    other = other_form(run)
    return other if other.is_file() and not run.is_file() else run


def described_runs(path: Path) -> list[Path]:
    """Return the runs with metadata in a folder, or a matrix's folders; some may be gone."""
    described = (f for folder in run_folders(path) for f in sorted(folder.glob(f"*{SUFFIX}")))
    runs = (file.with_name(file.name.removesuffix(SUFFIX)) for file in described)
    return [*dict.fromkeys(current_path(run) for run in runs if run.name.endswith(_ENDINGS))]


def runs_in(path: Path) -> list[Path]:
    """Return the run files that are in a folder, or in a matrix's folders."""
    return [run for folder in run_folders(path) for run in runs_of_folder(folder)]


def runs_of_folder(folder: Path) -> list[Path]:
    """Return the run files that are in a folder itself."""
    return sorted(run for ending in _ENDINGS for run in folder.glob(f"*{ending}"))


def run_files(paths: Iterable[Path]) -> list[Path]:
    """Return run files; a folder stands for the runs of its last table, or else for all final runs.

    A folder of a matrix stands for the runs of all its cells.

    Raises:
        InputError: a folder has no runs, or one of those that it stands for is gone.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        candidates = {*runs_in(path), *described_runs(path)}
        final = sorted(run for run in candidates if _FINAL.fullmatch(run.name))
        published = published_digests(path, alone=False)
        runs = [*listed_runs(path, in_table=True), *published] or final
        if not runs:
            raise InputError("there are no run files (*.run) in this folder.", path=path)
        if gone := [run for run in runs if not run.is_file()]:
            raise InputError(
                f"{gone_told(gone, path)}. Without it table and p-values would be others. Put it "
                "back, make it again with `platform rerun`, or name the run files that you want.",
                path=path,
            )
        files += runs
    return files


def gone_told(gone: Sequence[Path], folder: Path) -> str:
    """Return which runs of a folder are gone, and what they are called now if that is known."""
    names = {run: str(run.relative_to(folder)) for run in gone}
    moved = [(now.name, names[run]) for run in gone if (now := moved_to(run, folder))]
    moves = "".join(f"; {now} has the content of {name}" for now, name in moved)
    return f"{listing(names.values())}, which it lists, is not here any more{moves}"


def moved_to(run: Path, folder: Path) -> Path | None:
    """Return the file in the folder of a missing run that has its content; None without any."""
    recorded = listed_runs(folder).get(run) or read_metadata(run).run.sha256
    same = (
        candidate
        for candidate in runs_in(run.parent)
        if recorded and is_as_recorded(candidate, recorded)
    )
    return next(same, None)
