"""Training is kept, resumed after an interruption, and made anew when its inputs have changed."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from memory import Memory, Resources, choose, ranked_examples, twenty_topics

from irplatform.errors import PluginError
from irplatform.plugin import Topic, TrainableReranker
from irplatform.reranking.fitting import fit_system, open_checkpoint
from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import TrainingSet
from irplatform.training.checkpoints import Checkpoint

pytestmark = pytest.mark.usefixtures("fresh_home", "nothing_fitted")


def _other_resources(**changed):
    return type("Others", (Resources,), changed)()


def test_a_renamed_collection_finds_what_was_trained_on_it_and_is_told_by_its_name():
    for label in ("train", "renamed"):
        system = fit_system(
            choose(Memory), TrainingSet(label, ranked_examples(range(20))), Resources()
        )
        assert len(Memory.fitted) == MEMBERS
        assert system.description["trained_on"] == label


def test_training_is_kept():
    training_set = twenty_topics()
    first = fit_system(choose(Memory), training_set, Resources())
    Memory.fitted = []
    second = fit_system(choose(Memory), training_set, Resources())
    assert Memory.fitted == []
    assert second.fingerprint == first.fingerprint
    assert [m.known for m in second.members] == [m.known for m in first.members]


@pytest.mark.parametrize(
    ("choice", "training_set", "resources"),
    [
        (choose(Memory, bias=1.0), twenty_topics(), Resources()),
        (choose(Memory), TrainingSet("x", ranked_examples(range(19))), Resources()),
        (choose(Memory), TrainingSet("x", ranked_examples(range(20), shared="s")), Resources()),
        (choose(Memory), twenty_topics(), Resources(seed=2)),
        (choose(Memory), twenty_topics(), Resources(device="other")),
        (choose(Memory), twenty_topics(), Resources(model_threads=2)),
        (
            replace(choose(Memory), members=2),
            twenty_topics(),
            Resources(),
        ),
        *(
            (choose(Memory), twenty_topics(), _other_resources(**changed))
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
    fit_system(choose(Memory), twenty_topics(), Resources())
    Memory.fitted = []
    fit_system(choice, training_set, resources)
    assert Memory.fitted


@pytest.mark.parametrize(("name", "value"), [("FEWEST_TOPICS", 9), ("MOST_WEIGHING_TOPICS", 3)])
def test_other_limits_of_weighing_topics_train_anew(monkeypatch, name, value):
    training_set = twenty_topics()
    fit_system(choose(Memory), training_set, Resources())
    Memory.fitted = []
    monkeypatch.setattr(f"irplatform.reranking.fitting.{name}", value)
    fit_system(choose(Memory), training_set, Resources())
    assert Memory.fitted


def _watch(monkeypatch):
    """Note of each member that is trained if it goes on from an interrupted training."""
    resumed, fit = [], Memory.fit

    def watched(reranker, data):
        resumed.append((data.workspace / "half").exists())
        fit(reranker, data)

    monkeypatch.setattr(Memory, "fit", watched)
    return resumed


def test_an_interrupted_training_finds_its_workspace_again(monkeypatch):
    training_set = twenty_topics()
    Memory.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        fit_system(choose(Memory), training_set, Resources())
    Memory.interrupt_at = None
    resumed = _watch(monkeypatch)
    fit_system(choose(Memory), training_set, Resources())
    assert resumed == [True, False, False]  # two were finished


@pytest.mark.parametrize("finished", [1, MEMBERS])
def test_an_interrupted_training_keeps_its_words(tmp_path, monkeypatch, finished):
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

    training_set = twenty_topics()
    Memory.interrupt_at = finished
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("irplatform.reranking.fitting.write_checkpoint", killed)
        fit_system(choose(Reading), training_set, Resources())
    Memory.interrupt_at = None
    fit_system(choose(Reading), training_set, Resources())
    (checkpoint,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    (vectors,) = Checkpoint.read(checkpoint).vectors.values()
    for place in (vectors, Checkpoint.read(checkpoint).words / "stems"):
        assert (place / "words").read_text() == "a b"


def test_a_reranker_that_cannot_save_is_named():
    class Forgetful(Memory):
        save = TrainableReranker.save

    message = r"'memory' of plugin .* failed saving: NotImplementedError: Forgetful does not define"
    with pytest.raises(PluginError, match=message):
        fit_system(choose(Forgetful), twenty_topics(), Resources())


def test_a_reranker_whose_save_writes_nothing_is_named():
    """What it learned would be gone, and it would score as if it had not learned."""

    class Empty(Memory):
        def save(self, folder):
            pass

        def load(self, folder):
            self.known = set()

    message = r"^reranker 'memory' of plugin .*: save\(\) wrote nothing"
    with pytest.raises(PluginError, match=message):
        fit_system(choose(Empty), twenty_topics(), Resources())


def test_no_resume_starts_from_nothing(monkeypatch):
    training_set = twenty_topics()
    Memory.interrupt_at = 0
    with pytest.raises(KeyboardInterrupt):
        fit_system(choose(Memory), training_set, Resources())
    Memory.interrupt_at = None
    resources = Resources()
    resources.resume = False
    resumed = _watch(monkeypatch)
    fit_system(choose(Memory), training_set, resources)
    assert resumed == [False] * MEMBERS


def test_a_moved_checkpoint_can_be_opened(tmp_path):
    training_set = twenty_topics()
    system = fit_system(choose(Memory), training_set, Resources()).prepared()
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    assert not list(folder.glob("work-*"))
    folder.rename(tmp_path / "elsewhere")
    opened = open_checkpoint(choose(Memory), tmp_path / "elsewhere", Resources())
    assert opened.weight == system.weight
    assert [m.known for m in opened.members] == [m.known for m in system.members]


def test_other_weights_options_or_code_make_another_system_of_a_checkpoint(tmp_path, monkeypatch):
    fit_system(choose(Memory), twenty_topics(), Resources())
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")

    def mark(choice=None):
        return open_checkpoint(choice or choose(Memory), folder, Resources()).fingerprint

    before = mark()
    assert mark() == before
    assert mark(choose(Memory, bias=1)) != before
    changed = {**choose(Memory).registration.code_facts, "source": "another"}
    with monkeypatch.context() as patched:
        patched.setattr(type(choose(Memory).registration), "code_facts", changed)
        assert mark() != before, "scores of an interrupted run are not those of the mended code"
    (folder / "member-1" / "known").write_text("t0a")
    assert mark() != before


def test_a_second_training_with_other_weights_is_another_system(tmp_path, monkeypatch):
    """As on a GPU: scores that the first one left in the cache are not those of the second."""
    training_set = twenty_topics()
    before = fit_system(choose(Memory), training_set, Resources()).fingerprint
    assert fit_system(choose(Memory), training_set, Resources()).fingerprint == before
    shutil.rmtree(tmp_path / "home" / "checkpoint")
    save = Memory.save

    def save_otherwise(reranker, folder):
        save(reranker, folder)
        (folder / "known").write_text((folder / "known").read_text() + "\n")

    monkeypatch.setattr(Memory, "save", save_otherwise)
    assert fit_system(choose(Memory), training_set, Resources()).fingerprint != before


def test_a_checkpoint_knows_the_topics_that_it_was_trained_on(tmp_path):
    fit_system(choose(Memory), twenty_topics(), Resources())
    (folder,) = (tmp_path / "home" / "checkpoint").glob("memory-train-*[0-9a-f]")
    topics = [example.topic for example in ranked_examples([3])]
    assert Checkpoint.read(folder).learned([*topics, Topic("new", "another topic")]) == topics
