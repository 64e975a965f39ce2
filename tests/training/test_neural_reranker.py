"""The base of neural rerankers: seeded networks, weights with an identity, a hook after changes."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from planted import saved
from safetensors import safe_open
from small import SmallResources

from irplatform.errors import InputError
from irplatform.plugin import TrainingData
from irplatform.training.loop import LoopSettings
from irplatform.training.neural import NeuralReranker


class Line(NeuralReranker):
    """A line through two numbers, and how often it was told that it has changed."""

    model = "line"
    unit = "metre"
    changes = 0

    def prepare(self, resources):
        torch.manual_seed(99)  # as something that is made on the way may do
        self.start(resources, lambda: torch.nn.Sequential(torch.nn.Linear(2, 1)))

    def describe_model(self):
        return {"unit": self.unit, "sizes": (2, 1)}

    def weights_changed(self):
        assert not self.network.training
        self.changes += 1


class Task:
    def __init__(self, module):
        self.module = module

    def batches(self, epoch):
        return [torch.ones(3, 2)]

    def loss(self, batch):
        assert self.module.training
        return self.module(batch).sum()

    def validate(self):
        return -float(self.module[0].weight.sum())


def _line(seed=1):
    line = Line()
    line.prepare(replace(SmallResources(), seed=seed))
    return line


def test_the_seed_of_the_resources_makes_the_network(tmp_path):
    first, again, other = (saved(_line(s), tmp_path / f"{n}") for n, s in enumerate((1, 1, 2)))
    assert first == again != other
    assert not _line().network.training


def test_training_changes_the_weights_and_says_so(tmp_path):
    line = _line()
    before = line.network[0].weight.clone()
    line.train(Task(line.network), LoopSettings(epochs=2), TrainingData([], [], tmp_path))
    assert (line.network[0].weight < before).all()
    assert line.changes == 1


def test_a_file_of_its_name_holds_weights_and_identity(tmp_path):
    assert list(saved(_line(), tmp_path / "saved")) == ["line.safetensors"]
    with safe_open(tmp_path / "saved" / "line.safetensors", framework="pt") as file:
        identity = '{"model": "line", "sizes": [2, 1], "unit": "metre"}'
        assert json.loads(file.metadata()["about"])["identity"] == json.loads(identity)


def test_loading_changes_the_weights_and_says_so(tmp_path):
    weights = saved(_line(), tmp_path / "saved")
    other = _line(seed=2)
    other.load(tmp_path / "saved")
    assert other.changes == 1
    assert saved(other, tmp_path / "again") == weights


def test_weights_of_another_identity_are_refused(tmp_path):
    saved(_line(), tmp_path / "saved")
    other = _line()
    other.unit = "mile"
    with pytest.raises(InputError, match="unit is 'metre', 'mile' is needed"):
        other.load(tmp_path / "saved")
    assert other.changes == 0


def test_what_a_subclass_lacks_is_told_before_any_training():
    class Nameless(NeuralReranker):
        def describe_model(self):
            return {}

    class Shapeless(NeuralReranker):
        model = "shapeless"

    for lacking, name in ((Nameless, "model"), (Shapeless, "sizes")):
        with pytest.raises((AttributeError, NotImplementedError), match=name):
            lacking().start(SmallResources(), torch.nn.Identity)


def test_importing_it_loads_no_torch():
    program = "import sys, irplatform.training; print('torch' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout == "False\n"
