"""A trial trains as many members as were asked for, and its score depends on their number."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from irplatform import RunSettings, TuneSettings, tune
from irplatform.errors import InputError
from irplatform.evaluation.judgments import Judgments, of_collection
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.files import code_digests
from irplatform.files.digests import fingerprint
from irplatform.plugin import Topic
from irplatform.registry.loading import registry
from irplatform.retrieval.fusion_learning import learn_weights
from irplatform.runs import Ranking, Run
from irplatform.text.vector_source import VectorSource
from irplatform.tuning.objective import TunedSystem
from irplatform.tuning.search import Trials
from irplatform.tuning.tune import usable_topics

RESOURCES = SimpleNamespace(
    index_artifact=lambda: SimpleNamespace(fingerprint="index"),
    source=VectorSource(),
    seed=1,
    device="cpu",
    model_threads=1,
)
GRADES = {"yes": 1, "no": 0}


def _system(rerankers, resources=RESOURCES, measure="nDCG@20", **members):
    judgments = Judgments({}, None, [measure])
    return TunedSystem(
        registry(), ["bm25"], rerankers, {}, [], judgments, 10, 5, None, resources, **members
    )


def test_scores_depend_on_the_number_of_members():
    usual, one = _system(["drmm"]).depends_on(), _system(["drmm"], members=1).depends_on()
    assert one == {**usual, "members": 1}
    assert _system(["drmm"], members=5).depends_on() == usual
    assert _system([], members=1).depends_on() == _system([]).depends_on()


@pytest.mark.parametrize("rerankers", [[], ["drmm"]])
def test_scores_depend_on_word_vectors_and_the_device(tmp_path, rerankers):
    """Of retrievers, too: some search with vectors, and with models."""
    imported = tmp_path / "vectors.txt"
    imported.write_text("1 2\nmelanoma 1 2\n")
    others = [
        {},
        {"source": VectorSource(imported=imported)},
        {"source": VectorSource(extra_text=(imported,))},
        {"device": "cuda"},
    ]
    resources = [SimpleNamespace(**{**vars(RESOURCES), **other}) for other in others]
    marks = {fingerprint(_system(rerankers, resource).depends_on()) for resource in resources}
    assert len(marks) == len(others)


def test_scores_depend_on_every_sampled_judgment(tmp_path):
    """Of thousands in a pool, too."""
    dependencies = []
    for changed in (0, 1):
        lines = [f"1 0 d{n} 1 {changed if n == 2500 else 0}\n" for n in range(5000)]
        (tmp_path / "sampled").write_text("".join(lines))
        dependencies.append(_system([], sampled=tmp_path / "sampled").depends_on())
    assert dependencies[0] != dependencies[1]


def test_scores_depend_on_the_source_of_a_measure(monkeypatch, tmp_path):
    (tmp_path / "mine.py").write_text("def share(qrels, run): return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import mine

    monkeypatch.setitem(registry().measures, "share", mine.share)
    before = _system([], measure="share").depends_on()
    assert before == _system([], measure="share").depends_on()
    (tmp_path / "mine.py").write_text("def share(qrels, run): return {'1': 1.0}\n")
    code_digests.package_digests.cache_clear()  # as in another process
    assert before != _system([], measure="share").depends_on()


def test_several_retrievers_are_fused_as_topics_of_other_folds_have_it(monkeypatch):
    """The first retriever is right for all; what a topic itself says moves no weight of its own."""
    topics = [Topic(str(n), f"question {n}") for n in range(10)]
    good = Run("good", {t.id: Ranking.of(["yes", "no", "new"], [3, 2, 1]) for t in topics})
    bad = Run("bad", {t.id: Ranking.of(["no", "new", "yes"], [3, 2, 1]) for t in topics})
    learned = []

    def choose(runs, qrels):
        learned.append(set(runs[0].rankings))
        return learn_weights(runs, qrels)

    monkeypatch.setattr("irplatform.tuning.objective.learn_weights", choose)
    monkeypatch.setattr(
        "irplatform.tuning.objective.checked_run",
        lambda choice, *_, **__: {"bm25": good, "qld": bad}[choice.name],
    )
    judgments = Judgments({t.id: {"yes": 1} for t in topics}, None, ["P@1"])
    system = TunedSystem(
        registry(), ["bm25", "qld"], [], {}, topics, judgments, 10, 5, None, RESOURCES
    )
    assert set(system.score({}).values()) == {1.0}  # a plain fusion has "no" first
    assert len(learned) == 5
    assert all(len(ids) == 8 for ids in learned)


@pytest.mark.parametrize("retrievers", [["bm25"], ["bm25", "qld"]])
def test_topics_with_sampled_judgments_alone_are_scored(monkeypatch, tmp_path, retrievers):
    """The file of ordinary judgments may have fewer topics."""
    topics = [Topic(str(n), f"question {n}") for n in range(10)]
    lines = [f"{t.id} 0 {doc_id} 1 {grade}\n" for t in topics for doc_id, grade in GRADES.items()]
    (tmp_path / "sampled").write_text("".join(lines))
    qrels = {t.id: dict(GRADES) for t in topics[1:]}
    judgments = Judgments(qrels, read_sampled_qrels(tmp_path / "sampled"), ["infNDCG"])
    usable = usable_topics(topics, judgments, None, 1)
    assert usable == topics
    ranked = Run("run", {t.id: Ranking.of(["yes", "no"], [2, 1]) for t in topics})
    monkeypatch.setattr("irplatform.tuning.objective.checked_run", lambda *_, **__: ranked)
    system = TunedSystem(registry(), retrievers, [], {}, usable, judgments, 10, 5, None, RESOURCES)
    assert system.depends_on()["qrels"] == qrels
    assert system.score({}) == {t.id: 1.0 for t in topics}


@pytest.mark.parametrize(("number", "phrase"), [(1, "is 1 topic"), (2, "are 2 topics")])
def test_how_few_topics_there_are_is_told_in_the_right_number(number, phrase):
    topics = [Topic(str(n), f"question {n}") for n in range(number)]
    judgments = Judgments({topic.id: GRADES for topic in topics}, None, ["P@1"])
    with pytest.raises(
        InputError, match=f"^there {phrase} with a relevant document to tune on; at"
    ):
        usable_topics(topics, judgments, None, 1)


@pytest.mark.java
def test_trials_train_the_members_that_were_asked_for(monkeypatch):
    trained = []

    def rerank(choice, *_):
        trained.append(choice.members)
        raise InputError("enough was seen")

    monkeypatch.setattr("irplatform.tuning.objective.rerank", rerank)
    settings = RunSettings("demo", rerankers=["drmm"], members=2)
    with pytest.raises(InputError, match="enough was seen"):
        tune(settings, TuneSettings(["loop.epochs=1:2"], trials=1))
    assert trained == [2]


@pytest.mark.java
def test_an_option_with_several_defaults_is_not_tuned_as_one():
    settings = RunSettings("demo", rerankers=["bm25-text"])
    message = (
        "over='k1': by default it is 0.9 for bm25 and 2.0 for bm25-text. Name one, as bm25-text.k1"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        tune(settings, TuneSettings(["k1=1:2"], trials=1))


def test_one_reranker_is_tuned_at_a_time():
    settings = RunSettings("demo", rerankers=["bm25-text", "dlh13"])
    with pytest.raises(InputError, match="bm25-text, dlh13: one reranker is tuned at a time"):
        tune(settings, TuneSettings(["bm25-text.k1=0.5,1.5"]))


@pytest.mark.java
def test_topics_that_a_measure_leaves_out_count_nothing(tmp_path):
    """A run without results for a topic, or a pool nobody judged, breaks nothing."""
    collection = registry().collection("demo-train")
    lines = [
        f"{topic} 0 {document} 1 {grade}"
        for number, (topic, grades) in enumerate(collection.load_qrels().items())
        for document, grade in grades.items()
        if number
    ]
    (tmp_path / "sampled").write_text("\n".join(lines) + "\n")
    sampled = replace(collection, id="sampled", sampled_qrels=tmp_path / "sampled")
    judged = of_collection(sampled, ["infNDCG"], {})
    topics = sampled.load_topics()
    assert not judged.is_scored(topics[0].id)
    ordinary = of_collection(collection, ["infAP"], {})  # ir-measures', which takes these
    assert ordinary.is_scored(topics[0].id)
    assert len(usable_topics(topics, judged, None, 1)) == len(topics) - 1
    trials = Trials(lambda s: {"all": s}, lambda _: {"a": 0.5}, ["a", "nothing found"], None)
    assert trials.run({}).scores == {"a": 0.5, "nothing found": 0.0}


@pytest.mark.java
def test_what_every_trial_is_searched_with_is_no_option_that_was_chosen(monkeypatch):
    """The default plan's folds hold out its topics again in the run that takes the file."""
    arguments = {}
    monkeypatch.setattr(
        "irplatform.tuning.tune.tune_system", lambda *_, **keywords: arguments.update(keywords)
    )
    monkeypatch.setattr("irplatform.tuning.tune.refuse_idle_plan", lambda *_: None)
    settings = RunSettings("demo", settings={"b": 0.3})
    tune(settings, TuneSettings(["bm25.plan.gene.weight=1:2"]))
    assert arguments["fixed"] == {"b": 0.3}


