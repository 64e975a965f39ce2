"""Weight files: safetensors with an identity, and nothing else."""

import json
import pickle

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from irplatform.errors import InputError
from irplatform.training.weights import WeightFile

WEIGHTS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor(3)}
IDENTITY = {"model": "m", "sizes": [2, 3]}


def test_what_was_saved_is_loaded(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, IDENTITY)
    loaded = WeightFile(tmp_path / "w").load(IDENTITY)
    assert loaded.keys() == WEIGHTS.keys()
    assert all(torch.equal(loaded[name], WEIGHTS[name]) for name in WEIGHTS)
    assert [file.name for file in tmp_path.iterdir()] == ["w"]


def test_others_may_read_weights_as_they_may_any_new_file(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, IDENTITY)
    (tmp_path / "new").touch()
    assert (tmp_path / "w").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_tensors_that_share_memory_are_saved_each(tmp_path):
    tensor = torch.arange(6.0)
    tied = {"a": tensor, "b": tensor, "part": tensor[:3]}
    WeightFile(tmp_path / "w").save(tied, IDENTITY)
    loaded = WeightFile(tmp_path / "w").load(IDENTITY)
    assert all(torch.equal(loaded[name], tied[name]) for name in tied)


def test_an_identity_may_be_written_with_tuples(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, {"sizes": (2, 3)})
    assert WeightFile(tmp_path / "w").load({"sizes": (2, 3)})


def test_only_what_differs_is_named(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, {"model": "m", "filters": 32, "window": 3})
    with pytest.raises(InputError, match=r"another model: filters is 32, 8 is needed\.$"):
        WeightFile(tmp_path / "w").load({"model": "m", "filters": 8, "window": 3})


@pytest.mark.parametrize(
    ("saved", "needed", "message"),
    [
        (
            {"words": list(range(9))},
            {},
            r"words is \[0, 1, 2, 3, 4, 5, \.\.\.\], 'none' is needed",
        ),
        ({}, {"filters": 8}, "filters is 'missing', 8 is needed"),
        ({"seed": None}, {}, "seed is None, 'none' is needed"),
    ],
)
def test_what_one_of_them_lacks_is_named(tmp_path, saved, needed, message):
    WeightFile(tmp_path / "w").save(WEIGHTS, {"model": "m", **saved})
    with pytest.raises(InputError, match=rf"another model: {message}\.$"):
        WeightFile(tmp_path / "w").load({"model": "m", **needed})


def test_weights_of_another_model_are_refused(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, IDENTITY)
    with pytest.raises(InputError, match=r"w: these weights are of another model.*'m'.*'n'"):
        WeightFile(tmp_path / "w").load({**IDENTITY, "model": "n"})


@pytest.mark.parametrize(
    "content", [pickle.dumps({"a": 1}), b"", b"\x80\x02.", b"PK\x03\x04", b"\xff" * 64]
)
def test_anything_else_is_refused(tmp_path, content):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(InputError, match="not a safetensors file"):
        WeightFile(tmp_path / "w").load()


def test_what_torch_pickles_is_refused(tmp_path):
    torch.save(WEIGHTS, tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"w\.pt: this is not a safetensors file.*can run code"):
        WeightFile(tmp_path / "w.pt").load()


def test_a_cut_off_file_is_refused(tmp_path):
    WeightFile(tmp_path / "w").save(WEIGHTS, IDENTITY)
    content = (tmp_path / "w").read_bytes()
    (tmp_path / "w").write_bytes(content[:-5])
    with pytest.raises(InputError, match="not a safetensors file"):
        WeightFile(tmp_path / "w").load(IDENTITY)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: there is no such weight file"):
        WeightFile(tmp_path / "nowhere").load()


DAMAGES = {
    "drop": "is missing",
    "add": "is not part of this model",
    "reshape": "has the shape",
    "nan": "has values that are not finite numbers",
    "inf": "has values that are not finite numbers",
}


def _damage(path, damage, tensors, name, place):
    """Write the tensors of a network over a file of theirs, with one fault."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    changed = {key: tensor.clone() for key, tensor in tensors.items()}
    if damage == "drop":
        del changed[name]
    elif damage == "add":
        changed["other"] = changed[name].clone()
    elif damage == "reshape":
        changed[name] = torch.cat([changed[name], changed[name]])
    else:
        flat = changed[name].view(-1)
        flat[place % len(flat)] = float(damage)
    save_file(changed, path, metadata=metadata)


@given(
    damage=st.sampled_from(sorted(DAMAGES)),
    name=st.sampled_from(["0.weight", "0.bias", "1.weight", "1.bias"]),
    place=st.integers(0, 100),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_weights_are_refused_with_file_and_tensor(tmp_path, damage, name, place):
    path = tmp_path / "w.safetensors"
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    tensors = network.state_dict()
    WeightFile(path).save(tensors, IDENTITY)
    WeightFile(path).check()
    WeightFile(path).load_into(network, WeightFile(path).load(IDENTITY))
    _damage(path, damage, tensors, name, place)
    tensor = "other" if damage == "add" else name
    message = rf"w\.safetensors: the tensor '{tensor}' {DAMAGES[damage]}"
    for read in (WeightFile.check, WeightFile.load):
        with pytest.raises(InputError, match=message):
            read(WeightFile(path))


def test_infinite_values_that_were_saved_are_read(tmp_path):
    saved = {"scale": torch.tensor([1.0, torch.inf]), "bias": torch.ones(2)}
    path = tmp_path / "w.safetensors"
    WeightFile(path).save(saved, IDENTITY)
    assert torch.equal(WeightFile(path).load(IDENTITY)["scale"], saved["scale"])
    _damage(path, "nan", saved, "scale", 0)
    with pytest.raises(InputError, match="'scale' has values that are not finite"):
        WeightFile(path).check()


@pytest.mark.parametrize("damage", ["drop", "add", "reshape"])
def test_weights_that_do_not_fit_the_network_are_refused(tmp_path, damage):
    """Files of earlier versions do not say which tensors they hold."""
    path = tmp_path / "w.safetensors"
    network = torch.nn.Linear(3, 4)
    WeightFile(path).save(network.state_dict(), IDENTITY)
    _damage(path, damage, network.state_dict(), "bias", 0)
    with safe_open(path, framework="pt") as file:
        save_file(
            {name: file.get_tensor(name) for name in file.keys()},  # noqa: SIM118
            path,
            metadata={"identity": json.dumps(IDENTITY)},
        )
    WeightFile(path).check()
    with pytest.raises(InputError, match=f"the tensor '.*' {DAMAGES[damage]}"):
        WeightFile(path).load_into(network, WeightFile(path).load(IDENTITY))
