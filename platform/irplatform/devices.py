"""Choosing where to compute."""

from __future__ import annotations

from irplatform.arithmetic import check_arithmetic
from irplatform.errors import InputError

CHOICES = ("auto", "cpu", "cuda", "mps")


def check_device(wanted: str) -> None:
    """See that a device is one of `CHOICES`, whether it is there or not.

    Raises:
        InputError: it is not.
    """
    if wanted not in CHOICES:
        raise InputError(f"unknown device '{wanted}'. Choose one of {', '.join(CHOICES)}.")


def choose_device(wanted: str, threads: int = 1) -> str:
    """The device that a name stands for, with torch told how to compute there, in all of a process.

    On the CPU torch gets so many threads; on a GPU convolutions are not rounded to TF32.

    Args:
        wanted: one of `CHOICES`; "auto" takes a GPU where there is one.
        threads: of torch on the CPU. Sums depend on how they are divided among threads, so that
            another number of them would train other weights.

    Raises:
        InputError: the device is not there, or `IRPLATFORM_ARITHMETIC` asks for what cannot be.
    """
    check_device(wanted)
    check_arithmetic()
    import torch

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
