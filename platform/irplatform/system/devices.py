"""The device to compute on, and torch's settings there."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.system.arithmetic import check_arithmetic
from irplatform.system.console import waiting
from irplatform.system.packages import absent, require

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVICES = ("auto", "cpu", "cuda", "mps")
_torchs_own: list[int] = []
"""The numbers of threads that torch chose for itself, before each `choose_device`."""


def check_device(wanted: str) -> None:
    """Check that a name is one of `DEVICES`, whether the device is there or not."""
    if wanted not in DEVICES:
        raise InputError(f"unknown device '{wanted}'. Choose one of {', '.join(DEVICES)}.")


def choose_device(wanted: str, threads: int = 1) -> str:
    """The device that a name stands for, with torch configured for it in the whole process.

    Without torch it is the CPU, for rerankers that need NumPy alone. On the CPU torch gets that
    many threads; on a GPU convolutions are not rounded to TF32.

    Args:
        wanted: one of `DEVICES`; "auto" takes a GPU where there is one.
        threads: of torch on the CPU. Sums depend on how they are divided among threads, so another
            number trains other weights.

    Raises:
        InputError: the device or torch is missing, or `IRPLATFORM_ARITHMETIC` asks for what cannot
            be.
    """
    check_device(wanted)
    check_arithmetic()
    if absent("torch"):
        if wanted in ("auto", "cpu"):
            return "cpu"
        require(f"--device {wanted}", "torch")
    with waiting("loading torch"):
        import torch

    _torchs_own.append(torch.get_num_threads())
    torch.set_num_threads(threads)
    if wanted == "cpu":
        return wanted
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if wanted == "auto":
        wanted = next((name for name, usable in available.items() if usable), "cpu")
    elif not available[wanted]:
        raise InputError(f"there is no device '{wanted}' here; --device auto takes what there is.")
    # Convolutions in TF32 would move scores by 1e-3 against the CPU's.
    torch.backends.cudnn.allow_tf32 = False
    return wanted


@contextmanager
def settings_kept() -> Iterator[None]:
    """Restore torch's settings and Python's warnings after the block: notebooks go on computing."""
    imported = sys.modules.get("torch")
    threads = imported.get_num_threads() if imported else 0
    rounding = imported.backends.cudnn.allow_tf32 if imported else True
    known = len(_torchs_own)
    with warnings.catch_warnings():
        try:
            yield
        finally:
            if len(_torchs_own) > known:
                import torch

                torch.set_num_threads(threads or _torchs_own[known])
                torch.backends.cudnn.allow_tf32 = rounding
