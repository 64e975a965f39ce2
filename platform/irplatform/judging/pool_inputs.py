"""What is pooled: runs in any form, and the judgments that there are already."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted
from irplatform.experiment.arguments import FOLDER, as_path, as_qrels
from irplatform.files.digests import digest
from irplatform.files.reading import readable_again
from irplatform.judging.formats import judgments_by
from irplatform.judging.judgments import ADJUDICATED, PERSON, Judgment, Source
from irplatform.judging.sources import gather
from irplatform.run_folder.listed import run_files
from irplatform.runs import read_run
from irplatform.runs.bioasq import holds_json
from irplatform.runs.content import read_content
from irplatform.runs.in_memory import is_results, run_of
from irplatform.runs.names import names_of
from irplatform.runs.run import Run
from irplatform.runs.trec import run_lines, run_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.experiment.arguments import AnyQrels
    from irplatform.judging.pool_methods.candidates import Candidates


def named_runs(runs: Any) -> dict[str, Run]:
    """Return runs by name: those of files, folders and memory, or of a mapping of name to run.

    Raises:
        InputError: there are none, one comes twice, or one is no run.
    """
    if isinstance(runs, Mapping) and not is_results(runs):
        return {str(name): _read(run, str(name)).renamed(str(name)) for name, run in runs.items()}
    one = isinstance(runs, Path | str | Run) or is_results(runs) or not isinstance(runs, Iterable)
    given: list[Any] = []
    for run in [runs] if one else runs:
        given += run_files([as_path(run, "runs")]) if _is_path(run) else [run]
    if not given:
        raise InputError("name at least one run to pool.")
    paths = [run for run in given if isinstance(run, Path)]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise InputError(f"the run {twice} is named more than once.")
    names = names_of(paths)
    named: dict[str, Run] = {}
    for place, each in enumerate(given, start=1):
        run = _read(each, f"run-{place}")
        name = names[each] if isinstance(each, Path) else run.name
        if name in named:
            raise InputError(f"two runs are called '{name}': give a mapping of name to run.")
        named[name] = run
    return named


def _is_path(run: object) -> bool:
    return isinstance(run, Path | str) or isinstance(getattr(run, FOLDER, None), Path)


def _read(run: Any, name: str) -> Run:
    return read_run(as_path(run, "runs")) if _is_path(run) else run_of(run, name)


def run_digest(run: Run) -> str:
    """Return the SHA-256 of a run's file, or of the lines that it would have."""
    if run.path is not None:
        return digest(readable_again(run.path))
    content = hashlib.sha256()
    for topic, ranking in run.rankings.items():
        content.update(run_lines(topic, run_rows(ranking), ""))
    return content.hexdigest()


def rank_fault(path: Path) -> str:
    """Return what to tell of a rank column that contradicts the scores; "" of one that does not."""
    problems = [] if holds_json(path) else read_content(path).rank_problems
    if not problems:
        return ""
    return (
        f"{path}: its ranks contradict its scores in {counted(len(problems), 'topic')}; pooled is "
        f"by score, and among equals by id, as it is scored. Line {problems[0].line}: "
        f"{problems[0].message}"
    )


def judgments_known(judged: AnyQrels | None) -> list[Judgment]:
    """Return the judgments of a file, a pool or memory; those without a source are a person's.

    Raises:
        InputError: the file cannot be read, or a grade is not a whole number.
    """
    given = as_qrels(judged)
    if isinstance(given, Path):
        return [*gather([given], Source(PERSON, given.name)).judgments]
    return judgments_by(Source(PERSON, "earlier"), given or {})


def grades_of(judgments: Iterable[Judgment]) -> dict[str, dict[str, float | None]]:
    """Return topic to document to grade: a settled one, else of a person, and the latest."""

    def weight(judgment: Judgment) -> tuple[bool, bool, str]:
        source = judgment.source
        return source.version == ADJUDICATED, source.kind == PERSON, judgment.time

    grades: dict[str, dict[str, float | None]] = {}
    for each in sorted(judgments, key=weight):
        grades.setdefault(each.topic, {})[each.document] = each.grade
    return grades


def pooled_judgments(judgments: Sequence[Judgment], topics: Sequence[Candidates]) -> list[Judgment]:
    """Return the judgments of documents that can be pooled, in a fixed order."""
    known = {topic.topic: {*topic.judged_ids} for topic in topics} if judgments else {}
    kept = (each for each in judgments if each.document in known.get(each.topic, ()))
    return sorted(kept, key=lambda each: (each.topic, each.document, each.source, each.time))
