"""A matrix: several collections and first stages, each reranked by the same rerankers.

Each cell is a run of its own, in `RUN_DIR/<collection>/<first stage>`, made and resumed as any
other. All cells are planned, and their folders looked at, before the first one starts.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.evaluation.judgments import measures_of
from irplatform.experiment.experiment_file import read_experiment
from irplatform.experiment.plan import RunPlan, plan_run, planned_runs
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import registrations_of
from irplatform.experiment.topics import topics_folder
from irplatform.files.writing import write_json
from irplatform.options import option_values
from irplatform.reports.matrix import Cell, MatrixReport
from irplatform.retrieval.first_stage import FirstStage, short_names
from irplatform.retrieval.fusion import AUTO
from irplatform.run_folder.listed import MATRIX
from irplatform.spelling import option
from irplatform.system.console import (
    place,
    section,
    sections,
    waiting,
    with_subject,
    without_repeats,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from irplatform.experiment.recorder import Recorder
    from irplatform.registry.lookup import Registry
    from irplatform.reports.run_report import RunReport

_TOLD_ONCE = ("WARNING", "no results", "left out")
"""Parts of notices that are the same in all cells."""
RUN_DIR = Path("runs") / "matrix"
"""The default folder."""


@dataclass(frozen=True)
class _Planned:
    """A cell before it runs; `stage` is its name in the table."""

    stage: str
    plan: RunPlan
    recorder: Recorder


def run_matrix(
    settings: RunSettings,
    plugins: Registry,
    recorder_of: Callable[[RunPlan], Recorder],
    carry_out: Callable[[RunPlan, Recorder], RunReport],
) -> MatrixReport:
    """Run all cells, and write their reports together.

    Args:
        settings: those of the matrix.
        plugins: where names are looked up.
        recorder_of: makes the recorder of a plan's runs.
        carry_out: ranks and records a plan.

    Raises:
        InputError: a wrong name, option or file of any cell, before the first one runs.
    """
    folder = settings.run_dir or RUN_DIR
    with without_repeats(), naming_experiment(settings, plugins):
        planned = [*_planned(settings, plugins, folder, recorder_of)]
    (folder / MATRIX).unlink(missing_ok=True)  # it is about an earlier matrix
    cells = []
    with sections(len(planned)), without_repeats(*_TOLD_ONCE):
        for number, cell in enumerate(planned):
            collection = cell.plan.collection.id
            subject = cell.stage if not settings.collections else f"{collection}, {cell.stage}"
            with section(), with_subject(subject), place("cell", number, len(planned)):
                report = carry_out(cell.plan, cell.recorder)
            cells.append(Cell(collection, cell.stage, cell.plan.run_dir, report))
    matrix = MatrixReport(folder, tuple(settings.labels), cells)
    write_json(folder / MATRIX, matrix.as_json())
    return matrix


def _planned(
    settings: RunSettings,
    plugins: Registry,
    folder: Path,
    recorder_of: Callable[[RunPlan], Recorder],
) -> Iterator[_Planned]:
    """Plan all cells; InputError if one cannot run, or its folder has other runs."""
    for name, plan in planned_cells(settings, plugins, folder):
        recorder = recorder_of(plan)
        recorder.plan(planned_runs(plan, recorder.data), force=settings.force)
        yield _Planned(name, plan, recorder)


def planned_cells(
    settings: RunSettings, plugins: Registry, folder: Path
) -> Iterator[tuple[str, RunPlan]]:
    """Yield the plans of all cells, each with a folder of its own, by names of first stages.

    Raises:
        InputError: a cell cannot run, or two collections have the same name.
    """
    owners: dict[Path, str] = {}
    for collection in settings.collections or (settings.collection,):
        with waiting(f"reading {collection}"):
            for name, cell in cell_settings(settings, plugins, collection):
                plan = plan_run(cell, plugins)
                path = folder / plan.collection.id
                if settings.topics:
                    path /= topics_folder(settings.topics)
                plan = replace(plan, settings=replace(plan.settings, run_dir=path / name))
                if (other := owners.setdefault(plan.run_dir, collection)) != collection:
                    raise InputError(
                        f"'{other}' and '{collection}' have the same name, {plan.collection.id}: "
                        "their runs would lie in one folder. Run them one after the other, each "
                        f"with its {option('run_dir')}."
                    )
                yield name, plan


@contextmanager
def naming_experiment(settings: RunSettings, plugins: Registry) -> Iterator[None]:
    """Let errors of a plan name the experiment's file, if its own settings have the same error."""
    try:
        yield
    except InputError as error:
        path = settings.experiment
        if path is None or error.path is not None or error.message != _error_of(path, plugins):
            raise
        raise InputError(error.message, path=path) from error


def _error_of(experiment: Path, plugins: Registry) -> str:
    """The error that a file has without the options of the command line; "" for none."""
    of_file = RunSettings(**read_experiment(experiment))
    try:
        for collection in of_file.collections or (of_file.collection,):
            for _, cell in cell_settings(of_file, plugins, collection):
                plan = plan_run(cell, plugins)
                measures_of(plan.collection, cell.measures, plugins.measures, plan.qrels)
    except InputError as error:
        return error.message
    return ""


def cell_settings(
    settings: RunSettings, plugins: Registry, collection: str
) -> Iterator[tuple[str, RunSettings]]:
    """Yield the settings of a collection's cells, with the names of their first stages.

    A cell has those options of systems that one of its systems takes; an option that no cell takes
    is left in all, so that it is refused.
    """
    first_stages = settings.stages
    keys = [_option_names(settings, plugins, first_stage) for first_stage in first_stages]
    taken_somewhere = set().union(*keys)
    expands = [
        any("expand" in plugins.retriever(name).option_names() for name in first_stage.retrievers)
        for first_stage in first_stages
    ]
    cells = zip(short_names(first_stages), first_stages, keys, expands, strict=True)
    for name, first_stage, stage_keys, can_expand in cells:
        fuses = len(first_stage.retrievers) > 1
        changed: dict[str, Any] = {
            "collection": collection,
            "collections": (),
            "first_stages": (first_stage.name,),
            "settings": {
                key: value
                for key, value in settings.settings.items()
                if key in stage_keys or key not in taken_somewhere
            },
        }
        if not fuses and any(len(other.retrievers) > 1 for other in first_stages):
            changed["fusion"] = AUTO
            if not settings.rerankers:
                changed |= {"train_on": (), "train_topics": None}
        if not can_expand and any(expands):
            changed |= {"expand": (), "query_plan": None}
        yield name, replace(settings, **changed)


def _option_names(settings: RunSettings, plugins: Registry, first_stage: FirstStage) -> set[str]:
    """The options that the systems of a cell take."""
    systems = registrations_of(plugins, first_stage.retrievers, settings.rerankers)
    return set().union(*(option_values(system, settings.settings)[0] for system in systems))
