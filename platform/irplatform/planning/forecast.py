"""What a run would do, without doing it: what the cache lacks, and about how long that takes.

The chapters of a run are asked as a run asks them, while nothing is made. So a forecast says what
the run would say of the cache.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from irplatform.errors import InputError, counted
from irplatform.evaluation.judgments import measures_of
from irplatform.experiment.calls import describe_data
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.keywords import RunOptions
from irplatform.experiment.matrix import RUN_DIR, naming_experiment, planned_cells
from irplatform.experiment.plan import plan_run, planned_runs, refuse_own_candidates
from irplatform.experiment.run import choose_fusion, learning_plan, retrieve, retrieve_training
from irplatform.experiment.settings import DeclaredSettings
from irplatform.files.cache import NotInCacheError, nothing_made
from irplatform.files.cache_contents import contents
from irplatform.files.costs import Work, costs
from irplatform.lucene import is_indexed
from irplatform.planning.estimates import estimate
from irplatform.planning.steps import Forecast, Step
from irplatform.registry.loading import registry
from irplatform.reranking.fitting import work_of_training
from irplatform.reranking.rerank import fit, resources_with, training_per_topics
from irplatform.reranking.results import is_known
from irplatform.reranking.scoring import cached_scores
from irplatform.reranking.training_set import FOLDS, MOST_WEIGHING_TOPICS, seeds_of
from irplatform.retrieval.candidates import with_relevant
from irplatform.retrieval.first_stage import RETRIEVED
from irplatform.retrieval.retrievers import is_kept
from irplatform.run_folder.folder import RunFolder, read_scores
from irplatform.runs.names import run_file, system_of
from irplatform.settings import with_keywords
from irplatform.system.console import quiet
from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Corpus
    from irplatform.experiment.arguments import Collections, Systems
    from irplatform.experiment.plan import RunPlan
    from irplatform.experiment.run_settings import RunSettings
    from irplatform.plugin.rerankers import Reranker
    from irplatform.registry.lookup import Registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.reranking.training_set import LearningPlan
    from irplatform.retrieval.candidates import Candidates

_SHARED = {"forward-index": "count words", "vectors": "train word vectors"}
"""Kinds of artifacts that systems share, and what making one is called."""
_OF_ALL = ("index", "search")
"""Kinds of work that the cells of a matrix share."""


@with_keywords(RunOptions, DeclaredSettings)
def plan(
    collection: RunSettings | Collections | None = None,
    rerankers: Systems[Reranker] | None = None,
    **options: Unpack[RunOptions],
) -> Forecast:
    """Tell what `run` would do with the same arguments; nothing is made.

    Raises:
        InputError: see `run`.

    Examples:
        >>> import irplatform as ir
        >>> ir.plan("demo", ["bm25-text"]).steps[0].what
        'index demo'
    """
    settings = settings_of(collection, options, rerankers=rerankers)
    plugins, records = registry(), costs()
    indexes: list[Step] = []
    steps: list[Step] = []
    corpora: dict[str, Corpus] = {}
    missing: dict[str, None] = {}
    with quiet(), nothing_made("fields"), naming_experiment(settings, plugins):
        # Without fields no key of an index is known.
        for cell, planned in _plans(settings, plugins):
            traits = [choice.traits for choice in planned.retrievers]
            traits += [choice.traits for choice in planned.rerankers]
            missing |= dict.fromkeys(p for of in traits for p in of.packages if absent(p))
            corpora.setdefault(planned.resources.corpus.fingerprint, planned.resources.corpus)
            index, *others = _steps(planned)
            indexes.append(index)
            steps += [replace(step, cell=cell) for step in others]
    steps.append(Step("start", "", Work("start")))
    needs = {kind for s in steps if s.work and (e := estimate(s.work, records)) for kind in e.needs}
    shared = [step for corpus in corpora.values() for step in _shared(corpus, needs)]
    ordered = _once([*indexes, *shared, *steps])
    return Forecast(
        [replace(s, estimate=estimate(s.work, records)) if s.work else s for s in ordered],
        [*missing],
    )


def _once(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps without those that the cells of a matrix share and that were named before."""
    names: set[str] = set()
    for step in steps:
        if (step.work is None or step.work.kind in _OF_ALL) and step.what in names:
            continue
        names.add(step.what)
        yield step


