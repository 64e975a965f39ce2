"""Fitting: members never validate on what they learned from; training is kept and resumed."""

import shutil
import time
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from pydantic import Field
from small import SmallResources, labelled, registration

from irplatform.collection_resources import UsageLog
from irplatform.errors import InputError, PluginError
from irplatform.plugin import Options, Reranker, Topic, TrainableReranker, Traits
from irplatform.registry.loading import registry
from irplatform.reranking.fitting import fit_system, open_checkpoint
from irplatform.reranking.systems import MEMBERS, ChosenReranker
from irplatform.reranking.training import Member, learn_side_by_side
from irplatform.reranking.training_set import Example, Split, TrainingSet, examples
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.first_stage import FirstStage
from irplatform.runs import Ranking, Run
from irplatform.system.console import notice
from irplatform.system.progress import Stopwatch
from irplatform.text.vector_source import VectorSource
from irplatform.training.checkpoints import Checkpoint

pytestmark = pytest.mark.usefixtures("fresh_home")


class KnownOptions(Options):
    bias: float = Field(0.0, description="added to every score")


class Memory(TrainableReranker):
    """Knows the relevant documents of the topics that it learned from, and of no others."""

    Options = KnownOptions
    fitted: ClassVar[list[tuple[list[str], list[str]]]] = []
    interrupt_at = None

    def fit(self, data):
        if len(Memory.fitted) == self.interrupt_at:
            (data.workspace / "half").write_text("half")
            raise KeyboardInterrupt
        self.resumed = (data.workspace / "half").exists()
        ids = [t.topic.id for t in data.training], [t.topic.id for t in data.validation]
        Memory.fitted.append(ids)
        self.known = {d for t in data.training for d, g in t.judgments.items() if g > 0}

    def save(self, folder):
        (folder / "known").write_text(" ".join(sorted(self.known)))

    def load(self, folder):
        self.known = set((folder / "known").read_text().split())

    def score(self, topic, documents):
        return [float(d in self.known) + self.options.bias for d in documents.ids]


class Oracle(Reranker):
    """Ranks by the last letter, a first."""

    def score(self, topic, documents):
        return [-float(ord(d[-1])) for d in documents.ids]


@pytest.fixture(autouse=True)
def _nothing_fitted_yet():
    Memory.fitted = []
    Memory.interrupt_at = None


class Resources(SmallResources):
    """Resources as fitting sees them."""

    corpus = SimpleNamespace(fingerprint="corpus", name="corpus")
    source = VectorSource()
    resume = True
    stopwatch = Stopwatch()
    notice = staticmethod(notice)

    @contextmanager
    def record(self):
        yield UsageLog()

    def of_member(self, number):
        member = replace(self, seed=self.seed + number)
        member.vectors_used, member.words_used = {}, {}
        return member


def _other_resources(**changed):
    return type("Others", (Resources,), changed)()


def _choice(kind, **settings):
    held = registration(kind, "memory")
    return ChosenReranker(held, held.options(settings))


def _examples(numbers, shared=""):
    """The first stage ranks the relevant document, which ends in a, last."""
    made = []
    for n in numbers:
        ids = [f"t{n}{letter}{shared}" for letter in "zedcba"]
        first = Ranking.of(ids, np.arange(6.0, 0.0, -1.0))
        made.append(Example(labelled(f"t{n}", ids, {ids[-1]: 1}, f"query {n}"), first))
    return made


def _without_relevant(examples):
    """The same topics, where all that was judged is not relevant."""
    return [
        replace(e, labelled=replace(e.labelled, judgments={e.first.doc_ids[0]: 0}))
        for e in examples
    ]


def _of_articles(examples):
    """The same topics as sentences of seven citing articles."""
    return [
        replace(
            e,
            labelled=replace(
                e.labelled, topic=replace(e.topic, fields={"citing_id": f"article {number % 7}"})
            ),
        )
        for number, e in enumerate(examples)
    ]


def test_a_system_is_trained_on_folds_and_each_topic_validates_once():
    system = fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    assert len(system.members) == len(Memory.fitted) == MEMBERS
    for training, validation in Memory.fitted:
        assert not set(training) & set(validation)
    assert sorted(t for _, part in Memory.fitted for t in part) == sorted(
        f"t{n}" for n in range(20)
    )


