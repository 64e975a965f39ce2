"""Runs that exist already, scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from irplatform.analysis.differing import differences_told
from irplatform.analysis.given_runs import given_runs
from irplatform.analysis.keywords import EvaluateOptions
from irplatform.analysis.settings import AnalysisSettings
from irplatform.collections.identical_ids import ignoring_identical_ids, notice_of_documents
from irplatform.comparison.published import (
    candidates_told,
    evaluations_of_published,
    refuse_other_collection,
)
from irplatform.data import Collection
from irplatform.errors import InputError, listing
from irplatform.evaluation.judgments import Judgments, of_collection, of_files
from irplatform.evaluation.sampled import topics_of
from irplatform.evaluation.scoring import evaluate as evaluate_run
from irplatform.evaluation.topics import only, spelled_otherwise, without
from irplatform.experiment.arguments import as_qrels, collection_name
from irplatform.experiment.topics import of_quick_looks, topic_fingerprints, topics_asked
from irplatform.files.digests import file_digest, fingerprint
from irplatform.files.writing import same_file
from irplatform.judging.formats import names_sources
from irplatform.judging.judgments import PERSON
from irplatform.judging.shared_models import told_of_shared_models
from irplatform.judging.sources import PEOPLE, choose, gather
from irplatform.registry.loading import registry
from irplatform.reports.evaluations import Evaluations
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.runs import read_run
from irplatform.settings import settings_given, with_keywords
from irplatform.spelling import option
from irplatform.system.console import notice, place, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.analysis.given_runs import GivenRuns, Runs
    from irplatform.data import Qrels
    from irplatform.evaluation.scoring import Evaluation
    from irplatform.judging.sources import ChosenGrades
    from irplatform.runs import Run


@with_keywords(EvaluateOptions, AnalysisSettings)
def evaluate(runs: Runs, **options: Unpack[EvaluateOptions]) -> Evaluations:
    """Score runs.

    Args:
        runs: TREC runs, folders of `platform run`, `Run` objects, mappings of topic to document to
            score, frames or records; or a mapping of name to one.
        options: judgments, measures, names and topics; see `AnalysisSettings`.

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
    settings = settings_given(AnalysisSettings, "evaluate", options)
    judged = read_judged_runs(given_runs(runs, settings.names), settings)
    for note in judged.notes:
        notice(note)
    judgments = judged.judgments
    evaluations = {}
    for number, (path, run) in enumerate(judged.runs.items()):
        with place("run", number, len(judged.runs)), waiting(f"scoring {path}"):
            stored = judged.published.get(path)
            evaluations[judged.names[path]] = stored or evaluate_run(
                judgments.qrels,
                run,
                judgments.measures,
                extra=registry().measures,
                sampled=judgments.sampled,
                trec_eval=settings.trec_eval,
            )
    return Evaluations(evaluations, {name: path for path, name in judged.names.items()})


@dataclass(frozen=True)
class JudgedRuns:
    """Runs and their names, by path, with their judgments and their collection, if there is one.

    `collection_name` is the collection's name as the user or the runs' metadata give it. `notes`
    say that only the topics of a quick look count. `as_read` has the runs of files with all topics.
    Published results have their stored scores in `published`; `published_alone` has their
    rerankers'.
    """

    judgments: Judgments
    runs: Mapping[Path, Run]
    collection: Collection | None
    collection_name: str
    inputs: GivenRuns
    notes: tuple[str, ...] = ()
    as_read: Mapping[Path, Run] = field(default_factory=dict)
    published: Mapping[Path, Evaluation] = field(default_factory=dict)
    published_alone: Mapping[Path, Evaluation] = field(default_factory=dict)

    @property
    def names(self) -> Mapping[Path, str]:
        """Names by path."""
        return self.inputs.names


