"""The training loop: it stops early, keeps the best, and resumes to the same bytes."""

from contextlib import nullcontext

import pytest
import torch

from irplatform.errors import PlatformError
from irplatform.training.loop import LoopSettings, run_loop
from irplatform.training.losses import pairwise_hinge, pairwise_logistic


class Line:
    """Fits a line, with dropout so that randomness counts; validation as the test wants it."""

    def __init__(self, measures=None, stop_in_epoch=None):
        torch.manual_seed(3)
        self.module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5))
        self.module.append(torch.nn.Linear(8, 1))
        self._measures = measures
        self._stop = stop_in_epoch
        self.epochs = []

    def batches(self, epoch):
        self.epochs.append(epoch)
        generator = torch.Generator().manual_seed(epoch)
        for number in range(3):
            if epoch == self._stop and number == 1:
                raise KeyboardInterrupt
            inputs = torch.randn(16, 4, generator=generator)
            yield inputs, inputs.sum(dim=1, keepdim=True)

    def loss(self, batch):
        inputs, targets = batch
        return ((self.module(inputs) - targets) ** 2).mean()

    def validate(self):
        assert not self.module.training
        if self._measures is not None:
            return self._measures[self.epochs[-1] if self.epochs else -1]
        inputs = torch.randn(64, 4, generator=torch.Generator().manual_seed(99))
        with torch.no_grad():
            error = self.module(inputs) - inputs.sum(dim=1, keepdim=True)
        return -float((error**2).mean())


def _train(task, workspace, *, seed=1, keep_start=False, **settings):
    workspace.mkdir(exist_ok=True)
    loop = LoopSettings(**settings)
    return run_loop(task, loop, seed=seed, workspace=workspace, keep_start=keep_start)


def _bytes(task):
    return [p.detach().numpy().tobytes() for p in task.module.parameters()]


def test_it_learns(tmp_path):
    task = Line()
    task.module.eval()
    before = task.validate()
    best = _train(task, tmp_path, epochs=40, learning_rate=0.1, patience=40)
    assert best > before / 2  # less than half of the error


def test_it_stops_when_validation_no_longer_improves(tmp_path):
    task = Line(measures=[0.1, 0.3, 0.2, 0.3, 0.1, 0.9])
    assert _train(task, tmp_path, epochs=6, patience=3) == 0.3
    assert task.epochs == [0, 1, 2, 3, 4]


def test_it_ends_with_the_weights_of_the_best_epoch(tmp_path):
    measures = [0.1, 0.3, 0.2, 0.2]
    longer, shorter = Line(measures), Line(measures)
    _train(longer, tmp_path / "longer", epochs=4, patience=9)
    _train(shorter, tmp_path / "shorter", epochs=2, patience=9)
    assert _bytes(longer) == _bytes(shorter)
    assert not longer.module.training


@pytest.mark.parametrize(("start", "stays"), [(0.4, True), (0.3, True), (0.2, False)])
def test_what_has_learned_before_stays_where_no_epoch_is_better(tmp_path, start, stays):
    task, others = Line([0.1, 0.3, 0.2, start]), Line([0.1, 0.3, 0.2])
    before = _bytes(task)
    best = _train(task, tmp_path / "with", epochs=3, keep_start=True)
    _train(others, tmp_path / "without", epochs=3)
    assert best == max(start, 0.3)
    assert _bytes(task) == (before if stays else _bytes(others))


@pytest.mark.parametrize("keep_start", [True, False])
def test_all_is_learned_where_nothing_can_be_measured(tmp_path, keep_start):
    task, measured = Line([0.0] * 5), Line([0.1, 0.2, 0.3, 0.4])
    _train(task, tmp_path / "blind", epochs=4, patience=2, keep_start=keep_start)
    _train(measured, tmp_path / "measured", epochs=4)
    assert _bytes(task) == _bytes(measured)


def test_patience_counts_from_the_start_that_is_kept(tmp_path):
    task = Line([0.1, 0.1, 0.1, 0.1, 0.4])
    _train(task, tmp_path, epochs=4, patience=2, keep_start=True)
    assert task.epochs == [0, 1]


def test_the_start_is_validated_once_and_kept_over_an_interruption(tmp_path):
    before = _bytes(Line())
    with pytest.raises(KeyboardInterrupt):
        _train(Line([0.1, 0.1, 0.4], stop_in_epoch=0), tmp_path, epochs=2, keep_start=True)
    task = Line([0.1, 0.1, 0.05])  # the weights that it begins with are known to have 0.4
    assert _train(task, tmp_path, epochs=2, keep_start=True) == 0.4
    assert _bytes(task) == before


@pytest.mark.parametrize("optimizer", ["adagrad", "adam", "adadelta"])
@pytest.mark.parametrize("epoch", [0, 1, 3])
def test_an_interrupted_training_resumes_to_the_same_bytes(tmp_path, optimizer, epoch):
    settings = {"epochs": 5, "optimizer": optimizer}
    undisturbed = Line()
    _train(undisturbed, tmp_path / "undisturbed", **settings)
    with pytest.raises(KeyboardInterrupt):
        _train(Line(stop_in_epoch=epoch), tmp_path / "again", **settings)
    resumed = Line()
    _train(resumed, tmp_path / "again", **settings)
    assert resumed.epochs[0] == epoch
    assert _bytes(resumed) == _bytes(undisturbed)


