"""Checkpoints: what a trained system is kept as, and what is refused."""

import json
import math
import pickle
import shutil
from functools import partial

import pytest
import torch
from checkpoints import described
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import SmallResources, registration

from irplatform.errors import InputError, PluginError
from irplatform.files.cache import artifact
from irplatform.plugin import Reranker, Topic, TrainableReranker
from irplatform.reranking.systems import ChosenReranker
from irplatform.training.checkpoints import (
    Checkpoint,
    cached_checkpoints,
    member_folder,
    write_checkpoint,
)
from irplatform.training.weights import WeightFile

TOPICS = [Topic("1", "melanoma therapy"), Topic("2", "glioma")]


class Constant(TrainableReranker):
    """Learns a number."""

    number = 0

    def save(self, folder):
        (folder / "number").write_text(str(self.number))

    def load(self, folder):
        self.number = int((folder / "number").read_text())


def _choice(system=Constant):
    entry = registration(system, "constant")
    return ChosenReranker(entry, entry.options({}))


def _written(folder, numbers=(3, 5), vectors=None, topics=()):
    choice = _choice()
    for place, number in enumerate(numbers):
        member = choice.create(SmallResources())
        member.number = number
        member_folder(folder, place).mkdir(parents=True, exist_ok=True)
        member.save(member_folder(folder, place))
    facts = {**choice.describe(), "interpolation": {"weight": 0.4}}
    write_checkpoint(folder, len(numbers), vectors or {}, topics, facts)
    return folder


def _members(folder, system=Constant):
    choice = _choice(system)
    create = partial(choice.create, SmallResources())
    return Checkpoint.read(folder).load(choice.registration, create)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_checkpoint_that_was_not_copied_whole_is_told_before_it_is_loaded(tmp_path, kind):
    folder = _written(tmp_path / "checkpoint")
    Checkpoint.read(folder).check_members()
    (member_folder(folder, 1) / "number").unlink()
    if kind == "folder":
        member_folder(folder, 1).rmdir()
    with pytest.raises(InputError, match="2 members, and what member 2 saved is missing"):
        Checkpoint.read(folder).check_members()


def _kept(vectors):
    """A checkpoint as the cache keeps it, of a member with weights, and with word vectors."""

    def build(folder):
        _written(folder, numbers=(3,), vectors={"imported": vectors})
        WeightFile(member_folder(folder, 0) / "net.safetensors").save({"a": torch.ones(2, 3)}, {})

    return artifact("checkpoint", "trained", {"of": "a test"}, build).path


@given(name=st.sampled_from(["member-0/number", "vectors/imported/words.utf8"]), bit=st.data())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_checkpoint_with_a_flipped_bit_is_refused(tmp_path, fresh_home, name, bit):
    vectors = tmp_path / "vectors"
    vectors.mkdir(exist_ok=True)
    (vectors / "words.utf8").write_text("melanoma glioma")
    folder = tmp_path / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_kept(vectors), folder)
    Checkpoint.read(folder).check_members()
    content = bytearray((folder / name).read_bytes())
    content[bit.draw(st.integers(0, len(content) - 1))] ^= 1 << bit.draw(st.integers(0, 7))
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: this file of a checkpoint is damaged"):
        Checkpoint.read(folder).check_members()


def test_weights_that_are_no_numbers_are_told_before_a_checkpoint_is_loaded(tmp_path):
    folder = _written(tmp_path / "checkpoint", numbers=(3,))
    path = member_folder(folder, 0) / "net.safetensors"
    WeightFile(path).save({"a": torch.tensor([1.0, math.nan])}, {})
    with pytest.raises(
        InputError, match=r"net\.safetensors: the tensor 'a' has values that are not"
    ):
        Checkpoint.read(folder).check_members()


def test_all_members_come_back_in_order(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    assert [member.number for member in _members(folder)] == [3, 5]
    checkpoint = Checkpoint.read(folder)
    assert (checkpoint.reranker, checkpoint.members, checkpoint.weight) == ("constant", 2, 0.4)


def test_word_vectors_travel_with_it(tmp_path):
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "words").write_text("a b")
    folder = _written(tmp_path / "checkpoint", vectors={"imported": tmp_path / "vectors"})
    (tmp_path / "vectors" / "words").unlink()
    assert (Checkpoint.read(folder).vectors["imported"] / "words").read_text() == "a b"
    assert Checkpoint.read(_written(tmp_path / "without")).vectors == {}