def read_judged_runs(
    inputs: GivenRuns, settings: AnalysisSettings, *, compared: bool = False
) -> JudgedRuns:
    """Read runs and judgments; the errors are those of `evaluate`.

    Where a run is a quick look at some topics of the collection, only these count, for all runs.
    Runs to be `compared` take the measures that they were reported by, if none are given, and are
    refused if they are of different documents, unless the settings allow it; other differences are
    notes.
    """
    collection, qrels, topics = settings.collection, settings.qrels, settings.topic_filter
    sampled_qrels, measures = settings.sampled_qrels, settings.measures
    across = settings.different_documents or not compared
    if collection is None and qrels is None and sampled_qrels is None:
        collection = inputs.recorded_collection()
    plugins = registry()
    resolved_collection = None
    name = "" if collection is None else collection_name(collection)
    with waiting(f"reading judgments of {name}" if name else "reading judgments"):
        opened = plugins.collection(name) if name else None
        ignores = opened is not None and settings.ignore_identical_ids
        named_collection = ignoring_identical_ids(opened) if opened and ignores else opened
        if inputs.cells:
            inputs = inputs.of_collection(named_collection.id if named_collection else None)
        paths = [*inputs.names]
        read = as_qrels(qrels)
        if named_collection:
            files = {p: inputs.ready[p].path if p in inputs.ready else p for p in paths}
            looks = {p: topic_ids for p, file in files.items() if (topic_ids := topics_asked(file))}
            resolved_collection = of_quick_looks(named_collection, looks)
            judged_by: Callable[..., Judgments] = partial(
                of_collection, resolved_collection, extra=plugins.measures, sampled=sampled_qrels
            )
        else:
            usual, extra = Collection.measures, plugins.measures
            judged_by = partial(of_files, read, extra=extra, usual=usual, sampled=sampled_qrels)
        notes = differences_told(inputs.files, opened, across=across)
        judged_by, remarks = _by_sources(read, settings, resolved_collection, inputs.files) or (
            judged_by,
            (),
        )
        notes += remarks
        judgments = None
        measures = measures or inputs.published.measures
        if compared and not measures and sampled_qrels is None:
            judgments, measured = _by_reported(inputs, judged_by)
            notes += measured
        judgments = judgments or judged_by(measures=measures)
    for one, other in combinations(paths, 2):
        if same_file(one, other):
            raise InputError(f"the run {other} is named more than once, once as {one}.")
    runs, as_read = _read(inputs, judgments, resolved_collection, settings)
    notes += _beside_published(inputs, runs, judgments, named_collection, settings, across)
    if topics:
        counted_topics = topics.topics(judgments.qrels, resolved_collection)
        left_out = frozenset(judgments.qrels) - counted_topics
        judgments = only(judgments, counted_topics)
        runs = {path: without(run, left_out) for path, run in runs.items()}
    if resolved_collection is not None and (left_out := resolved_collection.topics_left_out):
        count = len(resolved_collection.topics)
        names = listing(inputs.names[path] for path in looks)
        notes.append(
            f"A quick look: {count:,} of {count + len(left_out):,} topics, those of {names}. Not "
            "comparable with scores over all topics."
        )
        runs = {path: without(run, left_out) for path, run in runs.items()}
    stored = evaluations_of_published(inputs.published, judgments, plugins.measures)
    return JudgedRuns(
        judgments, runs, resolved_collection, name, inputs, tuple(notes), as_read, *stored
    )


def _read(
    inputs: GivenRuns,
    judgments: Judgments,
    collection: Collection | None,
    settings: AnalysisSettings,
) -> tuple[dict[Path, Run], dict[Path, Run]]:
    """Read runs: as they count, and as they are; InputError if one is of other topics."""
    runs, as_read = {}, {}
    for number, path in enumerate(inputs.names):
        with place("run", number, len(inputs.names)), waiting(f"reading {path}"):
            as_read[path] = run = inputs.ready[path] if path in inputs.ready else read_run(path)
            runs[path] = _without_own(run, collection, settings.ignore_identical_ids)
        if path not in inputs.published.rows:
            _refuse_other_topics(path, runs[path], judgments)
    return runs, as_read


def _beside_published(
    inputs: GivenRuns,
    runs: Mapping[Path, Run],
    judgments: Judgments,
    collection: Collection | None,
    settings: AnalysisSettings,
    across: bool,
) -> list[str]:
    """Sentences on what published results and other runs differ in; InputError if in topics."""
    if not (table := inputs.published.table):
        return []
    others = {inputs.names[p]: run for p, run in runs.items() if p not in inputs.published.rows}
    metadata = {n: read_metadata(file) for n, file in inputs.files.items() if n in others}
    present: dict[str, Any] = {}
    if collection is not None:
        qrels = collection.qrels if collection.load_qrels else None
        present = topic_fingerprints(collection, qrels)
    elif judgments.qrels:
        present["qrels"] = fingerprint({t: dict(grades) for t, grades in judgments.qrels.items()})
    if settings.sampled_qrels is not None:
        present["sampled qrels"] = file_digest(settings.sampled_qrels)
    refuse_other_collection(table, present, metadata, across=across)
    return [*candidates_told(inputs.published, judgments, others, metadata)]


