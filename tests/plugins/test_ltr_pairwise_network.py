"""The network's training as it is written out, beside the same with autograd and torch's AdamW."""

import json

import numpy as np
import pytest

from irplatform.kit import pairwise_logistic
from irplatform.system.arithmetic import exact_roots
from irplatform_ltr.learners import Standard, Table
from irplatform_ltr.options import NetworkOptions
from irplatform_ltr.pairwise_network import PAIRS, PairwiseNetwork


def _table(sizes, features, grades):
    random = np.random.default_rng(len(sizes))
    documents = sum(sizes)
    levels = random.integers(0, grades, documents) * (random.random(documents) < 0.3)
    levels[: sizes[0]] = 0  # a topic of which nothing is learned
    values = random.normal(size=(documents, features)).astype(np.float32)
    return Table(values, levels.astype(np.float64), np.cumsum([0, *sizes]))


def _trained_by_torch(table, options, seed):
    import torch

    torch.manual_seed(seed)
    values = torch.from_numpy(Standard.of(table)(table.features).astype(np.float32))
    grades = torch.from_numpy(table.grades.astype(np.float32))
    hidden = torch.nn.Linear(values.shape[1], options.units)
    out = torch.nn.Linear(options.units, 1)
    hide = torch.nn.Dropout(options.dropout)
    network = torch.nn.Sequential(hide, hidden, torch.nn.ReLU(), hide, out)
    topics = len(table.offsets) - 1
    epochs = max(1, min(options.epochs, options.steps // topics))
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=options.decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * topics)
    for _ in range(epochs):
        for topic in torch.randperm(topics).tolist():
            documents = slice(table.offsets[topic], table.offsets[topic + 1])
            scores, grade = network(values[documents])[:, 0], grades[documents]
            first, second = torch.randint(len(grade), (2, PAIRS))
            gap = (grade[first] - grade[second]).clamp(min=0)
            if gap.any():
                optimizer.zero_grad()
                pairwise_logistic(scores[first], scores[second], gap).backward()
                with exact_roots():
                    optimizer.step()
            schedule.step()
    return [part.detach().double().numpy() for part in (hidden.weight, hidden.bias, out.weight[0])]


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize(
    ("sizes", "features", "grades", "options"),
    [
        ([20, 1, 2, 57, 33, 20, 9, 1], 7, 3, {}),
        ([300, 500], 41, 101, {}),
        ([12] * 9, 1, 2, {"dropout": 0}),
        ([12] * 9, 5, 2, {"units": 3, "decay": 0, "steps": 30, "rate": 0.1}),
    ],
)
def test_weights_are_those_of_autograd_and_adamw_to_the_bit(
    sizes, features, grades, options, tmp_path
):
    table, options = _table(sizes, features, grades), NetworkOptions(epochs=9, **options)
    network = PairwiseNetwork(options)
    network.fit(table, 5)
    expected = _trained_by_torch(table, options, 5)
    network.save(tmp_path, "network")
    weights = json.loads((tmp_path / "network.json").read_text())
    for name, values in zip(("hidden", "bias", "out"), expected, strict=True):
        assert weights[name] == values.tolist()