def _plans(settings: RunSettings, plugins: Registry) -> Iterator[tuple[str, RunPlan]]:
    """The plans of a matrix's cells by their names, or of the one run, whose name is "".

    InputError where `run` would refuse.
    """
    cells: Iterable[tuple[str, RunPlan]]
    if settings.is_matrix:
        cells = planned_cells(settings, plugins, settings.run_dir or RUN_DIR)
    else:
        cells = [("", plan_run(settings, plugins))]
    for name, undecided in cells:
        plan = undecided.on_device()
        refuse_own_candidates(plan)
        folder = RunFolder(plan.run_dir, compress=settings.compress)
        runs = planned_runs(plan, describe_data(plan.collection, plan.qrels))
        folder.plan(runs, force=settings.force)
        yield name and f"{plan.collection.id}, {name}", plan


def _shared(corpus: Corpus, needs: set[str]) -> Iterator[Step]:
    """What systems share, of the kinds that such work needed before."""
    documents = corpus.size_hint() or 1
    for kind, action in _SHARED.items():
        if kind not in needs:
            continue
        ready = [i for i in contents([kind]) if i.depends_on.get("corpus") == corpus.fingerprint]
        work = None if any(item.complete for item in ready) else Work(kind, amount=documents)
        yield Step(f"{action} of {corpus.name}", f"{documents:,} documents", work)


def _steps(plan: RunPlan) -> Iterator[Step]:
    corpus, settings = plan.collection.corpus, plan.settings
    documents = corpus.size_hint() or 1
    work = None if is_indexed(corpus) else Work("index", amount=documents)
    yield Step(f"index {corpus.name}", f"{documents:,} documents", work)
    yield from _searches(plan)
    candidates, training = _cached_candidates(plan)
    unknown: list[str] = []
    for choice in plan.rerankers:
        seeds = seeds_of(settings.seed, settings.seeds if choice.trainable else 1)
        for seed in seeds:
            steps = [*_system(plan, choice, seed, candidates, training)]
            unknown += [choice.name] if any(step.work for step in steps) else []
            yield from steps
    yield from _writes(plan, unknown, new=candidates is None)
    variant = "made" if unknown or candidates is None else "known"
    yield Step("everything else", "", Work("other", plan.collection.id, variant=variant))


def _searches(plan: RunPlan) -> Iterator[Step]:
    """The searches for evaluated topics, and for those that are learned from."""
    collections = [plan.collection]
    if plan.training is not None:
        collections.append(plan.training)
        if plan.training.validation is not None:
            collections.append(plan.training.validation())
    for collection in collections:
        stage = plan.first_stage
        if collection is not plan.collection:
            stage = stage.for_training(collection)
        if stage.source != RETRIEVED:
            continue
        topics = collection.topics
        for choice in stage.choices:
            try:
                is_cached = is_kept(
                    choice, topics, stage.depth, plan.resources, label=collection.id
                )
            except NotInCacheError:
                is_cached = False
            work = Work("search", choice.name, len(topics), choice.variant)
            action = f"search {collection.id} with {choice.name}"
            yield Step(action, f"{len(topics):,} topics", None if is_cached else work)


def _cached_candidates(plan: RunPlan) -> tuple[Candidates | None, Candidates | None]:
    """The candidates of evaluated and training topics, if the cache has them."""
    try:
        candidates, training = retrieve(plan), retrieve_training(plan)
        return candidates.fused(choose_fusion(plan, training)), training
    except NotInCacheError:
        return None, None


def _system(
    plan: RunPlan,
    choice: ChosenReranker,
    seed: int,
    candidates: Candidates | None,
    training: Candidates | None,
) -> Iterator[Step]:
    """What one reranker does with one seed."""
    topics, depth = len(plan.collection.topics), plan.settings.rerank_depth
    resources = replace(plan.resources, seed=seed, artifacts={})
    try:
        if candidates is None:
            raise NotInCacheError("the candidates")
        learning = learning_plan(plan, training, choose_fusion(plan, training)).of_seed(seed)
        if is_known(choice, candidates, learning, resources):
            yield Step(f"rank with {choice.name}", f"{topics:,} topics")
            return
        yield from _known_parts(choice, candidates, learning, resources)
    except NotInCacheError:
        if choice in plan.learning:
            yield from _learning(plan, choice)
        work = Work("rank", choice.registration.name, topics * depth, choice.variant)
        yield Step(f"rank with {choice.name}", f"{topics:,} topics", work)
    mixing = f"mix {choice.name} with the first stage"
    yield Step(mixing, f"{topics:,} topics", _mixing(plan, choice.name))


