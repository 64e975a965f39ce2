"""Runs that exist already: scored, checked, and compared between sources of judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from irplatform.data import Collection
from irplatform.errors import InputError, counted, listing
from irplatform.evaluation.agreement import Agreement, agreement, indistinct, read_sources
from irplatform.evaluation.judgments import Judgments, of_collection, of_files
from irplatform.evaluation.sampled import topics_of
from irplatform.evaluation.scoring import evaluate as evaluate_run
from irplatform.evaluation.topics import TopicFilter, only, without
from irplatform.experiment.arguments import as_names, as_path, as_paths, collection_name
from irplatform.experiment.given_runs import given_runs
from irplatform.experiment.settings import RunSettings, resources_for
from irplatform.experiment.topics import of_quick_looks, topics_asked
from irplatform.registry.loading import registry
from irplatform.reports.evaluations import Evaluations
from irplatform.runs import Problem, read_run, validate_run
from irplatform.runs.bioasq import MOST_DOCUMENTS, Question, answers
from irplatform.runs.checks import RunCheck, read_tag_pattern, same_tags
from irplatform.system.console import notice, waiting
from irplatform.system.writing import atomic_write, same_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from irplatform.data import Topic
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnyQrels, Names, Paths
    from irplatform.experiment.given_runs import GivenRuns, Runs
    from irplatform.runs import Run


def evaluate(
    runs: Runs,
    *,
    collection: AnyCollection | None = None,
    qrels: AnyQrels | None = None,
    sampled_qrels: AnyPath | None = None,
    measures: Names = (),
    names: Names = (),
    topics: TopicFilter | None = None,
    trec_eval: int = 10,
) -> Evaluations:
    """Score runs.

    Args:
        runs: TREC runs, folders of `platform run` or `Run` objects, or a mapping of name to one.
        collection: whose judgments and measures to use.
        qrels: a file of judgments, in place of a collection, ordinary or sampled; or a mapping of
            topic to document to grade.
        sampled_qrels: a file of sampled judgments, beside the others or alone.
        measures: names; by default the collection's, or the usual ones.
        names: a name for each run, in their order; by default the files' names.
        topics: the judged topics that count; by default all.
        trec_eval: the release to agree with, 10 or 9.

    Returns:
        Name to evaluation, with means and values of topics; it shows itself as a table.

    Raises:
        InputError: a bad name or file, no judgments, or none of a run's topics is judged.

    Examples:
        >>> import irplatform as ir
        >>> run = ir.Run("mine", {"1": ir.Ranking.of(["a", "b"], [2.0, 1.0])})
        >>> ir.evaluate(run, qrels={"1": {"b": 1}}, measures=["RR", "P@1"])["mine"].aggregate
        {'RR': 0.5, 'P@1': 0.0}
    """
    given = given_runs(runs, names)
    judged = read_judged_runs(
        given, collection, qrels, sampled_qrels=sampled_qrels, measures=measures, topics=topics
    )
    for note in judged.notes:
        notice(note)
    judgments = judged.judgments
    evaluations = {}
    for path, run in judged.runs.items():
        with waiting(f"scoring {path}"):
            evaluations[given.names[path]] = evaluate_run(
                judgments.qrels,
                run,
                judgments.measures,
                extra=registry().measures,
                sampled=judgments.sampled,
                trec_eval=trec_eval,
            )
    return Evaluations(evaluations, {name: path for path, name in given.names.items()})


@dataclass(frozen=True)
class JudgedRuns:
    """Runs and their names, by path, with their judgments and their collection, if named.

    `notes` say that only the topics of a quick look count.
    """

    judgments: Judgments
    runs: Mapping[Path, Run]
    collection: Collection | None
    names: Mapping[Path, str]
    notes: tuple[str, ...] = ()


def read_judged_runs(
    given: GivenRuns,
    collection: AnyCollection | None,
    qrels: AnyQrels | None,
    *,
    sampled_qrels: AnyPath | None = None,
    measures: Names = (),
    topics: TopicFilter | None = None,
) -> JudgedRuns:
    """Read runs and judgments; the arguments and errors are those of `evaluate`.

    Where a run is a quick look at some topics of the collection, only these count, for all runs.
    """
    paths, measures = [*given.names], as_names(measures, "measures")
    if sampled_qrels is not None:
        sampled_qrels = as_path(sampled_qrels, "sampled_qrels")
    if (collection is None) == (qrels is None) and (collection or sampled_qrels is None):
        raise InputError("give either --collection or --qrels.")
    plugins = registry()
    resolved_collection = None
    named = "" if collection is None else collection_name(collection)
    with waiting(f"reading judgments of {named}" if named else "reading judgments"):
        if named:
            files = [path for path in paths if path not in given.ready]
            looks = {path: asked for path in files if (asked := topics_asked(path))}
            resolved_collection = of_quick_looks(plugins.collection(named), looks)
            judgments = of_collection(
                resolved_collection, measures, plugins.measures, sampled=sampled_qrels
            )
        else:
            usual, extra = Collection.measures, plugins.measures
            read = qrels if isinstance(qrels, Mapping | None) else as_path(qrels, "qrels")
            judgments = of_files(read, measures, extra, usual=usual, sampled=sampled_qrels)
    for one, other in combinations(paths, 2):
        if same_file(one, other):
            raise InputError(f"the run {other} is named more than once, once as {one}.")
    runs = {}
    for path in paths:
        with waiting(f"reading {path}"):
            runs[path] = given.ready[path] if path in given.ready else read_run(path)
        _refuse_other_topics(path, runs[path], judgments)
    if topics:
        counted_topics = topics.topics(judgments.qrels, resolved_collection)
        left_out = frozenset(judgments.qrels) - counted_topics
        judgments = only(judgments, counted_topics)
        runs = {path: without(run, left_out) for path, run in runs.items()}
    notes = []
    if resolved_collection is not None and (left_out := resolved_collection.topics_left_out):
        count = len(resolved_collection.topics)
        names = listing(given.names[path] for path in looks)
        notes.append(
            f"A quick look: {count:,} of {count + len(left_out):,} topics, those of {names}. Not "
            "comparable with scores over all topics."
        )
        runs = {path: without(run, left_out) for path, run in runs.items()}
    return JudgedRuns(judgments, runs, resolved_collection, given.names, tuple(notes))


def _refuse_other_topics(path: Path, run: Run, judgments: Judgments) -> None:
    """Refuse a run that would score 0 because it is about something else."""
    qrels, pools = judgments.used
    topics = dict.fromkeys([*qrels, *topics_of(pools)])
    if not run.rankings.keys() & topics.keys():
        raise InputError(
            f"none of its {len(run.rankings):,} topics ({listing(run.rankings)}) is among the "
            f"{len(topics):,} judged ones ({listing(topics)}). Is this another collection's run?",
            path=path,
        )
    for topic, ranking in run.rankings.items():
        sampled = pools[topic].positions if topic in pools else {}
        judged_documents = {**sampled, **qrels.get(topic, {})}
        if any(doc_id in judged_documents for doc_id in ranking.doc_ids):
            return
    notice(
        f"WARNING: {path}: none of its documents is judged for its topic. Are these the "
        "judgments of another collection, or are their columns in another order?"
    )


def check_runs(
    paths: Paths,
    *,
    collection: AnyCollection | None = None,
    documents: bool = False,
    max_per_topic: int = 1000,
    tag_length: int | None = None,
    tag_pattern: str | None = None,
) -> dict[str, RunCheck]:
    """Check run files as TREC's submission system does; return path to problems.

    Args:
        paths: TREC runs; one that cannot be read has a problem, too.
        collection: whose topics they must answer.
        documents: look up every document in the collection's index.
        max_per_topic: results that the task accepts per topic.
        tag_length: characters that it accepts in a run tag; see `validate_run`.
        tag_pattern: a regular expression of the tags that it accepts.

    Raises:
        InputError: documents are to be looked up without a collection, or the pattern is wrong.

    Examples:
        >>> import irplatform as ir
        >>> ir.write_run(ir.Run("mine", {"41": ir.Ranking.of(["a", "b"], [2.0, 1.0])}), "my.run")
        >>> print(*ir.check_runs("my.run", max_per_topic=2)["my.run"].problems)
        <BLANKLINE>
    """
    if documents and collection is None:
        raise InputError("--documents needs --collection.")
    paths = as_paths(paths, "paths")
    pattern = None if tag_pattern is None else read_tag_pattern(tag_pattern)
    topics: Mapping[str, None] | None = None
    contains: Callable[[str], bool] | None = None
    if collection is not None:
        collection = collection_name(collection)
        resolved_collection = registry().collection(collection)
        topics = dict.fromkeys(topic.id for topic in resolved_collection.load_topics())
        if documents:
            contains = resources_for(RunSettings(collection), resolved_collection).index().contains
    checks = {}
    readable = []
    for path in paths:
        try:
            checks[str(path)] = validate_run(
                path,
                topics=topics,
                max_per_topic=max_per_topic,
                tag_length=tag_length,
                tag_pattern=pattern,
                has_document=contains,
            )
            readable.append(path)
        except InputError as error:
            checks[str(path)] = RunCheck([Problem("error", error.message, error.line)])
    for path, problem in same_tags(readable).items():
        check = checks[str(path)]
        checks[str(path)] = replace(check, problems=[*check.problems, problem])
    return checks


def agree_sources(
    folders: Paths,
    *,
    measures: Names = (),
    alone: bool = False,
    samples: int = 10_000,
    seed: int = 42,
) -> Agreement:
    """Compare the orders that sources of judgments give the same systems.

    Each folder is that of a `run`, one per source. Measures are one for all, or one each; by
    default the first of each table. `alone` takes rerankers' own scores. Intervals come from
    `samples` draws of topics. InputError for a folder without scores, or fewer than three common
    systems.

    Examples:
        >>> import irplatform as ir
        >>> for folder, measure in (("runs/experts", "nDCG@20"), ("runs/clicks", "AP")):
        ...     report = ir.run("demo", ["bm25-text", "dlh13"], measures=measure, run_dir=folder)
        >>> found = ir.agree_sources(["runs/experts", "runs/clicks"])
        >>> sorted(found.systems)
        ['bm25', 'bm25-text', 'dlh13']
    """
    folders = as_paths(folders, "folders")
    sources = read_sources(folders, as_names(measures, "measures"), own_scores=alone)
    for message in indistinct(sources):
        notice(message)
    return agreement(sources, samples=samples, seed=seed)


def write_bioasq_answers(
    path: AnyPath, collection: AnyCollection, out: AnyPath, *, force: bool = False
) -> dict[str, Any]:
    """Write a run as BioASQ takes it in phase A of task b: JSON with at most ten documents each.

    The documents of the run are PMIDs, the topics of the collection questions of BioASQ. `force`
    replaces a file with other content.

    Returns:
        `path`, the number of `questions`, of `documents`, and the ids in `unanswered`.

    Raises:
        InputError: the run cannot be read or answers unknown topics, the topics are not
            questions of BioASQ, a document is not a PMID, or `out` is the run or has other
            content.

    Examples:
        >>> import irplatform as ir
        >>> asked = ir.Topic("q1", "BRAF", {"body": "What is BRAF?", "type": "factoid"})
        >>> corpus = ir.collection("demo").corpus
        >>> questions = ir.Collection("questions", "Some", corpus, lambda: [asked])
        >>> ir.write_run(ir.Run("mine", {"q1": ir.Ranking.of(["29126288"], [1.0])}), "my.run")
        >>> told = ir.write_bioasq_answers("my.run", questions, "answers.json")
        >>> told["questions"], told["documents"]
        (1, 1)
    """
    path, out = as_path(path, "path"), as_path(out, "out")
    collection = collection_name(collection)
    if same_file(path, out):
        raise InputError(f"--out {out} is the run itself; name another file.")
    topics = registry().collection(collection).load_topics()
    questions = [_question(topic, collection) for topic in topics]
    rankings = read_run(path).rankings
    question_ids = {question.id for question in questions}
    if strange := [topic for topic in rankings if topic not in question_ids]:
        raise InputError(
            f"topics that '{collection}' does not have: {listing(strange)}.", path=path
        )
    questions_with_documents = [
        (each, rankings[each.id].doc_ids if each.id in rankings else ()) for each in questions
    ]
    content = answers(questions_with_documents)
    if not force and out.is_file() and out.read_bytes() != content:
        raise InputError(
            "this file already exists, with other content. Name another --out, or replace it "
            "with --force.",
            path=out,
        )
    with atomic_write(out, "wb") as file:
        file.write(content)
    if unanswered := [each.id for each, doc_ids in questions_with_documents if not doc_ids]:
        number = counted(len(unanswered), "question")
        notice(f"WARNING: {path} has no documents for {number}: {listing(unanswered)}.")
    return {
        "path": str(out),
        "questions": len(questions_with_documents),
        "documents": sum(len(doc_ids[:MOST_DOCUMENTS]) for _, doc_ids in questions_with_documents),
        "unanswered": unanswered,
    }


def _question(topic: Topic, collection: str) -> Question:
    body, kind = topic.fields.get("body"), topic.fields.get("type", "")
    if not isinstance(body, str) or not isinstance(kind, str):
        raise InputError(
            f"the topics of '{collection}' are not questions of BioASQ: its collection.toml has to "
            'read them with format = "bioasq".'
        )
    return Question(topic.id, body, kind, {})
