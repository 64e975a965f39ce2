"""The training loop: epochs, validation, early stopping, and a state to go on from after a kill.

All randomness of an epoch comes from the seed and the epoch's number, so that an interrupted
training resumes from the last complete epoch to the same weights as an undisturbed one.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from irplatform.console import notice
from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Options
from irplatform.training.distributed import peers_of
from irplatform.training.weights import load_weights, save_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import torch
    from torch import Tensor

    from irplatform.plugin import Resources


class LoopSettings(Options):
    """How long and with what steps to train."""

    optimizer: Literal["adagrad", "adam", "adadelta"] = Field(
        "adagrad", description="gradient descent method"
    )
    learning_rate: float = Field(0.01, gt=0, description="its step size")
    batch_size: int = Field(256, gt=0, description="training examples per step")
    epochs: int = Field(12, gt=0, description="most epochs")
    patience: int = Field(
        4, gt=0, description="stop after this many epochs without a better validation measure"
    )


class AdadeltaSettings(LoopSettings):
    """The same for the classifiers of Mohan et al., BioNLP 2017, section 4.7 (`[paper]`)."""

    optimizer: Literal["adagrad", "adam", "adadelta"] = Field(
        "adadelta", description="gradient descent method [paper]"
    )
    learning_rate: float = Field(1.0, gt=0, description="its step size")
    epochs: int = Field(10, gt=0, description="most epochs [paper]")


class Task(Protocol):
    """What the loop needs of a model."""

    @property
    def module(self) -> torch.nn.Module:
        """The parameters to train."""

    def batches(self, epoch: int) -> Iterable[Any]:
        """The batches of an epoch; the same ones whenever it is called with that number."""

    def loss(self, batch: Any) -> Tensor:
        """The loss of a batch, regularization included."""

    def validate(self) -> float:
        """The validation measure, higher is better."""


@runtime_checkable
class OwnSteps(Protocol):
    """What a task may have besides, to take its steps otherwise than `LoopSettings` says.

    As a pre-trained transformer is fine-tuned: AdamW with weight decay for some parameters, a rate
    that rises and falls, gradients of bounded length.
    """

    def optimizer(self) -> torch.optim.Optimizer:
        """What steps, new and over the same parameters whenever it is called."""

    def before_step(self, optimizer: torch.optim.Optimizer, epoch: int, step: int) -> None:
        """Called when a batch's gradients are there: to clip them, or to set rates.

        A training that was interrupted goes on as if nothing had been where this depends on epoch
        and step alone.

        Args:
            optimizer: what will step.
            epoch: counted from 0.
            step: of the epoch, counted from 0.
        """


def run_loop(
    task: Task,
    settings: LoopSettings,
    *,
    seed: int,
    workspace: Path,
    report: Callable[[int, float, float], None] | None = None,
) -> float:
    """Train, and leave the module with the weights of the best epoch.

    Where several processes train together, all call this alike; see `distributed`.

    Args:
        task: model, data and loss; it may have `OwnSteps`.
        settings: optimizer and stopping.
        seed: of all randomness.
        workspace: where the state after each epoch is kept, and looked for at the start.
        report: called after each epoch with its number, mean loss and validation measure.

    Returns:
        The best validation measure.

    Raises:
        PlatformError: the loss or the measure is no longer a number.
    """
    import torch

    module = task.module
    peers = peers_of(workspace)
    own = task if isinstance(task, OwnSteps) else None
    optimizer = own.optimizer() if own else _optimizer(module, settings)
    state = _State(peers.folder(workspace), writes=peers.first)
    epoch = peers.in_turn(lambda: state.restore(module, optimizer))
    loss_of = peers.loss(task)
    while epoch < settings.epochs and epoch - state.best_epoch < settings.patience:
        torch.manual_seed(seed * 1_000_003 + epoch + peers.seed)  # dropout
        module.train()
        total = torch.zeros(())
        steps = 0
        for batch, share in peers.batches(task.batches(epoch)):
            optimizer.zero_grad()
            loss = loss_of(batch) * share
            loss.backward()  # type: ignore[no-untyped-call]
            if own:
                own.before_step(optimizer, epoch, steps)
            optimizer.step()
            total += loss.detach().cpu()
            steps += 1
        mean_loss = float(peers.mean(total)) / max(steps, 1)
        if not math.isfinite(mean_loss):
            raise PlatformError(
                f"training diverged: the loss of epoch {epoch + 1} is {mean_loss}. "
                "Try a smaller learning_rate."
            )
        module.eval()
        with torch.no_grad():
            measure = peers.measured(task.validate)
        if not math.isfinite(measure):
            raise PlatformError(
                f"the validation of epoch {epoch + 1} gave {measure}; a finite number is needed."
            )
        epoch += 1
        state.record(epoch, measure, module, optimizer)
        if report is not None:
            report(epoch, mean_loss, measure)
    module.load_state_dict(peers.in_turn(state.best))
    module.eval()
    return state.best_measure


def run_shown(task: Task, settings: LoopSettings, resources: Resources, workspace: Path) -> float:
    """Train as `run_loop` does, with the seed of the resources and a display of the epochs."""
    with resources.progress("training", settings.epochs) as advance:
        return run_loop(
            task,
            settings,
            seed=resources.seed,
            workspace=workspace,
            report=lambda _epoch, _loss, _measure: advance(1),
        )


def _optimizer(module: torch.nn.Module, settings: LoopSettings) -> torch.optim.Optimizer:
    import torch

    kinds: dict[str, type[torch.optim.Optimizer]] = {
        "adagrad": torch.optim.Adagrad,
        "adam": torch.optim.Adam,
        "adadelta": torch.optim.Adadelta,
    }
    parameters = [p for p in module.parameters() if p.requires_grad]
    return kinds[settings.optimizer](parameters, lr=settings.learning_rate)  # type: ignore[call-arg]


class _State:
    """The state of training after the last complete epoch, on disk.

    `state.safetensors` holds the module, the optimizer and the epoch that they belong to, in one
    file, so that a kill between two writes cannot mix epochs; `best.safetensors` the best module.
    Of several processes that train together one writes, and all read.
    """

    def __init__(self, workspace: Path, *, writes: bool) -> None:
        self._writes = writes
        self._state = workspace / "state.safetensors"
        self._best = workspace / "best.safetensors"
        self.best_epoch = 0
        self.best_measure = -math.inf

    def restore(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Load what is there; returns the number of epochs done."""
        if self._state.exists():
            try:
                return self._read(module, optimizer)
            except InputError:
                notice("the state of an interrupted training is of another model: starting over.")
        if self._writes:
            save_weights(self._best, module.state_dict(), {})
        return 0

    def _read(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
        import torch

        saved = load_weights(self._state, _shapes(module, optimizer))
        module.load_state_dict(
            {name[7:]: tensor for name, tensor in saved.items() if name.startswith("module.")}
        )
        held = optimizer.state_dict()
        states: dict[int, dict[str, Tensor]] = {}
        for name, tensor in saved.items():
            if name.startswith("optimizer."):
                _, number, key = name.split(".", 2)
                states.setdefault(int(number), {})[key] = tensor
        optimizer.load_state_dict({"state": states, "param_groups": held["param_groups"]})
        facts = json.loads(bytes(saved["facts"].to(torch.uint8).tolist()).decode())
        self.best_epoch = int(facts["best_epoch"])
        self.best_measure = float(facts["best_measure"])
        return int(facts["epoch"])

    def record(
        self,
        epoch: int,
        measure: float,
        module: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        """Keep the state after an epoch, and the module if it is the best so far."""
        import torch

        better = measure > self.best_measure
        if better:
            self.best_measure, self.best_epoch = measure, epoch
        if not self._writes:
            return
        if better:
            save_weights(self._best, module.state_dict(), {})
        facts = {"epoch": epoch, "best_epoch": self.best_epoch, "best_measure": self.best_measure}
        tensors = {f"module.{name}": tensor for name, tensor in module.state_dict().items()}
        for number, values in optimizer.state_dict()["state"].items():
            for key, value in values.items():
                if value is not None:  # as SGD's momentum where it has none
                    tensors[f"optimizer.{number}.{key}"] = torch.as_tensor(value)
        tensors["facts"] = torch.tensor(list(json.dumps(facts).encode()), dtype=torch.uint8)
        save_weights(self._state, tensors, _shapes(module, optimizer))

    def best(self) -> dict[str, Tensor]:
        """The weights of the best epoch."""
        return load_weights(self._best)


def _shapes(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """What a saved state must agree with before any of it is loaded."""
    shapes = {name: list(tensor.shape) for name, tensor in module.state_dict().items()}
    return {"optimizer": type(optimizer).__name__, "shapes": shapes}
