"""The chapters of a run: who teaches, whose judgments count, what is mixed."""

import json
import shutil
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from checkpoints import described
from small import SmallResources, registration

from irplatform.collection_resources import CollectionResources
from irplatform.collections.derived import joined
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.experiment.learning import (
    check_cross_validation,
    find_candidates,
    find_training,
    to_fuse_on,
    topics_to_tune_on,
    warning_of_fields,
)
from irplatform.plugin import (
    LabelledTopic,
    Options,
    PairsFile,
    Reads,
    Reranker,
    TextPair,
    Topic,
    TrainableReranker,
)
from irplatform.reranking.fitting import train
from irplatform.reranking.rerank import FOLDS, rerank_with_seeds
from irplatform.reranking.rerank import rerank as rerank_pipeline
from irplatform.reranking.systems import ChosenReranker
from irplatform.reranking.training_set import (
    Example,
    LearningPlan,
    TrainingSet,
    examples,
    seeds_of,
)
from irplatform.reranking.warnings import (
    warning_of_fusion,
    warning_of_learned,
    warning_of_pairs,
    warning_of_scores_read,
    warning_of_tuning,
)
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.first_stage import FirstStage, Retrieval
from irplatform.runs import Ranking, Run
from irplatform.system.console import notice
from irplatform.system.writing import home
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.text_pairs import PairsOfTopics

pytestmark = pytest.mark.usefixtures("fresh_home")


def _corpus(fingerprint):
    return SimpleNamespace(
        name="corpus",
        fingerprint=fingerprint,
        same_documents=lambda other: other.fingerprint == fingerprint,
    )


CORPUS, OTHER_CORPUS = _corpus("corpus"), _corpus("other")
TOPICS = [Topic(f"t{n}", f"query {n}") for n in range(20)]
IDS = list("edcba")
FIRST = Ranking.of(IDS, np.arange(5.0, 0.0, -1.0))


class Letters(Reranker):
    """Ranks a first."""

    def score(self, topic, documents):
        return [-float(ord(doc_id)) for doc_id in documents.ids]


class Witness(TrainableReranker):
    """Remembers what it scored, and whether it had learned or validated on that before."""

    scored: ClassVar[list[tuple[str, bool]]] = []
    held_out: ClassVar[list[set[str]]] = []

    def fit(self, data):
        Witness.held_out.append({topic.id for topic in data.unseen})
        self.known = {t.topic.id for t in data.training}
        self.validated = {t.topic.id for t in data.validation}

    def save(self, folder):
        (folder / "known").write_text(" ".join(sorted(self.known | self.validated)))

    def load(self, folder):
        self.known = set((folder / "known").read_text().split())

    def score(self, topic, documents):
        Witness.scored.append((topic.id, topic.id in self.known))
        return [float(n) for n in range(len(documents.ids))]


def _choice(kind):
    return ChosenReranker(registration(kind, "ranker"), Options())


def _candidates(depth=5):
    rankings = {t.id: Ranking.of(IDS, np.arange(5.0, 0.0, -1.0)) for t in TOPICS}
    run = Run("bm25", rankings)
    return Candidates(
        TOPICS,
        FirstStage([Retrieval(run, "mark")], run, "mark"),
        {t.id: tuple(IDS[:depth]) for t in TOPICS},
    )


def rerank(choice, candidates, qrels, training_source, interpolate, resources):
    candidates = replace(candidates, qrels=qrels or {})
    learning = replace(training_source, interpolate=interpolate)
    return rerank_pipeline(choice, candidates, learning, resources)


@pytest.fixture
def resources():
    made = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    made.documents = SmallResources().documents
    return made


def _collection(name="c", **facts):
    facts = {"load_qrels": lambda: {"t0": {"a": 1}}, **facts}
    return Collection(name, name, CORPUS, lambda: TOPICS, **facts)


def test_without_training_an_untrained_reranker_ranks_alone(resources):
    made = rerank(_choice(Letters), _candidates(), None, LearningPlan(), None, resources)
    assert made.weight == 0
    assert made.final.name == "ranker"
    assert made.alone.name == "ranker-alone"
    assert list(made.final.rankings) == [t.id for t in TOPICS]
    assert all(r.doc_ids == tuple("abcde") for r in made.final.rankings.values())


def test_a_reranker_may_compare_all_candidates_at_the_end(resources):
    class Reversing(Letters):
        def rescore(self, topic, documents, scores):
            assert documents.ids == tuple(IDS)
            return [-score for score in scores]

    made = rerank(_choice(Reversing), _candidates(), None, LearningPlan(), None, resources)
    assert made.alone.rankings["t3"].doc_ids == tuple("edcba")