@pytest.fixture
def tuned(monkeypatch):
    """The system that would be tuned with some settings."""

    def of(settings, over):
        systems = []
        monkeypatch.setattr(
            "irplatform.tuning.tune.tune_system", lambda system, *_, **__: systems.append(system)
        )
        tune(settings, TuneSettings([over], folds=3))
        return systems[0]

    return of


@pytest.mark.java
def test_all_judged_documents_are_ranked_in_every_trial(tuned):
    """A depth is for what retrievers find."""
    settings = {"measures": ["R@1000"], "depth": 5}
    judged = tuned(RunSettings("demo", first_stages=["judged"], **settings), "b")
    retrieval = tuned(RunSettings("demo", **settings), "b")
    assert set(judged.score({"b": 0.3}).values()) == {1.0}
    assert max(retrieval.score({"b": 0.3}).values()) < 1.0
    assert fingerprint(judged.depends_on()) != fingerprint(retrieval.depends_on())


def test_a_run_file_is_not_tuned_on(tmp_path):
    (tmp_path / "my.run").write_text("1 Q0 d 1 1.0 mine\n")
    settings = RunSettings("demo", first_stages=[str(tmp_path / "my.run")])
    with pytest.raises(InputError, match=r"what retrievers find, or on the judged documents"):
        tune(settings, TuneSettings(["b"]))