def test_an_epoch_without_batches_is_refused(tmp_path):
    task = Line()
    once = task.batches(0)
    task.batches = lambda epoch: once
    with pytest.raises(PlatformError, match="epoch 2 has no batches"):
        _train(task, tmp_path, epochs=3)


class Tuned(Line):
    """Steps as a transformer is fine-tuned: AdamW, a rate that falls, short gradients."""

    def optimizer(self):
        return torch.optim.AdamW(self.module.parameters(), lr=0.1, weight_decay=0.3)

    def before_step(self, optimizer, epoch, step):
        torch.nn.utils.clip_grad_norm_(self.module.parameters(), 0.5)
        (group,) = optimizer.param_groups
        group["lr"] = 0.1 / (1 + 3 * epoch + step)
        self.steps.append((epoch, step, group["lr"]))

    def __init__(self, **options):
        super().__init__(**options)
        self.steps = []


class Momentum(Tuned):
    def optimizer(self):
        return torch.optim.SGD(self.module.parameters(), lr=0.1)


@pytest.mark.parametrize("kind", [Tuned, Momentum])
def test_a_task_may_step_in_its_own_way_and_resumes_to_the_same_bytes(tmp_path, kind):
    undisturbed = kind()
    _train(undisturbed, tmp_path / "undisturbed", epochs=4)
    assert [step[:2] for step in undisturbed.steps] == [(e, s) for e in range(4) for s in range(3)]
    plain = Line()
    _train(plain, tmp_path / "plain", epochs=4)
    assert _bytes(plain) != _bytes(undisturbed)
    with pytest.raises(KeyboardInterrupt):
        _train(kind(stop_in_epoch=2), tmp_path / "again", epochs=4)
    resumed = kind()
    _train(resumed, tmp_path / "again", epochs=4)
    assert resumed.steps == undisturbed.steps[6:]
    assert _bytes(resumed) == _bytes(undisturbed)


def test_patience_is_remembered_over_an_interruption(tmp_path):
    measures = [0.5, 0.1, 0.1, 0.1, 0.1]
    with pytest.raises(KeyboardInterrupt):
        _train(Line(measures, stop_in_epoch=2), tmp_path, epochs=5, patience=3)
    task = Line(measures)
    assert _train(task, tmp_path, epochs=5, patience=3) == 0.5
    assert task.epochs == [2, 3]


def test_a_finished_training_is_not_repeated(tmp_path):
    first, second = Line(), Line()
    best = _train(first, tmp_path, epochs=3)
    assert _train(second, tmp_path, epochs=3) == best
    assert second.epochs == []
    assert _bytes(first) == _bytes(second)


def test_the_seed_decides(tmp_path):
    weights = []
    for number, seed in enumerate((1, 1, 2)):
        task = Line()
        _train(task, tmp_path / str(number), seed=seed, epochs=2)
        weights.append(_bytes(task))
    assert weights[0] == weights[1] != weights[2]


def test_a_measure_that_is_no_number_is_an_error(tmp_path):
    class Unmeasured(Line):
        def validate(self):
            return float("nan")

    with pytest.raises(PlatformError, match="validation of epoch 1 gave nan"):
        _train(Unmeasured(), tmp_path)


def test_divergence_is_an_error_that_says_what_to_do(tmp_path):
    class Diverging(Line):
        def loss(self, batch):
            return super().loss(batch) * torch.nan

    with pytest.raises(PlatformError, match=r"diverged.*epoch 1.*learning_rate"):
        _train(Diverging(), tmp_path, epochs=2)


def test_every_epoch_is_reported(tmp_path):
    reported = []
    task = Line(measures=[0.1, 0.2])
    run_loop(
        task,
        LoopSettings(epochs=2),
        seed=1,
        workspace=tmp_path,
        report=lambda *facts: reported.append(facts),
    )
    assert [(epoch, measure) for epoch, _, measure in reported] == [(1, 0.1), (2, 0.2)]


def test_every_batch_is_shown_of_as_many_as_are_known(tmp_path, monkeypatch):
    class Counted(Line):
        def batches(self, epoch):
            return [*super().batches(epoch)]

    for kind, expected in ((Line, [None, 3, 3]), (Counted, [3, 3, 3])):
        bars, advances = [], {"epoch": [], "": []}

        def steps(noun, count, bars=bars, advances=advances, **_):
            bars.append((noun, count))
            return nullcontext(advances[noun].append)

        monkeypatch.setattr("irplatform.system.console.steps", steps)
        workspace = tmp_path / kind.__name__
        workspace.mkdir()
        run_loop(kind(), LoopSettings(epochs=3), seed=1, workspace=workspace, shown=True)
        assert bars == [("epoch", 3), *(("", count) for count in expected)]
        assert advances == {"epoch": [1] * 3, "": [1] * 9}


def test_losses_of_pairs_are_weighted_means():
    higher, lower = torch.tensor([2.0, 0.0, 0.5]), torch.tensor([0.0, 0.5, 0.5])
    weight = torch.tensor([1.0, 2.0, 1.0])
    # margins: max(0, 1 - 2) = 0, max(0, 1 + 0.5) = 1.5, 1
    assert float(pairwise_hinge(higher, lower, weight)) == pytest.approx((2 * 1.5 + 1) / 4)
    costs = torch.log1p(torch.exp(lower - higher)).tolist()
    expected = sum(w * c for w, c in zip(weight.tolist(), costs, strict=True)) / weight.sum()
    assert float(pairwise_logistic(higher, lower, weight)) == pytest.approx(float(expected))
