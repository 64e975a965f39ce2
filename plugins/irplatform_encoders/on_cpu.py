"""Transformers on the CPU: quick portable products of matrices, and several passes at a time.

MKL's portable kernels, which torch uses, have a third of the speed of its others; numpy's OpenBLAS
has quick portable ones (`irplatform.system.arithmetic`) but one thread. So each product is made in
the same blocks of columns, in as many threads as torch has. Threads change no score.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from irplatform.kit import portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor, nn

    from irplatform.kit import Float32
    from irplatform.plugin import Resources


_BLOCK = 192  # columns; transformers' widths are nearly multiples of it


def in_float32(device: str) -> bool:
    """Return whether a network on this device has to be in float32 to be quick."""
    return device == "cpu" and portable()


def multiply_by_numpy(network: nn.Module, device: str, *, apart: bool = False) -> None:
    """Let numpy compute the linear layers of a float32 network where that is quicker.

    The network can still be trained. With `apart`, the rows of one text [texts, words, width] are
    multiplied without those of others, whose number would change the last digits.
    """
    from torch import nn

    if not in_float32(device):
        return
    for layer in network.modules():
        if type(layer) is nn.Linear:
            layer.forward = partial(_applied, layer, apart)  # type: ignore[method-assign]


def _applied(layer: nn.Linear, apart: bool, values: Tensor) -> Tensor:
    import torch

    if values.dtype != torch.float32:  # a part of the network that counts otherwise
        return torch.nn.functional.linear(values, layer.weight, layer.bias)
    rows = values if apart else values.reshape(-1, layer.in_features)
    product: Tensor = _differentiable()(rows, layer.weight)
    if layer.bias is not None:
        product = product + layer.bias
    return product.view(*values.shape[:-1], layer.out_features)


@cache
def _differentiable() -> Callable[[Tensor, Tensor], Tensor]:
    """The product of rows [n, in] and weights [out, in], [n, out], with its gradients.

    Rows of several texts, [texts, n, in], have no gradients.
    """
    from torch.autograd import Function

    class Product(Function):
        @staticmethod
        def forward(context: Any, rows: Tensor, weight: Tensor) -> Tensor:
            context.save_for_backward(rows, weight)
            return _product(rows, weight.T)

        @staticmethod
        def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
            rows, weight = context.saved_tensors
            of_rows, of_weight = context.needs_input_grad
            return (
                _product(gradient, weight) if of_rows else None,
                _product(gradient.T, rows) if of_weight else None,
            )

    return Product.apply


def _product(left: Tensor, right: Tensor) -> Tensor:
    import torch

    rows: Float32 = left.detach().numpy()
    columns: Float32 = right.detach().numpy()
    product = np.empty((*rows.shape[:-1], columns.shape[1]), np.float32)

    def multiply(block: slice) -> None:
        np.matmul(rows, columns[:, block], out=product[..., block])

    in_blocks(multiply, columns.shape[1])
    return torch.from_numpy(product)


def in_blocks(compute: Callable[[slice], None], columns: int) -> None:
    """Compute blocks of columns, in as many threads as torch has."""
    import torch

    blocks = [slice(start, start + _BLOCK) for start in range(0, columns, _BLOCK)]
    if (threads := torch.get_num_threads()) > 1:
        list(_pool(threads).map(compute, blocks))
    else:
        for block in blocks:
            compute(block)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


Item = TypeVar("Item")
Result = TypeVar("Result")


def passes_at_a_time(resources: Resources) -> int:
    """The number of threads that a system may compute in; 1 on a GPU."""
    if resources.device != "cpu":
        return 1
    return max(1, resources.threads // resources.model_threads)


def map_in_threads(
    compute: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """Yield the result for each item, in order.

    `compute` enters torch's modes, such as `inference_mode`, itself: each thread has its own.
    """
    if threads <= 1 or len(items) < 2:
        return map(compute, items)
    return _mapped(compute, items, min(threads, len(items)))


def map_ahead(compute: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield the result for each item, in order; a thread computes while earlier ones are used."""
    return map(compute, items) if len(items) < 2 else _mapped(compute, items, 1)


def _mapped(
    compute: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(compute, items)
    finally:
        pool.shutdown(cancel_futures=True)
