"""Submissions to shared tasks: known tasks, checks, repairs and files to upload."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.collections.topic_formats import read_topics
from irplatform.errors import InputError
from irplatform.evaluation.judgments import of_collection, of_files
from irplatform.evaluation.measure_names import is_inferred, parse_measures
from irplatform.experiment.arguments import as_path, as_paths, collection_name
from irplatform.files.reading import is_readable
from irplatform.files.writing import atomic_write, refuse_same_file, write_file
from irplatform.registry.loading import registry
from irplatform.run_folder.ir_metadata import read_head
from irplatform.runs.bioasq import holds_json
from irplatform.runs.names import read_tag_pattern
from irplatform.runs.trec import Problem
from irplatform.spelling import option
from irplatform.system.console import notice, notice_once
from irplatform.tasks.catalogue.names import find_task, known_tasks
from irplatform.tasks.catalogue.rules import NO_RULES, Rules, Task, today
from irplatform.tasks.check import (
    TaskData,
    check_submission,
    in_words,
    tied_measures,
    too_many_runs,
)
from irplatform.tasks.check_runs import RunCheck, same_tags, validate_run
from irplatform.tasks.mending import repair_answers
from irplatform.tasks.repair import diff_lines, repair_run
from irplatform.tasks.snapshots import data_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.experiment.arguments import AnyCollection, AnyPath, Collections, Paths
    from irplatform.runs.results import Order
    from irplatform.tasks.repair import Repair


def all_tasks() -> dict[str, Task]:
    """Return all known tasks by name."""
    return known_tasks(registry().tasks)


def task_of(name: str) -> Task:
    """Return a task by its name or the path of its file.

    Raises:
        InputError: there is no such task, or one of its measures is unknown.
    """
    task = find_task(name, registry().tasks)
    try:
        parse_measures(task.rules.measures or (), registry().measures, sampled=True)
    except InputError as error:
        raise InputError(f"task '{task.name}': {error.message}", path=task.path) from error
    return task


def tell_if_past(task: Task) -> None:
    """Say once that a task is over."""
    if past := task.past(today()):
        notice_once(f"{task.name} is over: {past}. A later edition may have other rules.")


def task_data(
    task: Task | None,
    *,
    collection: AnyCollection | None = None,
    documents: bool = False,
    topics: AnyPath | None = None,
    qrels: AnyPath | None = None,
) -> TaskData:
    """Read the data that a submission is checked against; see `check_runs`."""
    if documents and collection is None:
        raise InputError(f"{option('documents', True)} needs {option('collection')}.")
    if collection is not None and topics is not None:
        raise InputError(
            f"{option('topics')} and {option('collection')} both name topics; give one."
        )
    if (topics is not None or qrels is not None) and task is None:
        parameter = option("topics" if topics is not None else "qrels")
        raise InputError(f"{parameter} needs {option('task')}.")
    ids: Mapping[str, None] | None = None
    contains = judgments = None
    extra = registry().measures
    names = task.rules.measures or () if task is not None else ()
    measures = tuple(name for name in names if not is_inferred(name))
    if topics is not None and task is not None:
        if (format_name := task.rules.topic_format) is None:
            raise InputError(f"the format of the topics of {task.name} is not known.")
        read = read_topics(as_path(topics, "topics"), format_name, task.rules.query)
        ids = dict.fromkeys(topic.id for topic in read)
    name = id_ = ""
    if collection is not None:
        name = collection_name(collection)
        opened = registry().collection(name)
        id_ = opened.id
        if not (task is not None and task.form.startswith("biogen") and task.topic_ids):
            ids = dict.fromkeys(topic.id for topic in opened.load_topics())
        if documents:
            from irplatform.experiment.resources import resources_for
            from irplatform.experiment.run_settings import RunSettings

            contains = resources_for(RunSettings(name), opened).index().contains
        if measures and opened.load_qrels is not None and qrels is None:
            judgments = of_collection(opened, measures, extra)
    if qrels is not None and measures:
        judgments = of_files(as_path(qrels, "qrels"), measures, extra, usual=measures)
    return TaskData(ids, contains, judgments, name, id_)


def all_task_data(
    task: Task | None, collections: Collections | None, **options: Any
) -> list[TaskData]:
    """Read the data of one or several collections; of none, what is known without one.

    Raises:
        InputError: see `task_data`; or a task with snapshots has another number of them.
    """
    if isinstance(collections, Sequence) and not isinstance(collections, str):
        several: Sequence[AnyCollection | None] = collections or [None]
    else:
        several = [collections]
    snapshots = (task.rules.snapshots if task is not None else None) or []
    if task is not None and len(several) > 1 and len(several) != len(snapshots):
        rule = f"a collection for each of {', '.join(snapshots)}" if snapshots else "one collection"
        raise InputError(f"{task.name} takes {rule}; these are {len(several)}.")
    return [task_data(task, collection=collection, **options) for collection in several]


def check_runs(
    paths: Paths,
    *,
    task: str | None = None,
    collection: Collections | None = None,
    documents: bool = False,
    topics: AnyPath | None = None,
    qrels: AnyPath | None = None,
    max_per_topic: int | None = None,
    tag_length: int | None = None,
    tag_pattern: str | None = None,
) -> dict[str, RunCheck]:
    """Check files as the submission system of a task does; return path to problems.

    Args:
        paths: TREC runs, or answers in JSON; one that cannot be read has a problem, too.
        task: the task whose rules hold: a name, or a TOML file of one's own.
        collection: whose topics they must answer; for a task with snapshots, one for each.
        documents: look up every document in the collection's index.
        topics: the task's file of topics, in place of a collection.
        qrels: judgments, which tell how far ties can move the task's measures.
        max_per_topic: results that the task accepts per topic; without a task, 1,000.
        tag_length: characters that it accepts in a run tag; see `validate_run`.
        tag_pattern: a regular expression of the tags that it accepts.

    Raises:
        InputError: there is no such task, documents are to be looked up without a collection, or
            the pattern is wrong.

    Examples:
        >>> import irplatform as ir
        >>> ir.write_run(ir.Run("mine", {"41": ir.Ranking.of(["a", "b"], [2.0, 1.0])}), "my.run")
        >>> print(*ir.check_runs("my.run", max_per_topic=2)["my.run"].problems)
        <BLANKLINE>
    """
    paths = as_paths(paths, "paths")
    shared_task = task_of(task) if task is not None else None
    if shared_task is not None and tag_length is not None:
        raise InputError(
            f"{option('tag_length')} is a rule of the task; {option('tag_pattern')} replaces it."
        )
    if shared_task is not None:
        tell_if_past(shared_task)
    data = all_task_data(shared_task, collection, documents=documents, topics=topics, qrels=qrels)
    pattern = None if tag_pattern is None else read_tag_pattern(tag_pattern)
    overrides = {"depth": max_per_topic, "tag": pattern.pattern if pattern else None}
    changed = {name: value for name, value in overrides.items() if value is not None}
    rules = NO_RULES.model_copy(update={"depth": 1000, **changed})
    if shared_task is not None:
        shared_task = replace(shared_task, rules=shared_task.rules.model_copy(update=changed))
    checks = {}
    readable = []
    for path in paths:
        try:
            run_data = data_of(path, data)
            if shared_task is not None:
                run_check = _check(path, shared_task, run_data)
            else:
                run_check = validate_run(
                    path,
                    rules,
                    topics=run_data.topics,
                    tag_length=tag_length,
                    has_document=run_data.contains,
                )
            checks[str(path)] = run_check
            readable.append(path)
        except InputError as error:
            problem = Problem("error", error.message, error.line)
            checks[str(path)] = RunCheck([problem], unread=not is_readable(path))
    of_runs = [path for path in readable if not checks[str(path)].answers]
    warnings = {} if shared_task is not None and shared_task.rules.snapshots else same_tags(of_runs)
    if shared_task is not None and (wrong := too_many_runs(len(paths), shared_task)):
        warnings[paths[-1]] = Problem("warning", wrong)
    for path, problem in warnings.items():
        check = checks[str(path)]
        checks[str(path)] = replace(check, problems=[*check.problems, problem])
    return checks


def _check(path: Path, task: Task, data: TaskData) -> RunCheck:
    check = check_submission(path, task, topics=data.topics, has_document=data.contains)
    if check.answers or check.refused or not (measures := task.rules.measures):
        return check
    tied = tied_measures(path, check, measures, data.judgments, registry().measures)
    return replace(check, tied=tuple(in_words(tied, check)))


_USUAL = Task("", "", Rules(form="trec", depth=1000, tag=r"[A-Za-z0-9_.-]{1,20}"))
"""The usual rules of TREC."""


@dataclass(frozen=True)
class Fixed:
    """A corrected copy of a run.

    Attributes:
        path: the copy.
        repair: what was changed and left out.
        check: the check of the copy: its errors could not be repaired.
        looked_up: documents were looked up in a collection.
    """

    path: Path
    repair: Repair
    check: RunCheck
    looked_up: bool = False


def fix_run(
    path: AnyPath,
    out: AnyPath,
    *,
    task: str | None = None,
    collection: AnyCollection | None = None,
    documents: bool = False,
    topics: AnyPath | None = None,
    tag: str | None = None,
    order: Order | None = None,
    diff: AnyPath | None = None,
    force: bool = False,
) -> Fixed:
    r"""Write a corrected copy of a run, or of answers in JSON; the file itself stays as it is.

    Args:
        path: the file.
        out: the copy.
        task: the task whose rules hold; by default TREC's usual ones.
        collection: whose topics are kept.
        documents: leave out documents that the collection's index does not have.
        topics: the task's file of topics, in place of a collection.
        tag: the new run tag.
        order: what decides where scores and ranks contradict each other; by default such a file is
            refused.
        diff: a file for every changed line.
        force: replace `out` if it has other content.

    Raises:
        InputError: the file cannot be read, or `out` is the file itself or has other content.

    Examples:
        >>> import irplatform as ir, pathlib
        >>> run = "41 Q0 d7 1 1.5 my\n41 Q0 d3 2 2.5 my\n41 Q0 d7 3 0.5 my\n"
        >>> _ = pathlib.Path("my.run").write_text(run)
        >>> ir.fix_run("my.run", "fixed.run", order="scores").repair.left_out
        {'document a second time in its topic': [3]}
        >>> print(open("fixed.run").read(), end="")
        41 Q0 d3 1 2.5 my
        41 Q0 d7 2 1.5 my
    """
    path, out = as_path(path, "path"), as_path(out, "out")
    refuse_same_file(path, out)
    shared_task = task_of(task) if task is not None else None
    data = task_data(shared_task, collection=collection, documents=documents, topics=topics)
    rules = shared_task or _USUAL
    expected = rules.topic_ids if data.topics is None else data.topics
    if rules.form != "trec" and holds_json(path):
        repair = repair_answers(path, rules, topics=expected, has_document=data.contains, tag=tag)
    else:
        repair = repair_run(
            path,
            of_runs(rules),
            topics=expected,
            has_document=data.contains,
            tag=tag,
            order=order,
            keep_lines=diff is not None,
        )
        with suppress(InputError):
            if read_head(path):
                place = f"the head of {path}, from which `submit prepare` takes them"
                notice(f"{out} lacks the ir_metadata at {place}.")
    content = repair.content
    packed = gzip.compress(content, mtime=0) if out.suffix == ".gz" else content
    write_file(out, packed, force=force)
    if diff is not None:
        with atomic_write(as_path(diff, "diff")) as file:
            file.writelines(diff_lines(repair, path, out))
    check = _check(out, rules, data)
    check = replace(check, problems=[*check.problems, *repair.faults])
    return Fixed(out, repair, check, looked_up=data.contains is not None)


def of_runs(task: Task) -> Task:
    """Return a task's rules for runs; of those that answers in JSON are made from, too."""
    if task.form == "trec":
        return task
    rules = task.rules.model_copy(update={"form": "trec", "depth": None})
    return replace(task, rules=rules)
