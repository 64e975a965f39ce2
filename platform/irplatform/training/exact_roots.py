"""Steps of torch's optimizers whose square roots round alike on all processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from irplatform.arithmetic import square_root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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
