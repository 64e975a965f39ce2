"""Folders to upload to a shared task: runs in its form, metadata, checksums and descriptions."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted
from irplatform.experiment.arguments import as_path, as_paths
from irplatform.files.writing import atomic_folder
from irplatform.run_folder.campaigns import describe_run_file, known_facts
from irplatform.run_folder.ir_metadata import (
    FILE_NAME,
    lacking,
    read_head,
    values_at,
    write_ir_metadata,
)
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.runs.bioasq import answers, read_questions
from irplatform.runs.trec import COMMENT, read_run
from irplatform.spelling import command, option
from irplatform.tasks.check import check_submission, too_many_runs
from irplatform.tasks.entries import read_answers
from irplatform.tasks.mending import canonical
from irplatform.tasks.repair import repair_run
from irplatform.tasks.snapshots import place
from irplatform.tasks.submissions import all_task_data, of_runs, task_of, tell_if_past

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.experiment.arguments import AnyPath, Collections, Paths
    from irplatform.tasks.catalogue.rules import Task
    from irplatform.tasks.check_runs import RunCheck

CHECKSUMS = "SHA256SUMS"
DESCRIPTIONS = "runs.md"
_LIBRARIES = ("irplatform", "torch", "transformers", "lightgbm", "numpy")
_NO_OPTIONS = {
    *("name", "retriever", "reranker", "method", "reranks", "interpolates", "fuses"),
    *("lexical", "deep_neural_model", "sparse_neural_model", "single_stage_retrieval"),
}
"""Keys of a step that are not options of its system."""


@dataclass(frozen=True)
class Described:
    """A run to describe.

    Attributes:
        heading: the heading of its section.
        file: the name of its file.
        check: the check of this file.
        metadata: its ir_metadata; None if it has none.
        digest: the SHA-256 of the file.
    """

    heading: str
    file: str
    check: RunCheck
    metadata: Mapping[str, Any] | None
    digest: str


@dataclass(frozen=True)
class _Run:
    """A run to upload: its tag, snapshot, content, check and metadata."""

    tag: str
    snapshot: str
    content: bytes
    check: RunCheck
    metadata: Mapping[str, Any] | None


def prepare_runs(
    paths: Paths,
    out: AnyPath,
    *,
    task: str,
    collection: Collections | None = None,
    documents: bool = False,
    topics: AnyPath | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write runs to a new folder in the form of a task, ready to upload.

    Beside them are their `ir-metadata.yml`, `SHA256SUMS`, and `runs.md`, which describes each run
    from its metadata. A task with snapshots takes a run for each, in any order if their metadata,
    folders or collections tell the snapshots, else in their order.

    Args:
        paths: TREC runs, or answers in JSON. For BioASQ, answers are made of runs.
        out: the folder.
        task: the task.
        collection: whose topics they must answer; for a task with snapshots, one for each.
        documents: look up every document in the collection's index.
        topics: the task's file of topics, in place of a collection.
        force: replace a folder that was prepared before.

    Returns:
        `path`, and `files` in it.

    Raises:
        InputError: a run would be refused, there are more runs than the task takes, two have the
            same tag, a fact that the task asks for is not known, or the folder exists.

    Examples:
        >>> import irplatform as ir
        >>> ranking = ir.Ranking.of(["NCT00000001"], [1.0])
        >>> ir.write_run(ir.Run("us1", {str(n): ranking for n in range(1, 76)}), "us1.run")
        >>> ir.prepare_runs("us1.run", "upload", task="trec-ct-2021")["files"]
        ['us1', 'runs.md', 'SHA256SUMS']
    """
    paths = as_paths(paths, "paths")
    out = as_path(out, "out")
    shared_task = task_of(task)
    tell_if_past(shared_task)
    data = all_task_data(shared_task, collection, documents=documents, topics=topics)
    snapshots = shared_task.rules.snapshots or []
    if wrong := too_many_runs(len(paths), shared_task):
        raise InputError(wrong)
    runs = []
    facts = known_facts()
    placed = place(paths, snapshots, data) if snapshots else [(p, "", data[0]) for p in paths]
    for path, snapshot, run_data in placed:
        check = check_submission(
            path, shared_task, topics=run_data.topics, has_document=run_data.contains
        )
        if not check.answers and read_head(path):  # which a copy lacks
            check = replace(
                check, problems=[p for p in check.problems if not p.message.startswith(COMMENT)]
            )
        _refuse(path, check, shared_task)
        is_run = not check.answers
        if is_run and shared_task.form != "trec":
            content = _from_run(path, shared_task, topics)
        elif is_run:
            content = repair_run(path, of_runs(shared_task)).content
        else:
            answers = read_answers(path, shared_task.form)
            values = [entry.value for entry in answers.entries]
            content = canonical(answers.head, values, shared_task.form)
        metadata: Mapping[str, Any] | None = None
        if is_run and (shared_task.rules.metadata or read_metadata(path)):
            metadata = describe_run_file(path, facts, snapshots)
        tag = check.tag or path.stem
        runs.append(_Run(tag, snapshot, content, check, metadata))
    tags = [(run.tag, run.snapshot) for run in runs]
    if twice := next((tag for tag, snapshot in tags if tags.count((tag, snapshot)) > 1), None):
        raise InputError(f"two runs have the tag '{twice}'; the task tells runs apart by it.")
    if shared_task.rules.metadata and (missing := lacking(runs[-1].metadata or {})):
        commands = " and ".join(f"`platform config set {name} VALUE`" for name in missing)
        raise InputError(f"the task also asks for your {' and '.join(missing)}: {commands}.")
    replaces = (out / CHECKSUMS).is_file() and (out / DESCRIPTIONS).is_file()
    if replaces and not force:
        raise InputError(
            f"runs were prepared here before. Name another {option('out')}, or replace it with "
            f"{option('force', True)}.",
            path=out,
        )
    return _write(runs, out, shared_task, facts, replaces=replaces)