def test_documents_below_the_rerank_depth_stay_below(resources):
    made = rerank(_choice(Letters), _candidates(3), None, LearningPlan(), 0.0, resources)
    assert made.final.rankings["t0"].doc_ids == tuple("cdeba")


def test_candidates_know_how_many_there_are_unless_they_are_all():
    assert (_candidates(3).most, _candidates(5).most) == (3, None)


@pytest.mark.parametrize(("weight", "expected"), [(1.0, "edcba"), (0.0, "abcde")])
def test_a_given_weight_is_used(resources, weight, expected):
    made = rerank(_choice(Letters), _candidates(), None, LearningPlan(), weight, resources)
    assert made.weight == weight
    assert made.final.rankings["t3"].doc_ids == tuple(expected)
    assert made.alone.rankings["t3"].doc_ids == tuple("abcde")


def test_cross_validation_never_scores_a_topic_with_a_model_that_saw_it(resources):
    Witness.scored, Witness.held_out = [], []
    qrels = {t.id: {"a": 1} for t in TOPICS[:15]}
    made = rerank(_choice(Witness), _candidates(), qrels, LearningPlan(folds=True), None, resources)
    assert len(made.systems) == FOLDS
    members = len(Witness.held_out) // FOLDS
    of_folds = Witness.held_out[::members]
    assert [*chain(*([fold] * members for fold in of_folds))] == Witness.held_out
    assert sorted(chain(*of_folds)) == sorted(qrels)
    assert {topic for topic, _ in Witness.scored} == {t.id for t in TOPICS}  # unjudged ones too
    assert not any(known for _, known in Witness.scored)


def test_sentences_of_one_article_are_in_one_fold_of_cross_validation(resources):
    Witness.scored, Witness.held_out = [], []
    topics = [Topic(t.id, t.query, {"citing_id": str(n % 7)}) for n, t in enumerate(TOPICS)]
    article_of = {t.id: t.fields["citing_id"] for t in topics}
    rerank(
        _choice(Witness),
        replace(_candidates(), topics=topics),
        {t.id: {"a": 1} for t in topics},
        LearningPlan(folds=True),
        None,
        resources,
    )
    folds = {frozenset(held_out) for held_out in Witness.held_out}
    assert len(folds) == FOLDS
    articles = [{article_of[topic_id] for topic_id in fold} for fold in folds]
    assert sum(map(len, articles)) == len(set(article_of.values())) == 7


def test_what_learns_nothing_scores_every_topic_once_in_cross_validation(resources, monkeypatch):
    """However many folds choose a weight on its scores; and it goes on after an interruption."""
    scored = []

    class Slow(Letters):
        def score(self, topic, documents):
            if len(scored) == 12:
                scored.append(None)
                raise KeyboardInterrupt
            scored.append(topic.id)
            return super().score(topic, documents)

    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 5)  # a topic at a time
    qrels = {t.id: {"a": 1} for t in TOPICS[:15]}
    arguments = _choice(Slow), _candidates(), qrels, LearningPlan(folds=True), None, resources
    with pytest.raises(KeyboardInterrupt):
        rerank(*arguments)
    made = rerank(*arguments)
    assert len(made.systems) == FOLDS
    assert sorted(t for t in scored if t) == sorted(t.id for t in TOPICS)


