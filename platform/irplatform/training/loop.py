"""The training loop: epochs, validation, early stopping, and a state to resume from.

All randomness of an epoch comes from the seed and the epoch's number, so an interrupted training
resumes after the last complete epoch and reaches the same weights.
"""

from __future__ import annotations

import json
import math
import sys
from collections import deque
from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import Field

from irplatform.errors import InputError, PlatformError
from irplatform.files.journals import is_kept, keep_made
from irplatform.options import Options
from irplatform.system import console
from irplatform.system.console import notice
from irplatform.training.weights import WeightFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractContextManager
    from pathlib import Path

    import torch
    from torch import Tensor


_MANY_BATCHES = 20
"""From this number on, the batches of an epoch are counted on the progress line."""
_AHEAD = 2
"""Items that are prepared before they are asked for, including the one in progress."""
_MODULE, _OPTIMIZER = "module.", "optimizer."
"""How the names of their tensors begin in the file."""
Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


class StepSettings(Options):
    """With what steps to train, and how long."""

    optimizer: Literal["adagrad", "adam", "adadelta"] = Field(
        "adagrad", description="gradient descent method"
    )
    learning_rate: float = Field(0.01, gt=0, description="its step size")
    batch_size: int = Field(256, gt=0, description="training examples per step")
    epochs: int = Field(12, gt=0, description="most epochs")
    patience: int = Field(
        4, gt=0, description="stop after this many epochs without a better validation measure"
    )


class LoopSettings(StepSettings):
    """The same for a model of topics, whose `Validator` is told what it validates."""

    validate_on: Literal["mixture", "alone"] = Field(
        "mixture",
        description="what is validated: the best mixture with the first stage, or the model alone "
        "[paper]",
    )


class Stopping(Protocol):
    """When to stop: all that a task with `OwnSteps` needs of the settings."""

    @property
    def epochs(self) -> int:
        """Most epochs."""

    @property
    def patience(self) -> int:
        """Epochs without a better validation measure after which training ends."""


class Task(Protocol):
    """A model, its data and its loss, as the loop needs them."""

    @property
    def module(self) -> torch.nn.Module:
        """The parameters to train."""

    def batches(self, epoch: int) -> Iterable[Any]:
        """The batches of an epoch; the same ones at every call with its number."""

    def loss(self, batch: Any) -> Tensor:
        """The loss of a batch, including regularization: one number, with a gradient."""

    def validate(self) -> float:
        """The validation measure, higher is better; finite."""


@runtime_checkable
class OwnSteps(Protocol):
    """A task that takes its own steps, such as the fine-tuning of a pre-trained transformer."""

    def optimizer(self) -> torch.optim.Optimizer:
        """The optimizer, new and over the same parameters at every call."""

    def before_step(self, optimizer: torch.optim.Optimizer, epoch: int, step: int) -> None:
        """Clip gradients or set rates of a batch.

        If it depends on epoch and step alone, an interrupted training resumes exactly.
        """


@runtime_checkable
class ReadsBatches(Protocol):
    """A task that reads the next batches while the model learns from one."""

    def read(self, batch: Any) -> Any:
        """Return what `loss` gets in place of a batch; called in a thread, for one batch at a time.

        It must not draw from torch's global generator, from which dropout draws at the same time.
        """


def run_loop(
    task: Task,
    settings: Stopping,
    *,
    seed: int,
    workspace: Path,
    keep_start: bool = False,
    shown: bool = False,
    report: Callable[[int, float, float], None] = lambda _epoch, _loss, _measure: None,
) -> float:
    """Train, leave the module with the weights of the best epoch, and return its measure.

    The task has a model, data and loss; of a task with `OwnSteps`, settings only say when to stop.
    The state after each epoch is kept in the workspace, and found again there. A module that has
    learned before (`keep_start`) is validated at the start, too. Epochs and their batches are
    `shown`; `report` gets each epoch's number, mean loss and measure. PlatformError if the loss or
    the measure is not a finite number.
    """
    if not shown:
        return _train(task, settings, seed, workspace, report, keep_start=keep_start)
    with console.steps("epoch", settings.epochs, part=console.LAST) as advance:
        return _train(
            task,
            settings,
            seed,
            workspace,
            lambda _epoch, _loss, _measure: advance(1),
            keep_start=keep_start,
            showing=lambda count: console.steps(
                "" if (count or 0) < _MANY_BATCHES else "batch", count, part=console.LAST
            ),
        )