def _refuse(path: Path, check: RunCheck, task: Task) -> None:
    """Refuse a run with errors, and name the first."""
    errors = [problem for problem in check.problems if problem.level == "error"]
    if errors:
        more = f" {counted(len(errors) - 1, 'more error')}." if len(errors) > 1 else ""
        raise InputError(
            f"{errors[0].message}{more} `platform submit check` lists all, "
            f"{command(f'submit fix {path}', '-o OUT', task=task.name)} repairs what can be "
            "repaired.",
            path=path,
            line=errors[0].line,
        )


def _from_run(path: Path, task: Task, topics: AnyPath | None) -> bytes:
    """Answers in the task's form, made of a run."""
    if task.form != "bioasq":
        raise InputError(f"{task.name} takes answers in JSON, not a run.", path=path)
    if topics is None:
        raise InputError(f"{task.name}: name the file of questions with {option('topics')}.")
    rankings = read_run(path).rankings
    questions = read_questions(as_path(topics, "topics"))
    return answers(
        [
            (question, rankings[question.id].doc_ids if question.id in rankings else ())
            for question in questions
        ]
    )


def _write(
    runs: Sequence[_Run], out: Path, task: Task, facts: Mapping[str, str], *, replaces: bool
) -> dict[str, Any]:
    template = task.rules.file or "{tag}"
    if "{team}" in template and "team" not in facts:
        raise InputError("the file names the team: `platform config set team VALUE`.")
    files: list[str] = []
    described_runs = []
    about: dict[str, Any] | None = None
    names = _file_names(template, runs, facts)
    with atomic_folder(out, replaces=replaces) as folder:
        for run, name in zip(runs, names, strict=True):
            content = run.content
            if name.endswith(".gz"):
                content = gzip.compress(content, mtime=0)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            files.append(name)
            about = dict(run.metadata) if run.metadata else None
            if about is not None and "run" in about:
                sha256 = hashlib.sha256(run.content).hexdigest()
                about["run"] = {"file": name, "sha256": sha256}
            digest = hashlib.sha256(content).hexdigest()
            heading = ", ".join(filter(None, (run.tag, run.snapshot)))
            described_runs.append(Described(heading, name, run.check, about, digest))
            beside = f"{run.tag}.{FILE_NAME}"
            if about is not None and not task.rules.metadata and beside not in files:
                files.append(beside)
                write_ir_metadata(about, folder / beside)
        if task.rules.metadata and about is not None:
            files.append(FILE_NAME)
            write_ir_metadata(about, folder / FILE_NAME)
        (folder / DESCRIPTIONS).write_text(describe_runs(task, described_runs), encoding="utf-8")
        files.append(DESCRIPTIONS)
        sums = [(hashlib.sha256((folder / n).read_bytes()).hexdigest(), n) for n in files]
        lines = "".join(f"{digest}  {name}\n" for digest, name in sums)
        (folder / CHECKSUMS).write_text(lines, encoding="utf-8")
    return {"path": str(out), "files": [*files, CHECKSUMS]}


