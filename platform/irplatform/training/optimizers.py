"""Torch's optimizers, with square roots that round alike on all processors.

Torch takes the square root of a vector from MKL, which approximates it with instructions that
makers of processors implement differently. Fused optimizers do not call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from irplatform.arithmetic import square_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_FUSED: dict[str, type[torch.optim.Optimizer]] = {
    "adagrad": torch.optim.Adagrad,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


def make_optimizer(
    name: str, parameters: Iterable[torch.nn.Parameter], learning_rate: float, **others: Any
) -> torch.optim.Optimizer:
    """Make the optimizer of a name: "adagrad", "adam", "adamw" or "adadelta".

    Args:
        name: its name, in small letters.
        parameters: what is trained, all on one device.
        learning_rate: the step size.
        others: what the optimizer itself takes, as torch calls it.
    """
    held = list(parameters)
    if name == "adadelta":
        return Adadelta(held, lr=learning_rate, **others)
    on_cpu = bool(held) and held[0].device.type == "cpu"
    return _FUSED[name](held, lr=learning_rate, fused=on_cpu or None, **others)  # type: ignore[call-arg]


class Adadelta(torch.optim.Adadelta):
    """Adadelta (Zeiler 2012) as torch computes it; torch has no fused one."""

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take a step; a closure is refused.

        Raises:
            ValueError: there is a closure.
        """
        if closure is not None:
            raise ValueError("this optimizer takes no closure")
        for group in self.param_groups:
            rho, eps = group["rho"], group["eps"]
            for parameter in group["params"]:
                if (gradient := parameter.grad) is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.zeros(())
                    state["square_avg"] = torch.zeros_like(parameter)
                    state["acc_delta"] = torch.zeros_like(parameter)
                state["step"] += 1
                state["square_avg"].mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
                ratio = square_root(state["acc_delta"] + eps) / square_root(
                    state["square_avg"] + eps
                )
                delta = ratio.mul_(gradient)
                state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
                parameter.add_(delta, alpha=-group["lr"])