def _train(
    task: Task,
    settings: Stopping,
    seed: int,
    workspace: Path,
    report: Callable[[int, float, float], None],
    *,
    keep_start: bool,
    showing: Callable[[int | None], AbstractContextManager[Callable[[int], None]]] | None = None,
) -> float:
    import torch

    from irplatform.system.arithmetic import exact_roots

    module = task.module
    own_steps = task if isinstance(task, OwnSteps) else None
    optimizer = own_steps.optimizer() if own_steps else _optimizer(module, settings)
    state = LoopState(workspace)
    epoch = state.restore(module, optimizer)
    if keep_start and not math.isfinite(state.best_measure):
        state.record(0, _validated(task, 0), module, optimizer)
    steps: int | None = None
    roots = exact_roots()
    while epoch < settings.epochs and epoch - state.best_epoch < settings.patience:
        torch.manual_seed(seed * 1_000_003 + epoch)  # dropout
        module.train()
        total = torch.zeros(())
        batches = task.batches(epoch)
        expected = len(batches) if isinstance(batches, Sized) else steps
        steps = 0
        with showing(expected) if showing else nullcontext(lambda _: None) as advance:
            for batch in _read(task, batches):
                optimizer.zero_grad()
                loss = task.loss(batch)
                loss.backward()  # type: ignore[no-untyped-call]
                if own_steps:
                    own_steps.before_step(optimizer, epoch, steps)
                with roots:
                    optimizer.step()
                total = total + loss.detach()  # stays where it is: no accelerator is waited for
                steps += 1
                advance(1)
        if not steps:
            raise PlatformError(
                f"epoch {epoch + 1} has no batches; a task's batches(epoch) returns them anew "
                "whenever it is called."
            )
        mean_loss = float(total) / steps
        if not math.isfinite(mean_loss):
            raise PlatformError(
                f"training diverged: the loss of epoch {epoch + 1} is {mean_loss}. "
                "Try a smaller learning_rate."
            )
        epoch += 1
        measure = _validated(task, epoch)
        state.record(epoch, measure, module, optimizer)
        report(epoch, mean_loss, measure)
    module.load_state_dict(state.best())
    module.eval()
    return state.best_measure


def _read(task: Task, batches: Iterable[Any]) -> Iterable[Any]:
    return prefetch(task.read, batches) if isinstance(task, ReadsBatches) else batches


def prefetch(prepare: Callable[[Item], Prepared], items: Iterable[Item]) -> Iterator[Prepared]:
    """Prepare items in a thread, a little before their use, and yield them in order.

    A GPU is fast enough to wait for texts that are read and tokenized between two steps. Errors are
    raised at their item's place.
    """
    begun: deque[Future[Prepared]] = deque()
    with ThreadPoolExecutor(1) as thread:
        try:
            for item in items:
                begun.append(thread.submit(prepare, item))
                if len(begun) > _AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
            with suppress(RuntimeError):  # the program is ending
                thread.submit(_leave_java)


def _leave_java() -> None:
    """Detach this thread from Java, so that the JVM frees its memory."""
    if jnius := sys.modules.get("jnius"):
        jnius.detach()


def _validated(task: Task, epoch: int) -> float:
    import torch

    task.module.eval()
    with torch.no_grad():
        measure = task.validate()
    if not math.isfinite(measure):
        raise PlatformError(
            f"the validation of epoch {epoch} gave {measure}; a finite number is needed."
        )
    return measure