def test_folds_that_were_scored_are_not_scored_again(resources, monkeypatch):
    """Where training a later one is interrupted, which may take hours."""
    from irplatform.reranking import rerank as assignment
    from irplatform.reranking import scoring as cached_scores

    qrels = {t.id: {"a": 1} for t in TOPICS}
    arguments = _choice(Witness), _candidates(), qrels, LearningPlan(folds=True), None, resources
    fitted, fit = [], assignment.fit_system
    scored, score = [], cached_scores.final_scores

    def scoring(registration, members, topics, *more):
        scored.extend(topic.id for topic in topics)
        return score(registration, members, topics, *more)

    monkeypatch.setattr(cached_scores, "final_scores", scoring)

    def interrupted(*given):
        fitted.append(given)
        if len(fitted) == 4:
            raise KeyboardInterrupt
        return fit(*given)

    monkeypatch.setattr(assignment, "fit_system", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rerank(*arguments)
    assert len(scored) == 3 * len(TOPICS) // FOLDS
    monkeypatch.setattr(assignment, "fit_system", fit)
    rerank(*arguments)
    assert len(scored) == len(set(scored)) == len(TOPICS)


def test_scores_that_a_weight_was_chosen_on_are_kept(resources):
    """The next run over other topics asks for the same ones."""
    scored = []

    class Counting(Letters):
        def score(self, topic, documents):
            scored.append(topic.id)
            return super().score(topic, documents)

    source = LearningPlan(_set(*range(20)))
    made = rerank(_choice(Counting), _candidates(), None, source, None, resources)
    again = rerank(_choice(Counting), _candidates(), None, source, None, resources)
    assert again.weight == made.weight
    assert [topic for topic in scored if topic.startswith("x")] == [f"x{n}" for n in range(20)]


@pytest.mark.parametrize("source", [LearningPlan(folds=True), None])
def test_nothing_is_scored_for_a_weight_that_was_given(resources, source):
    scored = []

    class Counting(Letters):
        def score(self, topic, documents):
            scored.append(topic.id)
            return super().score(topic, documents)

    qrels = {t.id: {"a": 1} for t in TOPICS}
    source = source or LearningPlan(_set(*range(20)))
    made = rerank(_choice(Counting), _candidates(), qrels, source, 0.3, resources)
    assert made.weight == 0.3
    assert scored == [t.id for t in TOPICS]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"version": "0.0.1"}, "was trained by version 0.0.1 of plugin"),
        ({"source": "0123456789abcdef"}, "was trained by other source code of plugin"),
        ({}, ""),
    ],
)
def test_a_checkpoint_of_other_code_is_scored_with_a_warning(
    resources, tmp_path, capsys, changed, told
):
    built = train(_choice(Witness), _set(*range(20)), resources)
    folder = tmp_path / "checkpoint"
    shutil.copytree(built.path, folder)
    described = folder / "checkpoint.json"
    described.write_text(json.dumps({**json.loads(described.read_text()), **changed}))
    source = LearningPlan(checkpoint=folder)
    made = rerank(_choice(Witness), _candidates(), None, source, 0.5, resources)
    assert any(told in warning for warning in made.warnings) if told else True
    assert ("other source code" in str(made.warnings)) == ("source" in changed)
    assert ("by version" in str(made.warnings)) == ("version" in changed)


def test_a_checkpoint_of_other_knowledge_is_scored_with_a_warning(resources, tmp_path):
    """A system says what it depends on; a knowledge base may have been replaced since."""
    knowledge = {"own": "1"}

    class Reading(Witness):
        def reads(self):
            return Reads(more={"feature_format": 2, "knowledge": (*knowledge.items(),)})

    built = train(_choice(Reading), _set(*range(20)), resources)
    source = LearningPlan(checkpoint=built.path)
    told = "reads other things than its checkpoint was trained with: knowledge."

    def warnings():
        return rerank(_choice(Reading), _candidates(), None, source, 0.5, resources).warnings

    assert not any(told in warning for warning in warnings())
    knowledge["own"] = "2"
    assert sum(told in warning for warning in warnings()) == 1


def test_runs_do_not_hold_the_models_that_made_them(resources):
    """Folds of five members each would fill a device's memory."""
    qrels = {t.id: {"a": 1} for t in TOPICS}
    source = LearningPlan(folds=True)
    made = rerank(_choice(Witness), _candidates(), qrels, source, None, resources)
    assert all(len(system.members) == 0 for system in made.systems)


class Noting(Letters):
    """Counts what it scores, tells of a topic, and looks at the index."""

    scored: ClassVar[list[str]] = []

    def prepare(self, resources):
        self.resources = resources

    def score(self, topic, documents):
        Noting.scored.append(topic.id)
        self.resources.forward_index()
        if topic.id == "t7":
            self.resources.notice("t7 is odd")
        return super().score(topic, documents)


@pytest.fixture
def recorded(resources):
    """Ranks with it, with resources that are as new each time; how many topics were scored."""
    forward = SimpleNamespace(fingerprint="forward", path=Path("forward"))
    built = forward, forward

    def again(candidates=None, **changed):
        Noting.scored.clear()
        made = replace(CollectionResources(CORPUS, device="cpu", seed=1, threads=1), **changed)
        made.documents = resources.documents
        made._opened.forward_index = built
        source = LearningPlan()
        run = rerank(_choice(Noting), candidates or _candidates(), None, source, None, made)
        return len(Noting.scored), made, run

    return again


