"""Runs that a caller gives: files, folders or runs in memory, each with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from irplatform.errors import InputError, counted, listing
from irplatform.experiment.arguments import AnyPath, Names, as_names, as_path
from irplatform.runs import Run
from irplatform.runs.folder import run_files
from irplatform.runs.names import names_of

AnyRun: TypeAlias = AnyPath | Run
Runs: TypeAlias = AnyRun | Iterable[AnyRun] | Mapping[str, AnyRun]
"""Files, folders of runs, and runs in memory; a mapping gives each a name."""


@dataclass(frozen=True)
class GivenRuns:
    """Runs by path; those in memory have their name for a path.

    Attributes:
        names: path to name.
        ready: the runs that need no reading.
    """

    names: Mapping[Path, str]
    ready: Mapping[Path, Run]


def given_runs(runs: Runs, names: Names = ()) -> GivenRuns:
    """Return the runs that a caller gave, with their names; a folder has those of its last table.

    Args:
        runs: files or runs, or a mapping of name to one.
        names: a name for each; by default those of the mapping, of runs, and of files.

    Raises:
        InputError: there are not as many different names as runs, or one is no run.
    """
    names = as_names(names, "names")
    if isinstance(runs, Mapping):
        if names:
            raise InputError("names has no effect: the runs are a mapping, which names them.")
        named = dict(runs)
        paths = {
            name: Path(name) if isinstance(r, Run) else as_path(r, "runs")
            for name, r in named.items()
        }
        ready = {paths[name]: run for name, run in named.items() if isinstance(run, Run)}
        return GivenRuns({path: name for name, path in paths.items()}, ready)
    each = [runs] if isinstance(runs, AnyPath | Run) or not isinstance(runs, Iterable) else [*runs]
    ready = {Path(run.name): run for run in each if isinstance(run, Run)}
    files = [Path(r.name) if isinstance(r, Run) else as_path(r, "runs") for r in each]
    files = [f for path in files for f in ([path] if path in ready else run_files([path]))]
    return GivenRuns(name_runs(files, names), ready)


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
            f"--name gives {listing(names)} for {counted(len(paths), 'run')}: give each run a name "
            "of its own, in their order, or none."
        )
    return dict(zip(paths, names, strict=True))