def _by_sources(
    path: Path | Qrels | None,
    settings: AnalysisSettings,
    collection: Collection | None,
    files: Mapping[str, Path],
) -> tuple[Callable[..., Judgments], Sequence[str]] | None:
    """Judgments by the sources that count, and notes of them; None where no sources are named.

    Where machines' count, those of people alone are beside them.
    """
    if not isinstance(path, Path) or not names_sources(path):
        return None
    left_out = collection.topics_left_out if collection else frozenset()
    gathered = gather([path])
    judgments = [judgment for judgment in gathered.judgments if judgment.topic not in left_out]
    topics = {judgment.topic for judgment in judgments}
    if collection and topics and topics.isdisjoint(topic.id for topic in collection.topics):
        raise InputError(
            f"no topic of '{collection.id}' is judged here. Are these another collection's "
            "judgments?",
            path=path,
        )
    choice = choose(gathered := replace(gathered, judgments=judgments), settings.sources)
    persons = any(j.source.kind == PERSON and j.grade is not None for j in judgments)
    people = choose(gathered, PEOPLE) if choice.machine and persons else None
    usual = collection.measures if collection else Collection.measures

    def of_sources(by: ChosenGrades, measures: Sequence[str]) -> Judgments:
        grades = by.grades if by.sampled is None else None
        return of_files(grades, measures, registry().measures, usual=usual, sampled=by.sampled)

    def judged_by(measures: Sequence[str]) -> Judgments:
        judged = of_sources(choice, measures)
        of_people = of_sources(people, judged.measures) if people else None
        return replace(judged, machine=choice.machine, people=of_people)

    metadata = {name: read_metadata(file) for name, file in files.items()} if choice.judges else {}
    return judged_by, (*choice.notes, *told_of_shared_models(choice.judges, metadata))


def _by_reported(
    inputs: GivenRuns, judged_by: Callable[..., Judgments]
) -> tuple[Judgments | None, list[str]]:
    """Judgments with the measures that runs were reported by; None if these cannot be used.

    Notes say so, and which measures are taken where runs differ.
    """
    reported = inputs.recorded_measures()
    if not reported:
        return None, []
    first, measures = next(iter(reported.items()))
    others = [name for name, run_measures in reported.items() if run_measures != measures]
    notes = []
    if others:
        notes.append(
            f"measures: {', '.join(measures)}, by which {first} was reported; {listing(others)} by "
            f"others. {option('measures')} names those to use."
        )
    try:
        return judged_by(measures=measures), notes
    except InputError as error:
        return None, [f"the runs were reported by other measures: {error.message}"]


def _without_own(run: Run, collection: Collection | None, ignore: bool) -> Run:
    """Leave the documents out that topics are; tell of them where nobody asked for that."""
    if collection is None and ignore:
        topic_documents: Mapping[str, tuple[str, ...]] = {topic: (topic,) for topic in run.rankings}
    elif collection is not None and collection.ignore_identical_ids:
        topic_documents = {topic.id: topic.left_out for topic in collection.topics}
    else:
        if collection is not None and (message := notice_of_documents(run, collection)):
            notice(message)
        return run
    rankings = {
        t: ranking.without(topic_documents.get(t, ())) for t, ranking in run.rankings.items()
    }
    return replace(run, rankings=rankings)


def _refuse_other_topics(path: Path, run: Run, judgments: Judgments) -> None:
    """Refuse a run that would score 0 because it is about something else."""
    qrels, pools = judgments.for_measures
    topics = dict.fromkeys([*qrels, *topics_of(pools)])
    if not run.rankings.keys() & topics.keys():
        other = "Is this another collection's run?"
        raise InputError(
            f"none of its {len(run.rankings):,} topics ({listing(run.rankings)}) is among the "
            f"{len(topics):,} judged ones ({listing(topics)}). "
            f"{spelled_otherwise(run.rankings, topics) or other}",
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