def test_what_was_scored_is_not_scored_again(recorded, capsys):
    scored, first, run = recorded()
    assert scored == len(TOPICS)
    assert "t7 is odd" in capsys.readouterr().err
    scored, second, same = recorded()
    assert scored == 0
    assert same.final.rankings["t7"].scores.tolist() == run.final.rankings["t7"].scores.tolist()
    assert "t7 is odd" in capsys.readouterr().err
    assert first.artifacts == second.artifacts == {"forward_index": "forward"}


def test_what_an_interrupted_call_told_is_told_by_those_that_go_on(recorded, monkeypatch, capsys):
    score, scored = Letters.score, []

    def interrupted(self, topic, documents):
        if topic.id == TOPICS[-1].id:
            raise KeyboardInterrupt
        scored.append(topic.id)
        return score(self, topic, documents)

    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 1)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Letters, "score", interrupted)
        recorded()
    assert "t7" in scored
    for left in (1, 0):
        capsys.readouterr()
        again, resources, _ = recorded()
        assert again == left
        assert "t7 is odd" in capsys.readouterr().err
        assert resources.artifacts == {"forward_index": "forward"}


def test_what_one_reranker_uses_is_not_said_of_another():
    final = _candidates().first.final
    first = FirstStage([Retrieval(final, "mark", {}, {"index": "index"})], final, "mark")
    candidates = replace(_candidates(), first=first)
    resources = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    resources.documents = SmallResources().documents
    built = SimpleNamespace(fingerprint="forward", path=Path("forward"))
    resources._opened.forward_index = built, built
    used = []
    for kind in (Noting, Letters):
        choice = ChosenReranker(registration(kind, kind.__name__), Options())
        (made,) = rerank_with_seeds(choice, candidates, LearningPlan(), resources, 1)
        used.append(made.resources.artifacts)
    assert used == [{"index": "index", "forward_index": "forward"}, {"index": "index"}]


@pytest.mark.parametrize("changed", [{"seed": 2}, {"model_threads": 2}, {"corpus": OTHER_CORPUS}])
def test_what_scores_depend_on_makes_them_others(recorded, changed):
    recorded()
    assert recorded(**changed)[0] == len(TOPICS)


def test_other_candidates_are_scored(recorded):
    recorded()
    assert recorded(_candidates(depth=4))[0] == len(TOPICS)


def test_scores_of_other_code_of_ours_are_not_taken(recorded, monkeypatch):
    recorded()
    monkeypatch.setattr("irplatform.reranking.scoring.our_digest", lambda: "edited")
    assert recorded()[0] == len(TOPICS)


def test_scores_that_cannot_be_read_are_made_again(recorded, fresh_home, capsys):
    recorded()
    (scores,) = (fresh_home / "scores").glob("*/scores.npz")
    scores.write_bytes(bytes(scores.stat().st_size))
    recorded()
    assert "has a damaged file, scores.npz, and is made again" in capsys.readouterr().err


def _set(*numbers, validation=None):
    """Topics under other ids than in the evaluated collection."""
    moved = [
        Example(LabelledTopic(Topic(f"x{n}", f"query {n}"), tuple(IDS), {"a": 1}), FIRST)
        for n in numbers
    ]
    return TrainingSet("moved", moved, validation)


@pytest.mark.parametrize(
    ("kind", "source", "interpolate", "told"),
    [
        (
            Witness,
            LearningPlan(_set(3, 5, 77)),
            None,
            "was trained on 2 of these 20 topics (t3, t5)",
        ),
        (Witness, LearningPlan(_set(3)), 0.5, "was trained on 1 of these 20 topics (t3)"),
        (Witness, LearningPlan(_set(77, validation=_set(4).training)), None, "trained on 1 of"),
        (Witness, LearningPlan(_set(77), pretraining=_set(8)), None, "trained on 1 of"),
        (Witness, LearningPlan(folds=True, pretraining=_set(8)), None, "trained on 1 of"),
        (Witness, LearningPlan(_set(77)), None, None),
        (Witness, LearningPlan(folds=True), None, None),
        (Letters, LearningPlan(_set(3)), None, "share in ranker was chosen on 1 of these"),
        (Letters, LearningPlan(_set(3)), 0.5, None),
        (Letters, LearningPlan(_set(77), pretraining=_set(3)), None, None),
    ],
)
def test_learning_from_evaluated_topics_is_told_under_whatever_ids(kind, source, interpolate, told):
    learning = replace(source, interpolate=interpolate)
    warning = warning_of_learned(_choice(kind), TOPICS, learning)
    assert told in warning if told else warning == ""


