"""Square roots in torch that round alike on all processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor


def square_root(values: Tensor) -> Tensor:
    """The square root of each number, on the CPU rounded correctly.

    There torch takes it from MKL, which begins with an approximation that makers of processors
    implement differently. So twice as many digits are computed and rounded.
    """
    if values.device.type != "cpu":
        return values.sqrt()
    return values.double().sqrt().to(values.dtype)


class ExactRoots(TorchFunctionMode):
    """Within it, torch's square roots are `arithmetic.square_root`."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Compute a root another way, and anything else as torch does."""
        if func in (torch.Tensor.sqrt, torch.sqrt):
            return square_root(args[0])
        if func is torch.Tensor.sqrt_:
            return args[0].copy_(square_root(args[0]))
        return func(*args, **(kwargs or {}))