def test_a_renamed_collection_finds_what_was_trained_on_it_and_is_told_by_its_name():
    for label in ("train", "renamed"):
        system = fit_system(_choice(Memory), TrainingSet(label, _examples(range(20))), Resources())
        assert len(Memory.fitted) == MEMBERS
        assert system.description["trained_on"] == label


def test_a_single_member_validates_on_a_fold():
    choice = replace(_choice(Memory), members=1)
    system = fit_system(choice, TrainingSet("train", _examples(range(20))), Resources())
    assert len(system.members) == 1
    assert [(len(training), len(apart)) for training, apart in Memory.fitted] == [(16, 4)]


@pytest.mark.parametrize(
    ("members", "topics", "told"),
    [
        (1, 20, "1 member on 16 topics and validated on 4"),
        (2, 2, "2 members, each on 1 topic and validated on 1"),
    ],
)
def test_how_many_learn_from_how_many_is_told(members, topics, told, capsys):
    choice = replace(_choice(Memory), members=members)
    fit_system(choice, TrainingSet("train", _examples(range(topics))), Resources())
    assert capsys.readouterr().err == f"training memory on train: {told}\n"


def test_a_reranker_is_told_which_topics_are_held_out_and_no_others_that_it_will_score():
    unseen = []

    class Curious(Memory):
        def fit(self, data):
            unseen.append(data.unseen)
            super().fit(data)

    learned = TrainingSet("train", _examples(range(20)))
    fit_system(_choice(Curious), learned, Resources())
    assert unseen == [()] * MEMBERS
    unseen.clear()
    held_out = tuple(example.topic for example in _examples(range(20, 25)))
    fit_system(_choice(Curious), replace(learned, held_out=held_out), Resources())
    assert unseen == [held_out] * MEMBERS


@pytest.mark.parametrize(
    ("device", "learns_there", "side_by_side"),
    [("cpu", True, True), ("cuda", True, False), ("cuda", False, True)],
)
def test_members_share_a_gpu_one_after_another(monkeypatch, device, learns_there, side_by_side):
    """A GPU may hold one model only; what does not learn there need not wait."""
    registered = registry().reranker("drmm")
    monkeypatch.setattr(
        registered.system, "traits", lambda _self: Traits(learns_on_device=learns_there)
    )
    choice = ChosenReranker(registered, registered.options({}))
    resources = SimpleNamespace(device=device, unopened=lambda: None)
    assert learn_side_by_side(choice, resources) == side_by_side


def test_the_weight_is_chosen_out_of_sample():
    """A reranker that only remembers is no use on topics that it did not learn from."""
    system = fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    assert system.weight == 1
    assert system.description["interpolation"]["topics"] == 20
    assert set(system.description["interpolation"]["nDCG@20"]) >= {"0.0", "1.0"}


def test_the_weight_is_chosen_on_what_scores_become_among_all_candidates(monkeypatch):
    monkeypatch.setattr(
        Memory,
        "rescore",
        lambda _self, _topic, documents, scores: [-float(ord(d[-1])) for d in documents.ids],
    )
    system = fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    assert system.weight < 0.5, "where what it remembers is worth nothing"


def test_who_holds_the_first_stage_stands_alone_where_it_is_no_worse(monkeypatch):
    training_set = TrainingSet("train", _examples(range(20)))
    fit_system(_choice(Memory), training_set, Resources())
    monkeypatch.setattr(Memory, "traits", lambda _self: Traits(weighs_first_stage=True))
    assert fit_system(_choice(Memory), training_set, Resources()).weight == 0, "trained anew"


def test_a_validation_set_apart_validates_every_member():
    training_set = TrainingSet("train", _examples(range(20)), _examples(range(20, 25)))
    system = fit_system(_choice(Memory), training_set, Resources())
    assert len(system.members) == MEMBERS
    apart = ([f"t{n}" for n in range(20)], [f"t{n}" for n in range(20, 25)])
    assert Memory.fitted == [apart] * MEMBERS
    assert system.description["interpolation"]["topics"] == 5


def test_the_weight_is_chosen_on_the_mean_of_members_that_validate_on_the_same_topics():
    """The first member alone would leave the first stage as it is."""

    class FirstIsWrong(Memory):
        def prepare(self, resources):
            self.sign = 1 if resources.seed == 1 else -1

        def score(self, topic, documents):
            return [float(self.sign * ord(d[-1])) for d in documents.ids]

    training_set = TrainingSet("train", _examples(range(20)), _examples(range(20, 32)))
    assert fit_system(_choice(FirstIsWrong), training_set, Resources()).weight < 0.5