def test_beside_a_checkpoint_each_is_told_of_what_it_learned_from_itself(tmp_path):
    folder = described(tmp_path / "seen", "ranker", [Topic("x5", "query 5")])
    source = LearningPlan(_set(3), checkpoint=folder)
    told = warning_of_learned(_choice(Letters), TOPICS, source)
    assert told == (
        "WARNING: the first stage's share in ranker was chosen on 1 of these 20 topics (t3)."
    )
    given = replace(source, interpolate=0.5)
    assert warning_of_learned(_choice(Letters), TOPICS, given) == ""
    told = warning_of_learned(_choice(Witness), TOPICS, source)
    assert "trained on 1 of these 20 topics (t5)" in told


def _reading(folder):
    """A reranker that learns and reads the scores of a checkpoint."""
    return _choice(
        type("Reading", (Witness,), {"reads": lambda self: Reads(checkpoints=(folder,))})
    )


def test_reading_scores_of_who_learned_from_evaluated_topics_is_told(resources, tmp_path):
    seen = described(tmp_path / "seen", "delta", [Topic("other", "query 3")])
    source = LearningPlan(_set(*range(50, 70)))
    made = rerank(_reading(seen), _candidates(), None, source, 0.5, resources)
    told = "reads scores of a checkpoint that was trained on 1 of these 20 topics (t3)"
    assert any(told in warning for warning in made.warnings)
    fine = described(tmp_path / "fine", "delta", [Topic("t3", "other words")])
    assert warning_of_scores_read(_reading(fine), TOPICS) == ""


def test_what_was_trained_with_it_has_learned_from_its_topics(resources, tmp_path):
    seen = described(tmp_path / "seen", "delta", [Topic("other", "query 3")])
    built = train(_reading(seen), _set(*range(50, 70)), resources)
    assert Checkpoint.read(built.path).learned(TOPICS) == [TOPICS[3]]
    start = train(_choice(Witness), _set(*range(50, 70)), resources, _set(*range(5, 10)))
    assert Checkpoint.read(start.path).learned(TOPICS) == TOPICS[5:10]


def _learning_from_pairs(*pairs):
    """A reranker that learns from pairs of texts, too, but for those of the topics it is given."""

    def read(topics):
        known = PairsOfTopics.of(topics, "citing_id")
        return [pair for pair in pairs if pair not in known]

    reads = Reads(pairs=PairsFile(Path("pairs.tsv"), read))
    return _choice(type("Pairs", (Witness,), {"reads": lambda self: reads}))


def test_learning_from_pairs_of_evaluated_topics_is_told(resources):
    of_article = replace(TOPICS[5], fields={"citing_id": "10.1/A"})
    topics = [*TOPICS[:5], of_article, *TOPICS[6:]]
    pairs = [
        TextPair("Query 3", "a title", "b"),
        TextPair("words", "a title", " 10.1/a"),
        TextPair("query 50", "of a training topic", ""),
        TextPair("others", "a title", ""),
    ]
    choice = _learning_from_pairs(*pairs)
    source = LearningPlan(_set(*range(50, 70)))
    candidates = replace(_candidates(), topics=topics)
    (told,) = rerank(choice, candidates, None, source, 0.5, resources).warnings
    assert told.startswith("WARNING: ranker learns from pairs of texts that are of 2 of these 20 ")
    assert "topics (t3, t5), or of the same source (citing_id): its scores show" in told
    assert warning_of_pairs(choice, [*TOPICS[:3]], source) == ""
    assert warning_of_pairs(choice, topics, LearningPlan(folds=True)) == ""
    built = train(choice, _set(*range(50, 70)), resources)
    checkpoint = Checkpoint.read(built.path)
    assert checkpoint.learned(TOPICS) == [TOPICS[3]]
    assert checkpoint.learned([Topic("x", "OTHERS")])
    assert warning_of_pairs(choice, topics, LearningPlan(checkpoint=built.path)) == ""


def test_asking_for_what_no_training_topic_asks_for_is_told():
    plain = [Topic("1", "", {"disease": "melanoma", "note": "x", "treatment": ""})]
    asking = [*plain, Topic("2", "", {"disease": "melanoma", "treatment": "imatinib"})]
    told = warning_of_fields(asking, plain)
    assert told.startswith("WARNING: these topics have the field treatment, and no training topic")
    assert warning_of_fields(plain, asking) == warning_of_fields(asking, asking) == ""
    assert "field disease and treatment" in warning_of_fields(asking, TOPICS)
    told = warning_of_fields(TOPICS, asking)
    assert told.startswith("WARNING: the training topics have the field disease and treatment,")
    assert warning_of_fields(TOPICS, TOPICS) == ""


