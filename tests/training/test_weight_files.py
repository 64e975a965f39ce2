"""Weight files: safetensors with an identity, and nothing else."""

import pickle

import pytest
import torch

from irplatform.errors import InputError
from irplatform.training import load_weights, save_weights

WEIGHTS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor(3)}
IDENTITY = {"model": "m", "sizes": [2, 3]}


def test_what_was_saved_is_loaded(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, IDENTITY)
    loaded = load_weights(tmp_path / "w", IDENTITY)
    assert loaded.keys() == WEIGHTS.keys()
    assert all(torch.equal(loaded[name], WEIGHTS[name]) for name in WEIGHTS)
    assert [file.name for file in tmp_path.iterdir()] == ["w"]


def test_others_may_read_weights_as_they_may_any_new_file(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, IDENTITY)
    (tmp_path / "new").touch()
    assert (tmp_path / "w").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_tensors_that_share_memory_are_saved_each(tmp_path):
    whole = torch.arange(6.0)
    tied = {"a": whole, "b": whole, "part": whole[:3]}
    save_weights(tmp_path / "w", tied, IDENTITY)
    loaded = load_weights(tmp_path / "w", IDENTITY)
    assert all(torch.equal(loaded[name], tied[name]) for name in tied)


def test_an_identity_may_be_written_with_tuples(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, {"sizes": (2, 3)})
    assert load_weights(tmp_path / "w", {"sizes": (2, 3)})


def test_only_what_differs_is_named(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, {"model": "m", "filters": 32, "window": 3})
    with pytest.raises(InputError, match=r"another model: filters is 32, 8 is needed\.$"):
        load_weights(tmp_path / "w", {"model": "m", "filters": 8, "window": 3})


@pytest.mark.parametrize(
    ("saved", "needed", "told"),
    [
        (
            {"words": list(range(9))},
            {},
            r"words is \[0, 1, 2, 3, 4, 5, \.\.\.\], and the model has none",
        ),
        ({}, {"filters": 8}, "they have no filters, 8 is needed"),
        ({"seed": None}, {}, "seed is None, and the model has none"),
    ],
)
def test_what_one_of_them_lacks_is_named(tmp_path, saved, needed, told):
    save_weights(tmp_path / "w", WEIGHTS, {"model": "m", **saved})
    with pytest.raises(InputError, match=rf"another model: {told}\.$"):
        load_weights(tmp_path / "w", {"model": "m", **needed})


def test_weights_of_another_model_are_refused(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, IDENTITY)
    with pytest.raises(InputError, match=r"w: these weights belong to another model.*'m'.*'n'"):
        load_weights(tmp_path / "w", {**IDENTITY, "model": "n"})


@pytest.mark.parametrize(
    "content", [pickle.dumps({"a": 1}), b"", b"\x80\x02.", b"PK\x03\x04", b"\xff" * 64]
)
def test_anything_else_is_refused(tmp_path, content):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(InputError, match="not a safetensors file"):
        load_weights(tmp_path / "w")


def test_what_torch_pickles_is_refused(tmp_path):
    torch.save(WEIGHTS, tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"w\.pt: this is not a safetensors file.*can run code"):
        load_weights(tmp_path / "w.pt")


def test_a_cut_off_file_is_refused(tmp_path):
    save_weights(tmp_path / "w", WEIGHTS, IDENTITY)
    whole = (tmp_path / "w").read_bytes()
    (tmp_path / "w").write_bytes(whole[:-5])
    with pytest.raises(InputError, match="not a safetensors file"):
        load_weights(tmp_path / "w", IDENTITY)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: there is no such weight file"):
        load_weights(tmp_path / "nowhere")