def test_training_is_kept():
    training_set = TrainingSet("train", _examples(range(20)))
    first = fit_system(_choice(Memory), training_set, Resources())
    Memory.fitted = []
    second = fit_system(_choice(Memory), training_set, Resources())
    assert Memory.fitted == []
    assert second.fingerprint == first.fingerprint
    assert [m.known for m in second.members] == [m.known for m in first.members]


@pytest.mark.parametrize(
    ("choice", "training_set", "resources"),
    [
        (_choice(Memory, bias=1.0), TrainingSet("x", _examples(range(20))), Resources()),
        (_choice(Memory), TrainingSet("x", _examples(range(19))), Resources()),
        (_choice(Memory), TrainingSet("x", _examples(range(20), shared="s")), Resources()),
        (_choice(Memory), TrainingSet("x", _examples(range(20))), Resources(seed=2)),
        (_choice(Memory), TrainingSet("x", _examples(range(20))), Resources(device="other")),
        (_choice(Memory), TrainingSet("x", _examples(range(20))), Resources(model_threads=2)),
        (
            replace(_choice(Memory), members=2),
            TrainingSet("x", _examples(range(20))),
            Resources(),
        ),
        *(
            (_choice(Memory), TrainingSet("x", _examples(range(20))), _other_resources(**changed))
            for changed in (
                {"corpus": SimpleNamespace(fingerprint="another", name="corpus")},
                {"source": SimpleNamespace(describe=lambda: {"vectors": "others"})},
            )
        ),
    ],
    ids=[
        "options", "topics", "documents", "seed", "device", "threads", "members", "corpus",
        "vectors",
    ],
)  # fmt: skip
def test_whatever_changes_the_result_trains_anew(choice, training_set, resources):
    fit_system(_choice(Memory), TrainingSet("x", _examples(range(20))), Resources())
    Memory.fitted = []
    fit_system(choice, training_set, resources)
    assert Memory.fitted


@pytest.mark.parametrize(
    ("name", "value"),
    [("FEWEST_TOPICS", 9), ("MOST_WEIGHING_TOPICS", 3)],
)
def test_so_do_fewer_topics_to_choose_the_weight_on(monkeypatch, name, value):
    training_set = TrainingSet("x", _examples(range(20)))
    fit_system(_choice(Memory), training_set, Resources())
    Memory.fitted = []
    monkeypatch.setattr(f"irplatform.reranking.fitting.{name}", value)
    fit_system(_choice(Memory), training_set, Resources())
    assert Memory.fitted


def test_fields_judgments_and_first_stage_scores_are_part_of_a_training_sets_digest():
    plain = TrainingSet("x", _examples(range(5)))
    example = plain.training[0]
    aged = replace(example.labelled.topic, fields={"demographic": "64-year-old male"})
    asked = replace(example.labelled, topic=aged)
    judged = replace(example.labelled, judgments={"t0z": 1})
    scored = Ranking(example.first.doc_ids, example.first.scores * 2)
    for changed in (
        replace(example, labelled=asked),
        replace(example, labelled=judged),
        replace(example, first=scored),
    ):
        assert TrainingSet("x", [changed, *plain.training[1:]]).digest() != plain.digest()
    assert TrainingSet("x", plain.training[:3], plain.training[3:]).digest() != plain.digest()


class WaitsForVectors(Memory):
    """Is the first that needs word vectors."""

    def fit(self, data):
        with self.resources.stopwatch.timed("vectors"):
            time.sleep(0.5)
        super().fit(data)

    def prepare(self, resources):
        self.resources = resources


def test_what_the_other_members_use_as_well_is_no_time_of_the_first(tmp_path):
    split = Split(_examples([1, 2]), _examples([3]))
    member = Member(_choice(WaitsForVectors), split, Resources().of_member(0), 0, tmp_path, None)
    assert 0 < member.train() < 0.4


def test_an_interrupted_training_finds_its_workspace_again():
    training_set = TrainingSet("train", _examples(range(20)))
    Memory.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        fit_system(_choice(Memory), training_set, Resources())
    Memory.interrupt_at = None
    seen = []

    class Watching(Memory):
        def fit(self, data):
            seen.append((data.workspace / "half").exists())
            super().fit(data)

    choice = _choice(Memory)
    watching = replace(choice, registration=replace(choice.registration, declared=Watching))
    fit_system(watching, training_set, Resources())
    assert seen == [True, False, False]  # two were finished