def test_fusing_with_weights_of_evaluated_topics_is_told():
    others = [Topic("x3", "query 3"), Topic("t4", "other words")]
    assert "chosen on 1 of these 20 topics (t3)." in warning_of_fusion(TOPICS, others)
    assert warning_of_fusion(TOPICS, others[1:]) == ""
    assert "options are chosen on 1 of these 20 topics (t3)" in warning_of_tuning(TOPICS, others)
    assert warning_of_tuning(TOPICS, others[1:]) == ""


def test_a_run_carries_the_warning_that_was_told_and_a_checkpoint_knows_all_its_topics(
    resources, capsys, tmp_path
):
    held = _set(*range(30, 40), validation=_set(11).training)
    source = LearningPlan(held, pretraining=_set(*range(50, 60), 12))
    made = rerank(_choice(Witness), _candidates(), None, source, None, resources)
    (warning,) = made.warnings
    assert "WARNING: ranker was trained on 2 of these 20 topics (t11, t12): its" in warning
    assert capsys.readouterr().err.count(warning) == 1
    (folder,) = (
        path.parent
        for path in home().glob("checkpoint/*/checkpoint.json")
        if len(json.loads(path.read_text())["queries"]) == 22
    )
    again = rerank(
        _choice(Witness), _candidates(), None, LearningPlan(checkpoint=folder), None, resources
    )
    assert again.warnings == (warning,)
    assert not any("queries" in system.description for system in again.systems)
    clean = LearningPlan(_set(*range(30, 40)))
    assert rerank(_choice(Witness), _candidates(), None, clean, None, resources).warnings == ()


class Indexed(CollectionResources):
    """Resources of an index of `IDS` and of "far", which no topic finds."""

    def index_artifact(self):
        return SimpleNamespace(fingerprint="index")

    def index(self):
        return SimpleNamespace(contains={*IDS, "far"}.__contains__)


def test_judged_documents_that_the_corpus_lacks_are_told_and_not_learned_from(capsys):
    resources = Indexed(CORPUS, device="cpu", seed=1, threads=1)
    qrels = {"t0": {"a": 1, "gone": 0}, "t1": {"far": 2, "lost": 1}, "elsewhere": {"no": 1}}
    candidates = replace(_candidates(), qrels=qrels)
    judged = {e.topic.id: e.labelled.judgments for e in examples(candidates, resources)}
    assert judged == {"t0": {"a": 1}, "t1": {"far": 2}}
    told = "2 of the 4 judged documents of 'corpus' are not among its documents (gone, lost)"
    assert told in capsys.readouterr().err
    examples(replace(candidates, collection="c"), resources)
    assert "documents of 'c' are not" in capsys.readouterr().err


def test_the_index_is_asked_once_for_judged_documents_and_never_for_candidates(monkeypatch):
    resources = Indexed(CORPUS, device="cpu", seed=1, threads=1)
    candidates = replace(_candidates(), qrels={"t0": {"a": 1, "gone": 0}})
    examples(candidates, resources)
    monkeypatch.setattr(Indexed, "index", lambda self: pytest.fail("the index was opened"))
    (again,) = examples(candidates, resources)
    assert again.labelled.judgments == {"a": 1}
    monkeypatch.setattr(Indexed, "index_artifact", lambda self: pytest.fail("was built"))
    (only,) = examples(replace(candidates, qrels={"t0": {"a": 1}}), resources)
    assert only.labelled.judgments == {"a": 1}


def test_each_fold_chooses_its_own_weight(resources):
    qrels = {t.id: {"a": 1} for t in TOPICS}
    made = rerank(_choice(Letters), _candidates(), qrels, LearningPlan(folds=True), None, resources)
    assert len(made.systems) == FOLDS
    assert made.weight == pytest.approx(np.mean([system.weight for system in made.systems]))
    assert made.weight < 0.5