def _optimizer(module: torch.nn.Module, settings: Stopping) -> torch.optim.Optimizer:
    import torch

    if not isinstance(settings, StepSettings):
        raise TypeError("a task without OwnSteps needs StepSettings")
    kinds: dict[str, type[torch.optim.Optimizer]] = {
        "adagrad": torch.optim.Adagrad,
        "adam": torch.optim.Adam,
        "adadelta": torch.optim.Adadelta,
    }
    parameters = [p for p in module.parameters() if p.requires_grad]
    return kinds[settings.optimizer](parameters, lr=settings.learning_rate)  # type: ignore[call-arg]


class LoopState:
    """The state of a training after its last complete epoch, on disk.

    `state.safetensors` holds module, optimizer and epoch in one file, so a kill cannot mix epochs;
    `best.safetensors` holds the best module.
    """

    def __init__(self, workspace: Path) -> None:
        self._state = workspace / "state.safetensors"
        self._best = workspace / "best.safetensors"
        self.best_epoch = 0
        self.best_measure = -math.inf

    def restore(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Load the state, if there is one, and return the number of epochs done."""
        if is_kept(self._state) and is_kept(self._best):
            try:
                return self._read(module, optimizer)
            except InputError:
                notice("the state of an interrupted training is of another model: starting over.")
        self._keep(self._best, module.state_dict(), {})
        return 0

    def _read(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
        import torch

        saved = WeightFile(self._state).load(_shapes(module, optimizer))
        module.load_state_dict(
            {
                name.removeprefix(_MODULE): tensor
                for name, tensor in saved.items()
                if name.startswith(_MODULE)
            }
        )
        groups = optimizer.state_dict()["param_groups"]
        states: dict[int, dict[str, Tensor]] = {}
        for name, tensor in saved.items():
            if name.startswith(_OPTIMIZER):
                number, key = name.removeprefix(_OPTIMIZER).split(".", 1)
                states.setdefault(int(number), {})[key] = tensor
        optimizer.load_state_dict({"state": states, "param_groups": groups})
        facts = json.loads(bytes(saved["facts"].to(torch.uint8).tolist()).decode())
        self.best_epoch = int(facts["best_epoch"])
        self.best_measure = float(facts["best_measure"])
        return int(facts["epoch"])

    def record(
        self, epoch: int, measure: float, module: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        """Keep the state after an epoch, and the module if it is the best so far.

        If no epoch finds anything relevant, the last one counts as the best, so that what was
        learned is not lost.
        """
        import torch

        better = measure > self.best_measure or measure == self.best_measure == 0
        if better:
            self.best_measure, self.best_epoch = measure, epoch
            self._keep(self._best, module.state_dict(), {})
        facts = {"epoch": epoch, "best_epoch": self.best_epoch, "best_measure": self.best_measure}
        tensors = {_MODULE + name: tensor for name, tensor in module.state_dict().items()}
        for number, values in optimizer.state_dict()["state"].items():
            for key, value in values.items():
                if value is not None:  # as SGD's momentum where it has none
                    tensors[f"{_OPTIMIZER}{number}.{key}"] = torch.as_tensor(value)
        tensors["facts"] = torch.tensor(list(json.dumps(facts).encode()), dtype=torch.uint8)
        self._keep(self._state, tensors, _shapes(module, optimizer))

    @staticmethod
    def _keep(path: Path, tensors: dict[str, Tensor], identity: dict[str, Any]) -> None:
        draft = path.with_name(f"made-{path.name}")
        WeightFile(draft).save(tensors, identity)
        keep_made(draft, path)

    def best(self) -> dict[str, Tensor]:
        """The weights of the best epoch."""
        return WeightFile(self._best).load()


def _shapes(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    shapes = {name: list(tensor.shape) for name, tensor in module.state_dict().items()}
    return {"optimizer": type(optimizer).__name__, "shapes": shapes}
