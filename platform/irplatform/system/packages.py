"""Installed packages: which extra brings a missing one, and what to do about a damaged one."""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NEURAL = ("torch", "gensim", "safetensors")
EXTRAS = {
    "neural": _NEURAL,
    "wmd": ("ot", "gensim"),
    "ltr": ("lightgbm", *_NEURAL),
    "encoders": ("transformers", "sentence_transformers", "faiss", *_NEURAL),
    "clicks": ("polars",),
    "datasets": ("ir_datasets",),
    "measures": ("pyndeval", "cwl"),
    "knowledge": ("fastobo",),
    "concepts": ("scispacy", "spacy", "networkx", "sklearn", "fastobo"),
    "pyterrier": ("pyterrier",),
    "ray": ("ray",),
}
"""The modules that each extra of pyproject.toml adds."""
_PACKAGES = {
    "cwl": "cwl-eval",
    "faiss": "faiss-cpu",
    "ir_datasets": "ir-datasets",
    "ot": "POT",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
}
"""Packages with other names than their modules."""


def absent(*modules: str) -> list[str]:
    """Those of some modules that are not installed."""
    return [module for module in modules if not _is_installed(module)]


def _is_installed(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    return importlib.util.find_spec(module) is not None


def require(who: str, *modules: str) -> None:
    """Check that modules are installed, before the work of `who` begins: "reranker 'delta'"."""
    if missing := absent(*modules):
        raise InputError(_advice(who, missing))


def missing_extra(error: BaseException, who: str = "this command") -> str:
    """What to install after an import failed for want of an extra; "" for other errors."""
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    module = name.partition(".")[0]
    return _advice(who, [module]) if _extras_with(module) and absent(module) else ""


def package_of(module: str) -> str:
    """The package that brings a module, as pip calls it: "POT" for `ot`."""
    return _PACKAGES.get(module, module)


def how_to_install(modules: Sequence[str]) -> str:
    """The command that installs missing modules, such as `pip install 'irplatform[neural]'`."""
    whole = [extra for extra, brought in EXTRAS.items() if {*modules} <= {*brought}]
    extras = dict.fromkeys(whole[:1] or [e for m in modules for e in _extras_with(m)[:1]])
    wanted = [f"'irplatform[{','.join(extras)}]'"] if extras else []
    wanted += [module for module in modules if not _extras_with(module)]
    return f"pip install {' '.join(wanted)}"


def _advice(who: str, missing: Sequence[str]) -> str:
    return f"{who} needs {package_of(missing[0])}. Run {how_to_install(missing)}."


def _extras_with(module: str) -> list[str]:
    return [extra for extra, modules in EXTRAS.items() if module in modules]


def leave_out_damaged() -> None:
    """Make Python ignore packages whose descriptions cannot be read, and name them.

    pydantic and torch look through all packages for plugins of their own, as we do, and fail at the
    first that cannot be read.
    """
    damaged: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            _ = distribution.metadata, distribution.entry_points
        except Exception as error:
            damaged[_place(distribution)] = str(error)
    for place, reason in damaged.items():
        notice(
            f"{place} is damaged, and none of its plugins is used: its description cannot be read "
            f"({reason}). Install the package again, or remove the folder."
        )
    every = metadata.Distribution.discover

    def sound(**context: Any) -> Iterable[metadata.Distribution]:
        return (found for found in every(**context) if _place(found) not in damaged)

    metadata.Distribution.discover = sound  # type: ignore[method-assign]


def check_packages() -> None:
    """Leave out damaged packages, if there are any, before a library looks through all packages."""
    try:
        metadata.entry_points()
    except Exception:  # of one package's file, and Python does not say of which
        leave_out_damaged()


def _place(distribution: metadata.Distribution) -> str:
    return str(getattr(distribution, "_path", distribution))