@pytest.mark.parametrize("kind", [Letters, Witness])
def test_on_how_few_topics_a_weight_was_chosen_is_told_once(resources, capsys, kind):
    def told(topics, interpolate=None):
        source = LearningPlan(_set(*range(topics)))
        rerank(_choice(kind), _candidates(), None, source, interpolate, resources)
        return [line for line in capsys.readouterr().err.splitlines() if "share was chosen" in line]

    assert told(5) == []
    assert told(4, interpolate=0.5) == []
    line = "ranker: the first stage's share was chosen on only 4 topics, where luck decides much"
    assert told(4) == [line]
    assert told(4) == []


def test_of_folds_the_one_with_the_fewest_topics_is_told(resources, capsys):
    qrels = {t.id: {"a": int(n < 6)} for n, t in enumerate(TOPICS)}
    source = LearningPlan(folds=True)
    rerank(_choice(Letters), _candidates(), qrels, source, None, resources)
    told = "the first stage's share was chosen on only 4 topics in a fold"
    assert capsys.readouterr().err.count(told) == 1


def test_each_fold_learns_from_as_many_topics_with_a_relevant_document(resources):
    """Of ten such topics four folds have eight, however the others fall."""
    qrels = {t.id: {"a": int(n < 10)} for n, t in enumerate(TOPICS)}
    made = rerank(_choice(Witness), _candidates(), qrels, LearningPlan(folds=True), None, resources)
    assert [system.description["topics"] for system in made.systems] == [16] * FOLDS
    chosen_on = [system.description["interpolation"]["topics"] for system in made.systems]
    assert chosen_on == [8] * FOLDS


@pytest.mark.parametrize("seeds", [1, 2])
def test_of_several_seeds_every_line_names_its_own(resources, monkeypatch, capsys, seeds):
    documents = SmallResources().documents
    monkeypatch.setattr(CollectionResources, "documents", lambda _, doc_ids: documents(doc_ids))
    qrels = {t.id: {"a": 1} for t in TOPICS}
    candidates = replace(_candidates(), qrels=qrels)
    learning = LearningPlan(folds=True, interpolate=0.5)
    for made in rerank_with_seeds(_choice(Witness), candidates, learning, resources, seeds):
        notice(f"{made.final.name} is written")
    lines = capsys.readouterr().err.splitlines()
    told = [line.partition("training ranker on fold 1")[0] for line in lines if "fold 1" in line]
    written = [line for line in lines if "is written" in line]
    if seeds == 1:
        assert told == [""]
        assert written == ["ranker is written"]
    else:
        first, second = seeds_of(resources.seed, 2)
        assert told == [f"seed {first}: ", f"seed {second}: "]
        assert written == [f"ranker-seed{seed} is written" for seed in (first, second)]


def test_an_interrupted_reranking_goes_on_unless_told_not_to(resources, monkeypatch):
    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 1)

    class Interrupted(Letters):
        asked: ClassVar[list[str]] = []
        stop = "t5"

        def score(self, topic, documents):
            if topic.id == self.stop:
                raise KeyboardInterrupt
            self.asked.append(topic.id)
            return super().score(topic, documents)

    def call():
        Interrupted.asked.clear()
        rerank(_choice(Interrupted), _candidates(), None, LearningPlan(), None, resources)
        return list(Interrupted.asked)

    with pytest.raises(KeyboardInterrupt):
        call()
    Interrupted.stop = None
    assert call() == [f"t{n}" for n in range(5, 20)]
    assert call() == []
    resources.seed = 2
    Interrupted.stop = "t5"
    with pytest.raises(KeyboardInterrupt):
        call()
    Interrupted.stop = None
    resources.resume = False
    assert len(call()) == 20


def test_a_collection_does_not_train_for_itself():
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(_collection(), [_collection()])


def test_the_named_collection_goes_before_the_partner():
    partner, named = _collection("partner"), _collection("named")
    evaluated = _collection(training=lambda: partner)
    assert find_training(evaluated, []) is partner
    assert find_training(evaluated, [named]) is named
    assert find_training(_collection(), []) is None


def test_what_is_evaluated_does_not_validate_the_training():
    evaluated = _collection("a-dev")
    named = _collection("a-train", validation=lambda: _collection("a-dev"))
    other = _collection("b-train", validation=lambda: _collection("b-dev"))
    assert find_training(evaluated, [named]).validation is None
    assert find_training(evaluated, [other]) is other
    assert find_training(evaluated, [named, other]).validation is None
    assert find_training(_collection("c"), [named, other]).validation().id == "a-dev+b-dev"


def test_a_training_collection_needs_judgments():
    with pytest.raises(InputError, match="'named' has no judgments to train on"):
        find_training(_collection(), [_collection("named", load_qrels=None)])


