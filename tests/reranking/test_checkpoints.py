"""Checkpoints: what a trained system is kept as, and what is refused."""

import json
import pickle

import pytest
from pydantic import Field
from small import SmallResources, registration

from irplatform.errors import InputError
from irplatform.plugin import Options, TrainableReranker
from irplatform.reranking.systems import (
    RerankerChoice,
    load_members,
    member_folder,
    read_description,
    write_checkpoint,
)


class ConstantOptions(Options):
    size: int = Field(1, description="size")
    form: str = Field("usual", description="form")


class Constant(TrainableReranker):
    """Learns a number."""

    Options = ConstantOptions
    number = 0

    def save(self, folder):
        (folder / "number").write_text(str(self.number))

    def load(self, folder):
        self.number = int((folder / "number").read_text())


def _choice(name="constant", **settings):
    held = registration(Constant, name)
    return RerankerChoice(held, held.options(settings))


def _written(folder, choice=None, numbers=(3, 5), vectors=()):
    choice = choice or _choice()
    for place, number in enumerate(numbers):
        member = choice.create(SmallResources())
        member.number = number
        member_folder(folder, place).mkdir(parents=True, exist_ok=True)
        member.save(member_folder(folder, place))
    facts = {**choice.describe(), "interpolation": {"weight": 0.4}}
    write_checkpoint(folder, len(numbers), vectors, facts)
    return folder


def test_all_members_come_back_in_order(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    members = load_members(folder, _choice(), SmallResources())
    assert [member.number for member in members] == [3, 5]
    description = read_description(folder, _choice())
    assert description["members"] == 2
    assert description["interpolation"]["weight"] == 0.4


def test_word_vectors_travel_with_it(tmp_path):
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "words").write_text("a b")
    folder = _written(tmp_path / "checkpoint", vectors=[tmp_path / "vectors"])
    (tmp_path / "vectors" / "words").unlink()
    assert (folder / "vectors" / "words").read_text() == "a b"


def test_options_are_those_of_training_unless_the_user_chose_others():
    recorded = _choice(size=9, form="usual").options.model_dump(mode="json")
    assert _choice().as_trained(recorded).options == ConstantOptions(size=9)
    assert _choice(form="plain").as_trained(recorded).options == ConstantOptions(
        size=9, form="plain"
    )


def test_options_of_another_version_are_refused():
    with pytest.raises(InputError, match="'colour' is no option of reranker 'constant'"):
        _choice().as_trained({"colour": "red"})


def test_a_checkpoint_of_another_reranker_is_refused(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    with pytest.raises(InputError, match=r"of 'constant', not of 'other'. Use --reranker constant"):
        read_description(folder, _choice("other"))


def test_a_folder_without_a_description_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no checkpoint here: checkpoint.json is missing"):
        read_description(tmp_path, _choice())
    with pytest.raises(InputError, match="no checkpoint here"):
        read_description(tmp_path / "nowhere", _choice())


def test_a_file_such_as_a_pickle_is_refused(tmp_path):
    (tmp_path / "model.pt").write_bytes(pickle.dumps({}))
    with pytest.raises(InputError, match=r"model.pt: a checkpoint is the folder.*can run code"):
        read_description(tmp_path / "model.pt", _choice())


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"reranker": "constant"}', '{"reranker": "constant", "format": 1}', "\x00"],
)
def test_a_description_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "checkpoint.json").write_text(content)
    with pytest.raises(InputError, match=r"checkpoint.json: this is not a checkpoint's"):
        read_description(tmp_path, _choice())


def test_another_format_is_refused(tmp_path):
    folder = _written(tmp_path / "checkpoint")
    description = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps({**description, "format": 99}))
    with pytest.raises(InputError, match=r"has format 99.*Train it again"):
        read_description(folder, _choice())