def test_it_knows_the_topics_that_it_was_trained_on_by_their_words(tmp_path):
    checkpoint = Checkpoint.read(_written(tmp_path / "checkpoint", topics=TOPICS))
    elsewhere = [Topic("9", "glioma"), Topic("1", "words of another topic")]
    assert checkpoint.learned(elsewhere) == elsewhere[:1]
    assert Checkpoint.read(_written(tmp_path / "none")).learned(TOPICS) == []


def test_a_checkpoint_of_another_reranker_is_refused(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    assert Checkpoint.read(folder, of="constant").reranker == "constant"
    with pytest.raises(
        InputError, match=r"of 'constant', not of 'other'. Use rerankers='constant'"
    ):
        Checkpoint.read(folder, of="other")


def test_a_folder_without_a_description_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no checkpoint here: checkpoint.json is missing"):
        Checkpoint.read(tmp_path)
    with pytest.raises(InputError, match="no checkpoint here"):
        Checkpoint.read(tmp_path / "nowhere")


def test_a_file_such_as_a_pickle_is_refused(tmp_path):
    (tmp_path / "model.pt").write_bytes(pickle.dumps({}))
    with pytest.raises(InputError, match=r"model.pt: a checkpoint is the folder.*can run code"):
        Checkpoint.read(tmp_path / "model.pt")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"reranker": "constant"}', '{"reranker": "constant", "format": 2}', "\x00"],
)
def test_a_description_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "checkpoint.json").write_text(content)
    with pytest.raises(InputError, match=r"checkpoint.json: this is not a checkpoint's"):
        Checkpoint.read(tmp_path)


@pytest.mark.parametrize("missing", ["reranker", "options", "members", "interpolation", "queries"])
def test_one_that_does_not_tell_what_it_was_trained_on_is_refused(tmp_path, missing):
    """Whoever keeps it from its training topics would believe that there were none."""
    description = json.loads((_written(tmp_path) / "checkpoint.json").read_text())
    del description[missing]
    (tmp_path / "checkpoint.json").write_text(json.dumps(description))
    with pytest.raises(InputError, match="this is not a checkpoint's description"):
        Checkpoint.read(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [{"members": 0}, {"interpolation": {"weight": 7}}, {"interpolation": {"weight": math.nan}}],
)
def test_one_without_members_or_with_a_weight_that_is_none_is_refused(tmp_path, wrong):
    description = json.loads((_written(tmp_path) / "checkpoint.json").read_text())
    (tmp_path / "checkpoint.json").write_text(json.dumps({**description, **wrong}))
    with pytest.raises(InputError, match="this is not a checkpoint's description"):
        Checkpoint.read(tmp_path)


@pytest.mark.parametrize("others", [{}, {"members": "of another kind", "options": None}])
def test_another_format_is_refused_whatever_it_holds(tmp_path, others):
    folder = _written(tmp_path / "checkpoint")
    description = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps({**description, "format": 99, **others}))
    with pytest.raises(InputError, match=r"has format 99.*Train it again"):
        Checkpoint.read(folder)


def test_what_a_reranker_cannot_read_names_its_plugin(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    (member_folder(folder, 1) / "number").write_text("many")
    with pytest.raises(PluginError, match=r"'constant' of .* failed loading a checkpoint: ValueE"):
        _members(folder)


def test_a_reranker_that_does_not_learn_has_none(tmp_path):
    with pytest.raises(InputError, match="'constant' does not learn, so it has no checkpoints"):
        _members(_written(tmp_path / "checkpoint"), Reranker)


def test_of_the_cache_those_are_found_that_this_version_reads(fresh_home):
    for name in ("b", "a", "c"):
        described(fresh_home / "checkpoint" / name, "delta")
    (fresh_home / "checkpoint" / "c" / "checkpoint.json").write_text('{"format": 99}')
    assert [checkpoint.folder.name for checkpoint in cached_checkpoints()] == ["a", "b"]