def test_several_named_collections_are_learned_from_together():
    evaluated, a, b = _collection(), _collection("a"), _collection("b")
    assert find_training(evaluated, [a, b]).id == "a+b"
    with pytest.raises(InputError, match="'a' is named twice"):
        find_training(evaluated, [a, b, a])
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(evaluated, [a, evaluated])
    with pytest.raises(InputError, match="'b' has no judgments to train on"):
        find_training(evaluated, [a, replace(b, load_qrels=None)])
    other = replace(b, corpus=OTHER_CORPUS)
    with pytest.raises(InputError, match="'b' has other documents than 'a': they cannot"):
        find_training(evaluated, [a, other])
    partners = joined([a, evaluated])
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(replace(evaluated, training=lambda: partners), [])


def test_training_on_other_documents_is_refused(resources):
    other = replace(_collection("other"), corpus=OTHER_CORPUS)
    with pytest.raises(InputError, match=r"'other' has other documents.*--checkpoint"):
        find_candidates(other, [], 10, 10, resources)


def test_a_fusion_is_not_learned_over_other_documents_and_that_is_told(capsys):
    evaluated, partner = _collection(), _collection("partner", validation=_collection)
    held = to_fuse_on(partner, evaluated, named=True)
    assert (held.id, held.validation) == ("partner", None)
    assert capsys.readouterr().err == ""
    other = replace(partner, corpus=OTHER_CORPUS)
    assert to_fuse_on(other, evaluated, named=False) is None
    assert capsys.readouterr().err == (
        "partner: has other documents than 'c', so that all retrievers count the same when they "
        "are fused\n"
    )
    with pytest.raises(InputError, match=r"'partner' has other documents than 'c': .*--fusion pl"):
        to_fuse_on(other, evaluated, named=True)


def test_few_judged_topics_cannot_teach(capsys):
    few = {f"t{n}": {"a": 1} for n in range(9)}
    many = {f"t{n}": {"a": 1} for n in range(10)}
    worthless = {f"t{n}": {"a": 0} for n in range(30)}
    assert check_cross_validation(_collection(), [_choice(Letters)], few) is False
    strange = {f"x{n}": {"a": 1} for n in range(30)}  # the collection has no such topics
    one = {"t0": {"a": 1}}
    for judgments, told in (
        (few, "9 topics with a relevant document are"),
        (one, "1 topic with a relevant document is"),
        (worthless, "0 topics with a relevant document are"),
        (None, "0 topics with a relevant document are"),
        ({**few, **strange}, "9 topics with a relevant document are"),
    ):
        with pytest.raises(InputError, match=f"its own {told} too few"):
            check_cross_validation(_collection(), [_choice(Witness)], judgments)
    assert capsys.readouterr().err == ""
    same = replace(
        _collection(), load_topics=lambda: [Topic(f"t{n}", "melanoma") for n in range(30)]
    )
    with pytest.raises(
        InputError,
        match="its own 10 topics with a relevant document, which ask for 1 different things",
    ):
        check_cross_validation(same, [_choice(Witness)], many)
    sentences = [Topic(f"t{n}", f"word{n}", {"citing_id": str(n % 3)}) for n in range(30)]
    cited = replace(_collection(), load_topics=lambda: sentences)
    with pytest.raises(
        InputError,
        match=r"its own 10 topics with a relevant document, which come from 3 different sources",
    ):
        check_cross_validation(cited, [_choice(Witness)], many)
    assert check_cross_validation(_collection(), [_choice(Witness)], many) is True
    told = "cross-validating over its own 10 topics with a relevant document in 5 folds"
    assert told in capsys.readouterr().err


def test_options_are_tuned_on_the_partner_never_on_the_collection_itself_unasked():
    partner, named = _collection("partner"), _collection("named")
    evaluated = _collection(training=lambda: partner)
    assert topics_to_tune_on(evaluated, [], itself=False) is partner
    assert topics_to_tune_on(evaluated, [named], itself=False) is named
    assert topics_to_tune_on(evaluated, [], itself=True) is evaluated
    with pytest.raises(InputError, match="its own topics are kept for testing"):
        topics_to_tune_on(_collection(), [], itself=False)
    with pytest.raises(InputError, match="name different topics; give one"):
        topics_to_tune_on(evaluated, [named], itself=True)
    with pytest.raises(InputError, match="'c' has no judgments to tune on"):
        topics_to_tune_on(_collection(load_qrels=None), [], itself=True)
