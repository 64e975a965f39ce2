"""Choosing where to compute."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from irplatform.errors import InputError
from irplatform.system.console import notice, waiting
from irplatform.system.packages import absent, require
from irplatform.system.workers import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import Tensor


# Arithmetic that rounds alike on all x86-64 processors with AVX2, whatever their maker and age.
#
# Numpy, torch and the libraries below them choose instructions by the processor, and divide sums
# among as many threads as it has cores. Other instructions and other threads add numbers up in
# another order; training enlarges such differences. So the libraries are told, before they are
# loaded, to use what all these processors have.

VARIABLE = "IRPLATFORM_ARITHMETIC"
ARITHMETICS = ("portable", "native")
SETTINGS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "FAISS_SIMD_LEVEL": "AVX2",
    "FBGEMM_ENABLE_INSTRUCTIONS": "AVX2",
    # Kernels for all makers' processors; with AVX2, MKL takes others on Intel's than on AMD's.
    "MKL_CBWR": "COMPATIBLE",
    "NPY_DISABLE_CPU_FEATURES": (
        "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
    ),
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
}
"""What the libraries read when they are loaded. Processes that this one starts inherit it."""
_LIBRARIES = ("numpy", "torch", "faiss")
_PROCESSOR = Path("/proc/cpuinfo")


def settle() -> None:
    """Tell the libraries, unless it is too late, the processor cannot, or the user chose otherwise.

    Whoever sets one of the libraries' own variables has chosen otherwise.
    """
    choice = os.environ.get(VARIABLE)
    if _why_not():
        return
    if choice == "native" and portable():  # as a process has it that started this one
        for name in SETTINGS:
            del os.environ[name]
    elif choice == "portable" or (not choice and not any(name in os.environ for name in SETTINGS)):
        os.environ.update(SETTINGS)


def portable() -> bool:
    """Whether this process computes as any other x86-64 processor with AVX2 does."""
    return all(os.environ.get(name) == value for name, value in SETTINGS.items())


def arithmetic() -> dict[str, str]:
    """What fingerprints of computed numbers have to say of it; nothing of the processor's own."""
    return {"arithmetic": "portable"} if portable() else {}


def check_arithmetic() -> None:
    """See that numbers are computed as the user's variable asks.

    Raises:
        InputError: the variable has another value than `ARITHMETICS`, or asks for what cannot be.
    """
    choice = os.environ.get(VARIABLE)
    if choice and choice not in ARITHMETICS:
        raise InputError(f"{VARIABLE} is '{choice}'. Set it to {' or '.join(CHOICES)}.")
    if choice == "portable" and not portable():
        raise InputError(f"{VARIABLE} is portable, but {_why_not()}.")


def _why_not() -> str:
    """Why the libraries cannot be told; "" where they can."""
    if not _has_avx2():
        return "this is no x86-64 processor with AVX2 under Linux"
    if any(library in sys.modules for library in _LIBRARIES):
        return "numpy or torch was imported first: irplatform has to be, with the variable set"
    return ""


def _has_avx2() -> bool:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    try:
        with _PROCESSOR.open(encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:  # some sandboxes hide it
        return False
    return {"avx2", "fma"} <= {*flags.split()}


def square_root(values: Tensor) -> Tensor:
    """The square root of each number, on the CPU rounded correctly.

    There torch takes it from MKL, which begins with an approximation that makers of processors
    implement differently. So twice as many digits are computed and rounded.
    """
    if values.device.type != "cpu":
        return values.sqrt()
    return values.double().sqrt().to(values.dtype)


CHOICES = ("auto", "cpu", "cuda", "mps")
_torchs_own: list[int] = []
"""The number of threads that torch chose for itself."""


def check_device(wanted: str) -> None:
    """See that a device is one of `CHOICES`, whether it is there or not."""
    if wanted not in CHOICES:
        raise InputError(f"unknown device '{wanted}'. Choose one of {', '.join(CHOICES)}.")


def choose_device(wanted: str, threads: int = 1) -> str:
    """The device that a name stands for, with torch told how to compute there, in all of a process.

    Without torch it is the CPU: rerankers that need no more than NumPy compute there.
    On the CPU torch gets so many threads; on a GPU convolutions are not rounded to TF32.

    Args:
        wanted: one of `CHOICES`; "auto" takes a GPU where there is one.
        threads: of torch on the CPU. Sums depend on how they are divided among threads, so that
            another number of them would train other weights.

    Raises:
        InputError: the device or torch is not there, or `IRPLATFORM_ARITHMETIC` asks for what
            cannot be.
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


def within_cores(option: str, threads: int) -> int:
    """A number of threads, but no more than there are cores; a line says so."""
    if threads <= (cores := available_cores()):
        return threads
    notice(f"{option} {threads} is more than the cores here: {cores} are used")
    return cores


@contextmanager
def settings_kept() -> Iterator[None]:
    """Put back what work changes in all of a process: of torch, and of warnings.

    A notebook goes on computing in the same process.
    """
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


# Steps of torch's optimizers whose square roots round alike on all processors.


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
