"""Where a training stands after its last complete epoch, on disk: to go on from after a kill."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from irplatform.console import notice
from irplatform.errors import InputError
from irplatform.training.weights import load_weights, save_weights

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import Tensor

_MODULE, _OPTIMIZER = "module.", "optimizer."
"""How the names of their tensors begin in the file."""


class LoopState:
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

        Where nothing relevant is found in any epoch, nothing tells them apart, and the last is
        taken: what was learned must not be lost.
        """
        import torch

        better = measure > self.best_measure or measure == self.best_measure == 0
        if better:
            self.best_measure, self.best_epoch = measure, epoch
        if not self._writes:
            return
        if better:
            save_weights(self._best, module.state_dict(), {})
        facts = {"epoch": epoch, "best_epoch": self.best_epoch, "best_measure": self.best_measure}
        tensors = {_MODULE + name: tensor for name, tensor in module.state_dict().items()}
        for number, values in optimizer.state_dict()["state"].items():
            for key, value in values.items():
                if value is not None:  # as SGD's momentum where it has none
                    tensors[f"{_OPTIMIZER}{number}.{key}"] = torch.as_tensor(value)
        tensors["facts"] = torch.tensor(list(json.dumps(facts).encode()), dtype=torch.uint8)
        save_weights(self._state, tensors, _shapes(module, optimizer))

    def best(self) -> dict[str, Tensor]:
        """The weights of the best epoch."""
        return load_weights(self._best)


def _shapes(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    shapes = {name: list(tensor.shape) for name, tensor in module.state_dict().items()}
    return {"optimizer": type(optimizer).__name__, "shapes": shapes}
