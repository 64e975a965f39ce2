"""A small model that two processes train together, or one alone."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from irplatform.training import LoopSettings, run_loop
from irplatform.training.distributed import Place, joined, quiet_torch

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Batch:
    """Inputs [n, 4] and a weight for each."""

    inputs: torch.Tensor
    weight: torch.Tensor


class Line:
    """Fits a line to 37 weighted points, the same ones in batches of any size."""

    def __init__(self, size: int, fails_in: int | None = None) -> None:
        torch.manual_seed(3)
        self.module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh())
        self.module.append(torch.nn.Linear(8, 1))
        self.module.register_parameter("unused", torch.nn.Parameter(torch.ones(2)))
        self._size = size
        self._fails_in = fails_in

    def batches(self, epoch):
        generator = torch.Generator().manual_seed(epoch)
        inputs = torch.randn(37, 4, generator=generator)
        weight = torch.rand(37, generator=generator)
        for start in range(0, 37, self._size):
            if epoch == self._fails_in and start:
                raise ValueError("interrupted")
            part = slice(start, start + self._size)
            yield Batch(inputs[part], weight[part])

    def loss(self, batch):
        wanted = batch.inputs.sum(dim=1)
        errors = (self.module(batch.inputs)[:, 0] - wanted) ** 2
        penalty = 0.01 * self.module[0].weight.square().sum()
        return (batch.weight * errors).sum() / batch.weight.sum() + penalty

    def validate(self):
        inputs = torch.randn(64, 4, generator=torch.Generator().manual_seed(99))
        return -float((self.module(inputs)[:, 0] - inputs.sum(dim=1)).square().mean())


@dataclass(frozen=True)
class Job:
    """What one process does.

    Attributes:
        workspace: where the state of the training lies.
        size: of its batches.
        fails_in: an epoch that process 0 does not survive.
        place: among others; None alone.
    """

    workspace: Path
    size: int
    fails_in: int | None = None
    place: Place | None = None


def jobs(job: Job, meeting: Path) -> list[Job]:
    """The same for each of two processes."""
    folders = (job.workspace, meeting.parent / f"{meeting.name}-1")
    return [
        replace(
            job,
            place=Place(rank, len(folders), meeting, folder, job.workspace),
            fails_in=None if rank else job.fails_in,
        )
        for rank, folder in enumerate(folders)
    ]


def train(job: Job):
    """Train; the losses and measures of the epochs, the best measure, and the weights."""
    quiet_torch()
    torch.set_num_threads(1)
    reported = []
    workspace = job.place.workspace if job.place else job.workspace
    workspace.mkdir(parents=True, exist_ok=True)
    with joined(job.place, "cpu") if job.place else nullcontext():
        task = Line(job.size, job.fails_in)
        best = run_loop(
            task,
            LoopSettings(optimizer="adam", epochs=3, learning_rate=0.05),
            seed=1,
            workspace=workspace,
            report=lambda *told: reported.append(told),
        )
    files = sorted(path.name for path in workspace.iterdir())
    weights = [parameter.detach().numpy() for parameter in task.module.parameters()]
    return reported, best, weights, files