def _known_parts(
    choice: ChosenReranker, candidates: Candidates, learning: LearningPlan, resources: Any
) -> Iterator[Step]:
    """The folds of a system, as far as the cache has what they need."""
    opened = resources_with(learning, choice, resources)
    for training_set, topics in training_per_topics(choice, candidates, learning, opened):
        documents = sum(len(candidates.per_topic[topic.id]) for topic in topics)
        rank = Work("rank", choice.registration.name, documents, choice.variant)
        of = f"{len(topics):,} topics"
        try:
            system = fit(choice, learning, training_set, opened)
        except NotInCacheError:
            if training_set is not None and choice.trainable:
                count = len(training_set.training)
                train = work_of_training(choice, count, choice.members)
                yield Step(f"train {choice.name}", f"{count:,} topics", train)
            elif training_set is not None:
                weighed = min(len(training_set.training), MOST_WEIGHING_TOPICS)
                amount = round(documents / max(len(topics), 1) * weighed)
                work = replace(rank, amount=amount)
                yield Step(f"weigh {choice.name}", f"{weighed:,} training topics", work)
            yield Step(f"rank with {choice.name}", of, rank)
            continue
        try:
            cached_scores(system, topics, candidates.per_topic, opened)
        except NotInCacheError:
            yield Step(f"rank with {choice.name}", of, rank)
        else:
            yield Step(f"rank with {choice.name}", of)


def _learning(plan: RunPlan, choice: ChosenReranker) -> Iterator[Step]:
    """The training of a system whose candidates are not known yet."""
    settings = plan.settings
    source = plan.training or plan.collection
    usable = len(with_relevant(source.topics, source.qrels))
    count = min(settings.train_topics or usable, usable)
    folds = FOLDS if plan.folds else 1
    count = count * (FOLDS - 1) // FOLDS if plan.folds else count
    if choice.trainable:
        work = work_of_training(choice, count, choice.members)
        for _ in range(folds):
            yield Step(f"train {choice.name}", f"{count:,} topics", work)
        return
    weighed = min(count, MOST_WEIGHING_TOPICS)
    amount = weighed * settings.rerank_depth
    work = Work("rank", choice.registration.name, amount, choice.variant)
    yield Step(f"weigh {choice.name}", f"{weighed:,} training topics", work)


def _writes(plan: RunPlan, unknown: Sequence[str], *, new: bool) -> Iterator[Step]:
    """The run files that are written and scored, and those that stand."""
    settings, collection = plan.settings, plan.collection
    data = describe_data(collection, plan.qrels)
    files = {
        name: plan.run_dir / run_file(name, compressed=settings.compress)
        for name in planned_runs(plan, data)
    }
    opened = [n for n, file in files.items() if new or system_of(n) in unknown or not file.exists()]
    names: Sequence[str] = ()
    if plan.qrels is not None:
        names = measures_of(collection, settings.measures, plan.plugins.measures, plan.qrels)
    topics = len(collection.topics)
    count = topics * min(settings.written_depth or settings.depth, settings.depth)
    again = {system_of(name) for name in opened} - {*unknown}
    for name in (name for name in settings.labels if name in again and not new):
        yield Step(f"mix {name} with the first stage", f"{topics:,} topics", _mixing(plan, name))
    if opened:
        work = Work("write", amount=len(opened) * count)
        yield Step("write runs", counted(len(opened), "run"), work)
    if names and (new or unknown or _measured(plan.run_dir) != [*names]):
        work = Work("score", amount=len(files) * count * len(names))
        yield Step("score runs", counted(len(names), "measure"), work)


def _mixing(plan: RunPlan, name: str) -> Work:
    (choice,) = (choice for choice in plan.rerankers if choice.name == name)
    return Work("weigh", choice.registration.name, len(plan.collection.topics))


def _measured(run_dir: Path) -> list[str]:
    """The measures that the runs of a folder were scored by last."""
    try:
        return [*read_scores(run_dir).measures]
    except InputError:
        return []
