"""MaxSim, the score of late interaction (Khattab and Zaharia, SIGIR 2020).

Each token of a query meets the token of the text whose vector has the largest inner product with
its own; the score is the sum of these products. It is exact over the vectors as they are stored.
numba computes it if it is installed, on a GPU torch does. A text's score depends on no other text:
each is a matrix product of its own, except on a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from irplatform_encoders.on_cpu import map_in_threads

if TYPE_CHECKING:
    from irplatform.kit import Float32, Int64

Float64 = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.float32] | npt.NDArray[np.float16] | npt.NDArray[np.int8]
_BLOCK = 128  # texts that a thread scores at a time
_ON_GPU = 1 << 19  # vectors that a GPU compares at a time


class StoredVectors(NamedTuple):
    """The vectors of several texts' tokens, where they are stored.

    `numbers` are float32, float16 or int8 [*]: those of text *i* are `tokens[i]` rows from
    `begins[i]` on. `scales`, float32 [*], has one number for each row of int8, from
    `scale_begins[i]` on, which the row is to be multiplied by.
    """

    numbers: Numbers
    begins: Int64
    tokens: Int64
    scales: Float32
    scale_begins: Int64

    def part(self, texts: slice) -> StoredVectors:
        """Some of the texts."""
        return self._replace(
            begins=self.begins[texts],
            tokens=self.tokens[texts],
            scale_begins=self.scale_begins[texts],
        )

    def of_text(self, text: int, width: int) -> Float32:
        """The vectors of a text's tokens: float32 [tokens, width]."""
        begin, tokens, scales = self.begins[text], self.tokens[text], self.scale_begins[text]
        numbers = self.numbers[begin : begin + tokens * width].reshape(-1, width)
        rows: Float32 = numbers.astype(np.float32)
        return rows * self.scales[scales : scales + tokens, None] if rows_scaled(numbers) else rows


def rows_scaled(numbers: Numbers) -> bool:
    """Whether rows are to be multiplied by scales."""
    return numbers.dtype == np.int8


def maxsim(query: Float32, texts: StoredVectors, device: str = "cpu", threads: int = 1) -> Float64:
    """Return the score of each text: float64 [texts].

    Args:
        query: vectors of its tokens, float32 [tokens, width]; one token or more.
        texts: of one token or more each.
        device: where to compute, as torch names it; other GPUs than CUDA's leave it to the CPU.
        threads: of the CPU.

    Example:
        >>> query = np.array([[1, 0], [0, 1]], np.float32)
        >>> numbers = np.array([1, 0, 0.6, 0.8], np.float32)
        >>> one, none = np.array([0]), np.empty(0, np.float32)
        >>> maxsim(query, StoredVectors(numbers, one, np.array([2]), none, one)).round(4)
        array([1.8])
    """
    if device.startswith("cuda"):
        return on_gpu(query, texts, device)
    compute = _compiled() or with_numpy
    blocks = [slice(at, at + _BLOCK) for at in range(0, len(texts.begins), _BLOCK)]

    def score(block: slice) -> Float64:
        return compute(query, texts.part(block))

    return np.concatenate([np.empty(0), *map_in_threads(score, blocks, threads)])


def with_numpy(query: Float32, texts: StoredVectors) -> Float64:
    """The same with numpy alone."""
    scores = np.empty(len(texts.begins))
    columns = np.ascontiguousarray(query.T)
    width = query.shape[1]
    for text in range(len(scores)):
        begin, tokens, at = texts.begins[text], texts.tokens[text], texts.scale_begins[text]
        numbers = texts.numbers[begin : begin + tokens * width].reshape(-1, width)
        products = numbers.astype(np.float32) @ columns
        if rows_scaled(numbers):
            products *= texts.scales[at : at + tokens, None]
        scores[text] = products.max(axis=0).cumsum(dtype=np.float64)[-1]
    return scores


def _compiled() -> Any:
    """The same compiled; None without numba."""
    try:
        from irplatform_encoders.multi_vector import maxsim_kernel
    except ImportError:
        return None

    def compute(query: Float32, texts: StoredVectors) -> Float64:
        scores = np.empty(len(texts.begins))
        numbers = texts.numbers
        maxsim_kernel.maxsim(
            np.ascontiguousarray(query.T),
            numbers.view(np.uint16) if numbers.dtype == np.float16 else numbers,
            texts.begins,
            texts.tokens,
            texts.scales,
            texts.scale_begins,
            scores,
        )
        return scores

    return compute


def on_gpu(query: Float32, texts: StoredVectors, device: str) -> Float64:
    """The same with torch on a device; last digits depend on the other texts."""
    import torch

    columns = torch.from_numpy(query).to(device).T
    scores = [np.empty(0)]
    ends = np.cumsum(texts.tokens)
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _ON_GPU, "right")))
        part = texts.part(slice(first, last))
        rows, scales = _gathered(part, query.shape[1])
        products = torch.from_numpy(rows).to(device).float() @ columns
        if len(scales):
            products *= torch.from_numpy(scales).to(device)[:, None]
        tokens = torch.from_numpy(part.tokens).to(device)
        best = torch.segment_reduce(products, "max", lengths=tokens, axis=0)
        scores.append(best.sum(1, dtype=torch.float64).cpu().numpy())
        first = last
    return np.concatenate(scores)


def _gathered(texts: StoredVectors, width: int) -> tuple[Numbers, Float32]:
    """The rows of all texts [tokens, width], and their scales, if they have some."""
    spans = zip(texts.begins, texts.begins + texts.tokens * width, strict=True)
    rows = np.concatenate([texts.numbers[begin:end] for begin, end in spans]).reshape(-1, width)
    if not rows_scaled(rows):
        return rows, np.empty(0, np.float32)
    spans = zip(texts.scale_begins, texts.scale_begins + texts.tokens, strict=True)
    return rows, np.concatenate([texts.scales[begin:end] for begin, end in spans])
