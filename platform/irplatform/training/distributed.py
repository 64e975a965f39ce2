"""Training one model in several processes, a GPU each, through torch's DistributedDataParallel.

Of every n consecutive batches each of n processes takes one, and a step follows the gradient of
all: one process learns the same from batches n times as large, if the loss is a mean over a batch.
Models need not know; only a task with sparse gradients asks `peers_of` if it may have them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sized
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError
from irplatform.system.console import notice_once
from irplatform.system.workers import available_cores, batched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from torch import Tensor
    from torch.nn import Module

    Result = TypeVar("Result")

PROCESSES_VARIABLE = "IRPLATFORM_TRAINING_PROCESSES"
_SEEDS_BETWEEN = 100_000
"""Between the dropout seeds of two processes; more than there are epochs."""
_PATIENCE = timedelta(days=7)
"""How long one process waits for another, which may be validating or building something. If it was
killed, the process that started it notices."""


def training_processes(device: str) -> int:
    """Return how many processes train a model together: the variable's value, else 1."""
    setting = os.environ.get(PROCESSES_VARIABLE, "1").strip() or "1"
    if not setting.isdecimal() or int(setting) < 1:
        raise InputError(f"{PROCESSES_VARIABLE} is '{setting}'; it must be a number from 1.")
    processes = int(setting)
    if device == "cpu" and processes > (cores := available_cores()):
        notice_once(
            f"{PROCESSES_VARIABLE} is {setting}, more than the cores here: {cores} are used"
        )
        processes = cores
    if processes > 1 and device != "cpu":
        import torch

        gpus = torch.cuda.device_count() if device == "cuda" else 1
        if processes > gpus:
            raise InputError(
                f"{PROCESSES_VARIABLE} is {processes}, and every process needs its own GPU, but "
                f"'{device}' has {gpus} here."
            )
    return processes


@dataclass(frozen=True)
class Place:
    """A process's place among those that train together, by its `rank` from 0.

    They find each other through `meeting`, a new file. In other folders than `workspace` the
    process trains alone. `shared` is the workspace of process 0, which alone writes.
    """

    rank: int
    size: int
    meeting: Path
    workspace: Path
    shared: Path


class Alone:
    """A single process."""

    size = 1
    """How many processes train together; in a step, each takes one of as many batches."""
    first = True
    """This process writes what the training leaves."""
    seed = 0
    """Added to the seed of this process's dropout."""
    sparse_gradients = True
    """Gradients may be sparse; torch cannot synchronize those."""

    def folder(self, workspace: Path) -> Path:
        """Return the folder of the training's state."""
        return workspace

    def loss(self, module: Module, loss: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
        """Return the loss of a batch, whose gradient will be that of all processes."""
        del module
        return loss

    def batches(self, batches: Iterable[Any]) -> Iterator[tuple[Any, float]]:
        """Yield this process's batch for every step, and the factor of its loss."""
        for batch in batches:
            yield batch, 1.0

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean of a value over the processes."""
        return value

    def measured(self, measure: Callable[[], float]) -> float:
        """Return a measure, as the first process finds it."""
        return measure()

    def in_turn(self, work: Callable[[], Result]) -> Result:
        """Do work that the others begin when the first process has finished it."""
        return work()


class Together(Alone):
    """One of several processes."""

    sparse_gradients = False

    def __init__(self, place: Place, device: str) -> None:
        self.place = place
        self.size = place.size
        self.first = place.rank == 0
        self.seed = place.rank * _SEEDS_BETWEEN
        self._device = device

    def folder(self, workspace: Path) -> Path:
        """Return the first process's folder for the same workspace."""
        return self.place.shared / workspace.relative_to(self.place.workspace)

    def loss(self, module: Module, loss: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
        """Return the loss as the forward pass of a module, which is what torch synchronizes.

        Each process keeps its statistics of batch normalization; the first one's are saved.
        """
        import torch
        from torch.nn.parallel import DistributedDataParallel

        class Loss(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.trained = module

            def forward(self, batch: Any) -> Tensor:
                return loss(batch)

        with warnings.catch_warnings():  # newer versions of torch rename an argument
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                Loss(), broadcast_buffers=False, find_unused_parameters=True
            )

    def batches(self, batches: Iterable[Any]) -> Iterator[tuple[Any, float]]:
        """Yield one of every `size` batches; the weight is the batch's part of their examples.

        Gradients are averaged, hence the factor `size`. In the last step, processes without a batch
        take part with a weight of zero.
        """
        rank, size = self.place.rank, self.place.size
        for step in batched(batches, size):
            examples = [_examples(batch) for batch in step]
            if rank < len(step):
                yield step[rank], size * examples[rank] / sum(examples)
            else:
                yield step[0], 0.0

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean of a value over the processes, on the CPU."""
        from torch import distributed

        summed = value.detach().to(self._device, copy=True)
        distributed.all_reduce(summed)
        return (summed / self.place.size).cpu()

    def measured(self, measure: Callable[[], float]) -> float:
        """Return a measure, computed by the first process and sent to the others."""
        import torch
        from torch import distributed

        value = torch.zeros((), dtype=torch.float64, device=self._device)
        if self.first:
            value.fill_(measure())
        distributed.broadcast(value, src=0)
        return float(value)

    def in_turn(self, work: Callable[[], Result]) -> Result:
        """Do work that the others begin when the first process has finished it."""
        if not self.first:
            self._wait()
            return work()
        result = work()
        self._wait()
        return result

    def _wait(self) -> None:
        self.measured(lambda: 0.0)


_together: Together | None = None
"""This process's place, where it has one."""


def quiet_torch() -> None:
    """Silence torch's warning about models whose batches use all parameters; before its import."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")


@contextmanager
def joined(place: Place, device: str) -> Iterator[None]:
    """Train with others whatever is trained in the workspace of the place; all must come.

    "cuda" as the device is the current one.
    """
    from torch import distributed

    global _together  # noqa: PLW0603 - as torch's own process group is the process's
    distributed.init_process_group(
        "nccl" if device == "cuda" else "gloo",
        init_method=f"file://{place.meeting}",
        rank=place.rank,
        world_size=place.size,
        timeout=_PATIENCE,
    )
    _together = Together(place, device)
    try:
        yield
    finally:
        _together = None
        distributed.destroy_process_group()


@contextmanager
def without_peers() -> Iterator[None]:
    """Train alone in the block: one process builds an entry of the cache, and the others wait."""
    global _together  # noqa: PLW0603 - likewise
    peers, _together = _together, None
    try:
        yield
    finally:
        _together = peers


def peers_of(workspace: Path) -> Alone:
    """Return the processes that train a model in this workspace.

    Models that are trained into the cache on the way are trained alone.
    """
    if _together is not None and workspace.is_relative_to(_together.place.workspace):
        return _together
    return Alone()


def _examples(batch: Any) -> float:
    """The number of examples in a batch: the sum of its weights, else its length.

    A tuple is as long as its first item; a batch without a length counts 1.
    """
    weight = getattr(batch, "weight", None)
    if weight is not None:
        return float(weight.sum())
    examples = batch[0] if isinstance(batch, tuple) else batch
    return float(len(examples)) if isinstance(examples, Sized) else 1.0