@pytest.mark.java
def test_a_preset_stands_beneath_what_is_tried(tuned):
    system = tuned(RunSettings("demo", rerankers=["delta"], preset="paper"), "query_words=5,9")
    usual, tried = (
        system.describe(settings)["systems"][1]["options"] for settings in ({}, {"query_words": 5})
    )
    assert (usual["query_words"], tried["query_words"]) == (7, 5)
    assert usual["loop"]["validate_on"] == tried["loop"]["validate_on"] == "alone"


@pytest.mark.java
def test_rerankers_are_cross_validated_in_as_many_folds_as_the_choice(monkeypatch, tuned):
    plans = []

    def rerank(choice, candidates, learning, resources):
        plans.append(learning)
        return SimpleNamespace(final=candidates.first)

    monkeypatch.setattr("irplatform.tuning.objective.rerank", rerank)
    system = tuned(RunSettings("demo", rerankers=["drmm"]), "loop.epochs=1:2")
    system.score({})
    assert [(plan.folds, plan.fold_count) for plan in plans] == [(True, 3)]
    usual = replace(system, folds=5)
    assert fingerprint(system.depends_on()) != fingerprint(usual.depends_on())


def test_members_have_no_effect_where_nothing_learns():
    with pytest.raises(InputError, match="members= has no effect"):
        tune(RunSettings("demo", members=2), TuneSettings(["k1"]))


@pytest.mark.parametrize(("column", "measure"), [("level", "nDCG-exp@20"), ("score", "nDCG@20")])
def test_a_click_collection_is_tuned_by_its_own_measure(tmp_path, monkeypatch, column, measure):
    folder = tmp_path / "clicks"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": "lung"}\n')
    queries = [f'{{"_id": "q{n}", "text": "lung {n}"}}\n' for n in range(10)]
    (folder / "queries.jsonl").write_text("".join(queries))
    judged = "".join(f"q{n}\td\t1\n" for n in range(10))
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\t{column}\n{judged}")
    if column == "level":
        (folder / "measures.txt").write_text("nDCG-exp@20\nAP\n")
    systems = []
    monkeypatch.setattr(
        "irplatform.tuning.tune.tune_system", lambda system, *_, **__: systems.append(system)
    )
    monkeypatch.setattr("irplatform.tuning.tune.refuse_broken_corpus", lambda *_: None)
    tune(RunSettings(str(folder)), TuneSettings(["k1=1:2"], on_these_topics=True))
    assert systems[0].measure == measure
