"""How and where numbers are computed: portable arithmetic, and the device of torch.

Portable arithmetic rounds alike on all x86-64 processors with AVX2. NumPy, torch and the libraries
below them choose instructions and threads by the processor, so sums differ, and training enlarges
the differences. So the libraries are configured, before they are loaded, to use what all these
processors have.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.system.console import waiting
from irplatform.system.packages import absent, require
from irplatform.system.process import tell_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from torch import Tensor


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
DEVICES = ("auto", "cpu", "cuda", "mps")
_GPUS = ("nvidia*", "nvhost*", "nvgpu*", "kfd", "dxg")
"""Patterns of the devices of GPUs, below `/dev` of Linux."""
_torchs_own: list[int] = []
"""The numbers of threads that torch chose for itself, before each `choose_device`."""


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
    """Tell if this process computes as any other x86-64 processor with AVX2 does."""
    return all(os.environ.get(name) == value for name, value in SETTINGS.items())


def arithmetic() -> dict[str, str]:
    """Return the part of a fingerprint of computed numbers; empty for native arithmetic."""
    return {"arithmetic": "portable"} if portable() else {}


def check_arithmetic() -> None:
    """Refuse a value of `IRPLATFORM_ARITHMETIC` that does not exist, or is impossible here."""
    choice = os.environ.get(VARIABLE)
    if choice and choice not in ARITHMETICS:
        raise InputError(f"{VARIABLE} is '{choice}'. Set it to {' or '.join(ARITHMETICS)}.")
    if choice == "portable" and not portable():
        raise InputError(f"{VARIABLE} is portable, but {_why_not()}.")


def _why_not() -> str:
    """The reason why the libraries cannot be configured; "" if they can."""
    if not has_avx2():
        return "this is not an x86-64 processor with AVX2 under Linux"
    if any(library in sys.modules for library in _LIBRARIES):
        return "numpy or torch was imported before irplatform; import irplatform first"
    return ""


def has_avx2() -> bool:
    """Return whether this is an x86-64 processor with AVX2 and FMA, as far as Linux says."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return False
    try:
        with _PROCESSOR.open(encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:  # some sandboxes hide it
        return False
    return {"avx2", "fma"} <= {*flags.split()}


def check_device(device: str) -> None:
    """Check that a name is one of `DEVICES`."""
    if device not in DEVICES:
        raise InputError(f"unknown device '{device}'. Choose one of {', '.join(DEVICES)}.")


def choose_device(device: str, threads: int = 1) -> str:
    """Return the device that a name stands for, with torch configured for the whole process.

    Without torch it is the CPU, for rerankers that need NumPy alone. Torch is loaded here only if
    there may be a GPU; else it is configured when something imports it. On the CPU torch gets
    `threads` threads: another number trains other weights. On a GPU convolutions are not rounded to
    TF32. InputError if the device or torch is missing.
    """
    from irplatform.spelling import option  # not at the start of every command

    check_device(device)
    check_arithmetic()
    if absent("torch"):
        if device in ("auto", "cpu"):
            return "cpu"
        require(option("device", device), "torch")
    if "torch" not in sys.modules and (device == "cpu" or (device == "auto" and not _gpus())):
        _torch_to_come.expect(threads)
        return "cpu"
    with waiting("loading torch"):
        import torch

    _set_threads(torch, threads)
    if device == "cpu":
        return device
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        device = next((name for name, usable in available.items() if usable), "cpu")
    elif not available[device]:
        raise InputError(
            f"there is no device '{device}' here; {option('device', 'auto')} takes what there is."
        )
    # Convolutions in TF32 would move scores by 1e-3 against the CPU's.
    torch.backends.cudnn.allow_tf32 = False
    return device


def _set_threads(torch: Any, threads: int) -> None:
    _torchs_own.append(torch.get_num_threads())
    torch.set_num_threads(threads)


def _gpus() -> bool:
    """Whether there may be a GPU: on Linux its device would be here."""
    return sys.platform != "linux" or any(any(Path("/dev").glob(name)) for name in _GPUS)


class _TorchToCome:
    """Sets torch's threads when torch is imported: a finder of modules that looks at the others."""

    threads = 0
    """0 leaves torch as it is."""

    def expect(self, threads: int) -> None:
        """Set this number of threads at the import, if there is one."""
        self.threads = threads
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find torch as the other finders do, with a loader that configures it."""
        if name != "torch":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def configure(module: ModuleType) -> None:
                with waiting("loading torch"):
                    execute(module)
                if self.threads:
                    _set_threads(module, self.threads)

            vars(spec.loader)["exec_module"] = configure
        return spec


_torch_to_come = _TorchToCome()


@contextmanager
def settings_kept() -> Iterator[None]:
    """Restore torch's settings and Python's warnings after the block, for notebooks.

    Of an interruption a notebook says what is kept.
    """
    imported = sys.modules.get("torch")
    threads = imported.get_num_threads() if imported else 0
    rounding = imported.backends.cudnn.allow_tf32 if imported else True
    count, to_come = len(_torchs_own), _torch_to_come.threads
    with warnings.catch_warnings():
        try:
            yield
        except KeyboardInterrupt as stop:
            tell_kept(stop)
            raise
        finally:
            _torch_to_come.threads = to_come
            if len(_torchs_own) > count:
                import torch

                torch.set_num_threads(threads or _torchs_own[count])
                torch.backends.cudnn.allow_tf32 = rounding


# Torch takes square roots on CPUs from MKL, which begins with an approximation that differs between
# makers of processors. So twice as many digits are computed and rounded.


def square_root(values: Tensor) -> Tensor:
    """The square root of each number, rounded alike on all processors."""
    if values.device.type != "cpu":
        return values.sqrt()
    return values.double().sqrt().to(values.dtype)


def exact_roots() -> AbstractContextManager[object]:
    """Return a block in which torch's square roots are `square_root`, for optimizers."""
    import torch
    from torch.overrides import TorchFunctionMode

    class ExactRoots(TorchFunctionMode):
        def __torch_function__(
            self,
            func: Callable[..., Any],
            types: object,
            args: Sequence[Any] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            if func in (torch.Tensor.sqrt, torch.sqrt):
                return square_root(args[0])
            if func is torch.Tensor.sqrt_:
                return args[0].copy_(square_root(args[0]))
            return func(*args, **(kwargs or {}))

    return ExactRoots()