@pytest.mark.parametrize("finished", [1, MEMBERS])
def test_a_training_that_was_interrupted_brings_its_words_too(tmp_path, monkeypatch, finished):
    folder = tmp_path / "vectors"
    folder.mkdir()
    (folder / "words").write_text("a b")

    class Reading(Memory):
        def prepare(self, resources):
            if hasattr(resources, "vectors_used"):
                resources.vectors_used["imported"] = folder
                resources.words_used["stems"] = folder

    def killed(*_args):
        raise KeyboardInterrupt

    training_set = TrainingSet("train", _examples(range(20)))
    Memory.interrupt_at = finished
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("irplatform.reranking.fitting.write_checkpoint", killed)
        fit_system(_choice(Reading), training_set, Resources())
    Memory.interrupt_at = None
    fit_system(_choice(Reading), training_set, Resources())
    (checkpoint,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    (held,) = Checkpoint.read(checkpoint).vectors.values()
    for place in (held, Checkpoint.read(checkpoint).words / "stems"):
        assert (place / "words").read_text() == "a b"


def test_a_reranker_that_cannot_save_is_named():
    class Forgetful(Memory):
        save = TrainableReranker.save

    message = r"'memory' of plugin .* failed saving: NotImplementedError: Forgetful does not define"
    with pytest.raises(PluginError, match=message):
        fit_system(_choice(Forgetful), TrainingSet("train", _examples(range(20))), Resources())


def test_a_reranker_whose_save_writes_nothing_is_named():
    """What it learned would be gone, and it would score as if it had not learned."""

    class Empty(Memory):
        def save(self, folder):
            pass

        def load(self, folder):
            self.known = set()

    message = r"^reranker 'memory' of plugin .*: save\(\) wrote nothing"
    with pytest.raises(PluginError, match=message):
        fit_system(_choice(Empty), TrainingSet("train", _examples(range(20))), Resources())


def test_no_resume_starts_from_nothing():
    training_set = TrainingSet("train", _examples(range(20)))
    Memory.interrupt_at = 0
    with pytest.raises(KeyboardInterrupt):
        fit_system(_choice(Memory), training_set, Resources())
    Memory.interrupt_at = None
    resources = Resources()
    resources.resume = False
    seen = []

    class Watching(Memory):
        def fit(self, data):
            seen.append((data.workspace / "half").exists())
            super().fit(data)

    choice = _choice(Memory)
    watching = replace(choice, registration=replace(choice.registration, declared=Watching))
    fit_system(watching, training_set, resources)
    assert seen == [False] * MEMBERS


def test_a_reranker_that_does_not_learn_gets_its_weight_from_the_training_topics():
    system = fit_system(_choice(Oracle), TrainingSet("train", _examples(range(20))), Resources())
    assert len(system.members) == 1
    assert system.weight < 0.5


def test_or_from_validation_topics_where_there_are_some_apart():
    """Of these the relevant document is the one that the first stage has first."""
    validation = [
        replace(e, labelled=replace(e.labelled, judgments={e.first.doc_ids[0]: 1}))
        for e in _examples(range(20, 30))
    ]
    training_set = TrainingSet("train", _examples(range(20)), validation)
    assert fit_system(_choice(Oracle), training_set, Resources()).weight == 1


def test_topics_that_all_ask_the_same_leave_none_to_validate_on():
    same = [
        replace(e, labelled=replace(e.labelled, topic=Topic(e.topic.id, "the same")))
        for e in _examples(range(9))
    ]
    told = "topics of 'train' with a relevant document all ask for the same or are of one source"
    with pytest.raises(InputError, match=told):
        fit_system(_choice(Memory), TrainingSet("train", same), Resources())
    fit_system(_choice(Memory), TrainingSet("train", same, _examples(range(5))), Resources())


def test_sentences_of_one_article_validate_no_model_that_learned_from_others_of_it():
    examples = _of_articles(_examples(range(20)))
    fit_system(_choice(Memory), TrainingSet("train", examples), Resources())
    article_of = {e.topic.id: e.topic.fields["citing_id"] for e in examples}
    assert len(Memory.fitted) == MEMBERS
    for training, validation in Memory.fitted:
        assert not {article_of[t] for t in training} & {article_of[t] for t in validation}


def test_of_a_single_topic_it_is_not_said_that_all_ask_the_same():
    told = "'train' has only one topic with a relevant document, so that none is left to validate "
    with pytest.raises(InputError, match=told):
        fit_system(_choice(Memory), TrainingSet("train", _examples(range(1))), Resources())


def test_without_a_relevant_document_there_is_nothing_to_learn():
    nothing = [replace(e, labelled=replace(e.labelled, judgments={})) for e in _examples(range(9))]
    with pytest.raises(InputError, match="'train' has no relevant document to train 'memory'"):
        fit_system(_choice(Memory), TrainingSet("train", nothing), Resources())


def test_topics_without_a_relevant_document_validate_no_member_alone(capsys):
    """Those that have some are dealt out evenly, and only they are counted."""
    mixed = [*_without_relevant(_examples(range(15))), *_examples(range(15, 20))]
    system = fit_system(_choice(Memory), TrainingSet("train", mixed), Resources())
    useful = {f"t{n}" for n in range(15, 20)}
    assert [len(useful & set(validation)) for _, validation in Memory.fitted] == [1] * MEMBERS
    assert system.description["interpolation"]["topics"] == 5
    assert "each on 16 topics and validated on 1\n" in capsys.readouterr().err


def test_a_single_topic_with_a_relevant_document_cannot_both_teach_and_validate():
    few = [*_without_relevant(_examples(range(9))), *_examples([9])]
    with pytest.raises(InputError, match="'train' has only one topic with a relevant document"):
        fit_system(_choice(Memory), TrainingSet("train", few), Resources())
    fit_system(_choice(Memory), TrainingSet("train", few, _examples([10])), Resources())


def test_members_that_are_validated_on_topics_that_nothing_relevant_was_found_for_are_told_of(
    capsys,
):
    def unfound(e):
        ids = e.labelled.candidates[:-1]  # the relevant document is the last one
        return replace(e, labelled=replace(e.labelled, candidates=ids))

    training_set = TrainingSet("train", _examples(range(20)), [unfound(*_examples([20]))])
    fit_system(_choice(Memory), training_set, Resources())
    told = "WARNING: memory on train: 5 of 5 members are validated on topics without any relevant "
    assert told in capsys.readouterr().err
    fit_system(_choice(Memory), training_set, Resources())
    assert told in capsys.readouterr().err, "also of one that was trained before"
    fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    assert "WARNING" not in capsys.readouterr().err


def test_a_moved_checkpoint_can_be_opened(tmp_path):
    training_set = TrainingSet("train", _examples(range(20)))
    system = fit_system(_choice(Memory), training_set, Resources())
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    assert not list(folder.glob("work-*"))
    folder.rename(tmp_path / "elsewhere")
    opened = open_checkpoint(_choice(Memory), tmp_path / "elsewhere", Resources())
    assert opened.weight == system.weight
    assert [m.known for m in opened.members] == [m.known for m in system.members]


def test_other_weights_options_or_code_make_another_system_of_a_checkpoint(tmp_path, monkeypatch):
    fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")

    def mark(choice=None):
        return open_checkpoint(choice or _choice(Memory), folder, Resources()).fingerprint

    before = mark()
    assert mark() == before
    assert mark(_choice(Memory, bias=1)) != before
    changed = {**_choice(Memory).registration.made_by, "source": "another"}
    with monkeypatch.context() as patched:
        patched.setattr(type(_choice(Memory).registration), "made_by", changed)
        assert mark() != before, "scores of an interrupted run are not those of the mended code"
    (folder / "member-1" / "known").write_text("t0a")
    assert mark() != before


def test_a_second_training_with_other_weights_is_another_system(tmp_path, monkeypatch):
    """As on a GPU: scores that the first one left in the cache are not those of the second."""
    training_set = TrainingSet("train", _examples(range(20)))
    before = fit_system(_choice(Memory), training_set, Resources()).fingerprint
    assert fit_system(_choice(Memory), training_set, Resources()).fingerprint == before
    shutil.rmtree(tmp_path / "home" / "checkpoint")
    save = Memory.save

    def save_otherwise(reranker, folder):
        save(reranker, folder)
        (folder / "known").write_text((folder / "known").read_text() + "\n")

    monkeypatch.setattr(Memory, "save", save_otherwise)
    assert fit_system(_choice(Memory), training_set, Resources()).fingerprint != before


def _examples_of(monkeypatch, rankings, qrels, *missing, depth=None):
    """The examples that topics make whose candidates are the first documents."""
    monkeypatch.setattr("irplatform.reranking.training_set._missing", lambda *_: {*missing})
    topics = [example.topic for example in rankings]
    first = {example.topic.id: example.first for example in rankings}
    candidates = Candidates(
        topics,
        FirstStage([], Run("bm25", first), ""),
        {topic: ranking.doc_ids[:depth] for topic, ranking in first.items()},
        qrels=qrels,
    )
    return examples(candidates, Resources())


def test_only_judged_topics_are_examples(monkeypatch):
    qrels = {"t1": {"t1z": 1}, "elsewhere": {}}
    (made,) = _examples_of(monkeypatch, _examples(range(3)), qrels, depth=2)
    assert made.topic.id == "t1"
    assert made.labelled.candidates == ("t1z", "t1e")


def test_judgments_of_documents_that_are_missing_are_no_part_of_an_example(monkeypatch):
    given, grades = _examples(range(1)), {"t0z": 1, "gone": 2}
    assert _examples_of(monkeypatch, given, {"t0": grades})[0].labelled.judgments == grades
    (made,) = _examples_of(monkeypatch, given, {"t0": grades}, "gone", "t9")
    assert made.labelled.judgments == {"t0z": 1}


def test_documents_that_were_pooled_and_not_judged_are_unjudged_candidates(monkeypatch):
    (made,) = _examples_of(monkeypatch, _examples(range(1)), {"t0": {"t0z": 1, "t0e": -1}})
    assert made.labelled.judgments == {"t0z": 1}
    assert "t0e" in made.labelled.candidates


def test_a_checkpoint_knows_the_topics_that_it_was_trained_on(tmp_path):
    fit_system(_choice(Memory), TrainingSet("train", _examples(range(20))), Resources())
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    seen = [example.topic for example in _examples([3])]
    assert Checkpoint.read(folder).learned([*seen, Topic("new", "another topic")]) == seen


class Counting(Memory):
    """Says from what it started."""

    def fit(self, data):
        before = getattr(self, "known", set())
        super().fit(data)
        self.known |= before


def test_pretraining_is_told_by_the_name_of_who_asked_for_it(capsys):
    before = TrainingSet("before", _examples(range(50, 60)), _examples(range(60, 62)))
    choice = _choice(Counting)
    fit_system(choice, TrainingSet("train", _examples(range(20))), Resources(), before)
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith(f"pre-training {choice.name} on before: 1 member on 10 topics")
    assert second.startswith(f"training {choice.name} on train: {MEMBERS} members")


def test_members_start_from_the_model_that_was_pretrained():
    before = TrainingSet("before", _examples(range(50, 60)), _examples(range(60, 62)))
    training_set = TrainingSet("train", _examples(range(20)))
    system = fit_system(_choice(Counting), training_set, Resources(), before)
    assert len(Counting.fitted) == 1 + MEMBERS, "one model is pre-trained, for all members"
    assert all(member.known >= {f"t{n}a" for n in range(50, 60)} for member in system.members)


def test_pretraining_without_validation_topics_keeps_some_apart():
    before = TrainingSet("before", _examples(range(50, 60)))
    fit_system(_choice(Counting), TrainingSet("train", _examples(range(20))), Resources(), before)
    training, validation = Counting.fitted[0]
    assert validation
    assert sorted(training + validation) == sorted(f"t{n}" for n in range(50, 60))


def test_pretraining_on_nothing_relevant_is_refused():
    nothing = [replace(e, labelled=replace(e.labelled, judgments={})) for e in _examples(range(5))]
    with pytest.raises(InputError, match="'before' has no relevant document"):
        fit_system(
            _choice(Counting),
            TrainingSet("x", _examples(range(20))),
            Resources(),
            TrainingSet("before", nothing),
        )


def test_pretrained_systems_are_kept_apart_from_others():
    training_set = TrainingSet("train", _examples(range(20)))
    before = TrainingSet("before", _examples(range(50, 60)))
    plain = fit_system(_choice(Counting), training_set, Resources())
    pretrained = fit_system(_choice(Counting), training_set, Resources(), before)
    assert pretrained.fingerprint != plain.fingerprint
    assert fit_system(_choice(Counting), training_set, Resources()).fingerprint == plain.fingerprint
