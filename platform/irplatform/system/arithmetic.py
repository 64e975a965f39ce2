"""Arithmetic that rounds alike on all x86-64 processors with AVX2, whatever their maker and age.

NumPy, torch and the libraries below them choose instructions by the processor, and divide sums
among as many threads as it has cores. Other instructions and other threads add numbers up in
another order; training enlarges such differences. So the libraries are configured, before they are
loaded, to use what all these processors have.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from irplatform.errors import InputError

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
"""Variables that the libraries read when they are loaded. Child processes inherit them."""
_LIBRARIES = ("numpy", "torch", "faiss")
_PROCESSOR = Path("/proc/cpuinfo")


def configure_libraries() -> None:
    """Set the libraries' variables for portable arithmetic, before the libraries are loaded.

    Nothing changes where it is too late, where the processor cannot, or where the user has set
    `IRPLATFORM_ARITHMETIC` to "native" or one of the libraries' own variables.
    """
    choice = os.environ.get(VARIABLE)
    if _why_not():
        return
    if choice == "native" and portable():  # inherited from the process that started this one
        for name in SETTINGS:
            del os.environ[name]
    elif choice == "portable" or (not choice and not any(name in os.environ for name in SETTINGS)):
        os.environ.update(SETTINGS)


def portable() -> bool:
    """Whether this process computes as any other x86-64 processor with AVX2 does."""
    return all(os.environ.get(name) == value for name, value in SETTINGS.items())


def arithmetic() -> dict[str, str]:
    """The part of a fingerprint of computed numbers; empty for the processor's own arithmetic."""
    return {"arithmetic": "portable"} if portable() else {}


def check_arithmetic() -> None:
    """Check that numbers are computed as `IRPLATFORM_ARITHMETIC` asks.

    Raises:
        InputError: the variable is none of `ARITHMETICS`, or asks for what cannot be.
    """
    choice = os.environ.get(VARIABLE)
    if choice and choice not in ARITHMETICS:
        raise InputError(f"{VARIABLE} is '{choice}'. Set it to {' or '.join(ARITHMETICS)}.")
    if choice == "portable" and not portable():
        raise InputError(f"{VARIABLE} is portable, but {_why_not()}.")


def _why_not() -> str:
    """Why the libraries cannot be configured; "" where they can."""
    if not _has_avx2():
        return "this is no x86-64 processor with AVX2 under Linux"
    if any(library in sys.modules for library in _LIBRARIES):
        return "numpy or torch was imported before irplatform; import irplatform first"
    return ""


def _has_avx2() -> bool:
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return False
    try:
        with _PROCESSOR.open(encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:  # some sandboxes hide it
        return False
    return {"avx2", "fma"} <= {*flags.split()}