def _file_names(template: str, runs: Sequence[_Run], facts: Mapping[str, str]) -> list[str]:
    """The names of the files; runs whose files the task calls alike get folders of their own."""
    team = facts.get("team", "")
    names = [template.format(tag=run.tag, team=team, snapshot=run.snapshot) for run in runs]
    if len({*names}) < len(names):
        names = [f"{run.tag}/{name}" for run, name in zip(runs, names, strict=True)]
    if outside := next((n for n in names if n.startswith("/") or ".." in n.split("/")), ""):
        raise InputError(
            f"the file '{outside}' would lie outside of the folder. Rename the run's tag."
        )
    return names


def describe_runs(task: Task, runs: Sequence[Described]) -> str:
    """Describe the runs of a task in Markdown, a section for each."""
    sections = [f"# Runs for {task.title}\n"]
    sections += ["\n".join([f"## {run.heading}\n", *_section(run)]) for run in runs]
    return "\n".join(sections)


def _section(run: Described) -> Iterator[str]:
    content = run.metadata
    descriptions = [] if content is None else values_at(content, "method.description")
    descriptions += [] if content is None else values_at(content, "research goal.description")
    yield next(
        (f"{text}\n" for text in descriptions if text),
        "How this run was made is not recorded. Describe it here.\n",
    )
    rows = [("file", f"`{run.file}`"), ("answers", run.check.counts)]
    rows += _facts(content) if content is not None else []
    rows.append(("SHA-256", f"`{run.digest}`"))
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {_cell(value)} |" for name, value in rows)
    yield ""


def _facts(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    (automatic,) = values_at(content, "method.automatic")[:1]
    yield "type", "automatic" if str(automatic).lower() == "true" else "manual"
    steps = values_at(content, "method.retrieval")[0]
    for step in steps if isinstance(steps, list) else [steps]:
        if isinstance(step, dict):
            kind = next((kind for kind in ("retriever", "reranker") if kind in step), "step")
            options = ", ".join(f"{k} {value}" for k, value in step.items() if k not in _NO_OPTIONS)
            yield kind, str(step.get("name")) + (f" ({options})" if options else "")
    yield "collection", _name(values_at(content, "data.test collection")[0])
    yield "training data", _name(values_at(content, "data.training data")[0])
    packages = values_at(content, "platform.software.libraries")[0]
    entries = [str(entry) for entry in packages] if isinstance(packages, list) else []
    libraries = dict(entry.split("==", 1) for entry in entries if "==" in entry)
    versions = [f"{name} {libraries[name]}" for name in _LIBRARIES if name in libraries]
    python = [f"Python {libraries['python']}"] if "python" in libraries else []
    yield "software", ", ".join(python + versions) or ", ".join(entries) or "unknown"
    if commit := values_at(content, "implementation.source.commit")[0]:
        yield "commit", f"`{commit}`"
    if command := values_at(content, "implementation.executable.cmd")[0]:
        yield "command", f"`{command}`"
    if date := content.get("date"):
        yield "made", str(date)


def _name(part: Any) -> str:
    if isinstance(part, list):
        return ", ".join(map(_name, part)) or "none"
    return str(part.get("name", "unknown")) if isinstance(part, dict) else str(part or "unknown")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
