"""The runs that a folder says it has: in `report.json`, `matrix.json` and metadata.

A folder stands for these, not for the files that happen to be there: a run that is gone is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, listing
from irplatform.runs.forms import MatrixFile, ReportFile, read_form
from irplatform.runs.metadata import RUN, SUFFIX, is_as_recorded, read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irplatform.runs.forms import MatrixCellFile

REPORT = "report.json"
MATRIX = "matrix.json"
"""The report of several first stages or collections, whose runs lie in folders below."""
_FINAL = re.compile(r".+(?<!-alone)\.run(\.gz)?")
"""Run files but for rerankers' own scores."""
_HINT = "`platform run` writes it. Make the runs again, or remove it and name run files."


@dataclass(frozen=True)
class ListedRun:
    """A run file that a report lists; it may be gone, or be another one now.

    Attributes:
        path: where it was written.
        sha256: the digest of its lines; "" if that was not recorded.
        in_table: it is a row of the table, and not another seed's or a reranker's own scores.
    """

    path: Path
    sha256: str = ""
    in_table: bool = True


def run_folders(path: Path) -> list[Path]:
    """Return the folders of a matrix, in its order; else the folder itself."""
    return [folder for _, folder in _cells(path)] or [path]


def _cells(path: Path) -> Iterator[tuple[MatrixCellFile, Path]]:
    """The cells of a matrix, with their folders, which may be gone."""
    if (path / MATRIX).exists():
        for cell in read_form(path / MATRIX, MatrixFile, _HINT).cells:
            parts = Path(cell.folder).parts  # from where the command was called
            below = [path.joinpath(*parts[-depth:]) for depth in range(1, len(parts) + 1)]
            yield cell, next(filter(Path.is_dir, below), path.joinpath(*parts[-2:]))


def listed_runs(path: Path) -> list[ListedRun]:
    """Return the runs that the report of a folder, or of a matrix, lists; none without one.

    Raises:
        InputError: a report is damaged.
    """
    found: dict[Path, ListedRun] = {}
    for cell, folder in _cells(path):
        found |= {each.path: each for each in _listed(folder)}
        for place in (folder / run.path for run in cell.runs):
            found.setdefault(place, ListedRun(place))
    return [*found.values()] or _listed(path)


def _listed(folder: Path) -> list[ListedRun]:
    if not (folder / REPORT).exists():
        return []
    report = read_form(folder / REPORT, ReportFile, _HINT)
    rows = [run.path for run in report.runs]
    names = dict.fromkeys([*rows, *(f for run in report.runs for f in run.files()), *report.files])
    return [ListedRun(folder / n, report.files.get(n, ""), n in rows) for n in names]


def described_runs(path: Path) -> list[Path]:
    """Return the runs with metadata in a folder, or a matrix's folders; some may be gone."""
    described = (f for folder in run_folders(path) for f in sorted(folder.glob(f"*{SUFFIX}")))
    runs = (file.with_name(file.name.removesuffix(SUFFIX)) for file in described)
    return [*dict.fromkeys(run_here(r) or r for r in runs if r.name.endswith((".run", ".run.gz")))]


def run_here(path: Path) -> Path | None:
    """Return a run file that is there, or has been packed since; else None."""
    packed = path.with_name(f"{path.name}.gz")
    return next((each for each in (path, packed) if each.is_file()), None)


def runs_in(folder: Path) -> list[Path]:
    """Return the run files that are in a folder."""
    return sorted([*folder.glob("*.run"), *folder.glob("*.run.gz")])


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
        runs = [run.path for run in listed_runs(path) if run.in_table]
        if not runs:
            final = [*described_runs(path), *(r for f in run_folders(path) for r in runs_in(f))]
            runs = sorted({run for run in final if _FINAL.fullmatch(run.name)})
        if not runs:
            raise InputError("there are no run files (*.run) in this folder.", path=path)
        if gone := [run for run in runs if run_here(run) is None]:
            raise InputError(
                f"{gone_told(gone, path)}. Without it table and p-values would be others. Put it "
                "back, make it again with `platform rerun`, or name the run files that you want.",
                path=path,
            )
        files += [here for run in runs if (here := run_here(run))]
    return files


def gone_told(gone: Sequence[Path], folder: Path) -> str:
    """Return which runs of a folder are gone, and what they are called now if that is known."""
    recorded = {run.path: run.sha256 for run in listed_runs(folder)}
    lists = "report lists" if gone[0] in recorded else "metadata describe"
    names = {run: str(run.relative_to(folder)) for run in gone}
    now = {run: moved_to(run, recorded.get(run, "")) for run in gone}
    told = "".join(
        f"; {file.name} has the content of {names[r]}" for r, file in now.items() if file
    )
    return f"{listing(names.values())}, which its {lists}, is not here any more{told}"


def moved_to(run: Path, sha256: str = "") -> Path | None:
    """Return the file in the folder of a missing run that has its content; None without any.

    Args:
        run: where it was.
        sha256: the digest of its lines, if not that of its metadata.
    """
    sha256 = sha256 or read_metadata(run).get(RUN, {}).get("sha256", "")
    found = (each for each in runs_in(run.parent) if sha256 and is_as_recorded(each, sha256))
    return next(found, None)


@dataclass(frozen=True)
class MatrixCell:
    """A cell of a matrix that was run.

    Attributes:
        collection: the collection's id.
        first_stage: the row.
        found: the run of the first stage.
        reranked: the runs of the rerankers.
        means: measure name to mean of the first stage.
        ceiling: measure name to the score of a perfect reranking.
    """

    collection: str
    first_stage: str
    found: Path
    reranked: Sequence[Path]
    means: Mapping[str, float | None]
    ceiling: Mapping[str, float]


def read_matrix(path: Path) -> list[MatrixCell]:
    """Return the cells of a folder that `platform run` filled for several first stages; else none.

    Cells without rerankers are left out. The runs are those of `run_files`, which are there.
    """
    found = []
    for cell, folder in _cells(path):
        runs = {run.name: run for run in cell.runs}
        first = runs[cell.baseline]
        reranked = [run for run in cell.runs if run.interpolation is not None]
        paths = [run_here(folder / run.path) or folder / run.path for run in (first, *reranked)]
        if reranked:
            means = first.measures, cell.ceiling
            found.append(MatrixCell(cell.collection, cell.first_stage, paths[0], paths[1:], *means))
    return found
