"""Digests of plugins' files: cached results of third-party plugins depend on them.

Authors change code long before they change a version, and must not meet the scores of the old one;
where they change what does not count as code, the version tells.
Code of the platform itself is told apart by the platform's version.
"""

from __future__ import annotations

import functools
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GROUP = "irplatform"
"""Of entry points: plugins are found by it."""
OURS = "irplatform"
"""The distribution that brings the platform and its own plugins."""
_NO_PART = frozenset({".md", ".pyc", ".rst", ".toml"})
"""Endings of files that change no result."""


@functools.cache
def our_packages() -> frozenset[str]:
    """Names of the platform's packages, its plugins' among them."""
    try:
        points = metadata.distribution(OURS).entry_points.select(group=GROUP)
    except metadata.PackageNotFoundError:  # run from a folder that nobody installed
        points = metadata.EntryPoints()
    return frozenset({OURS, *(_top(point.module) for point in points)})


def source_digest(*modules: str) -> str:
    """16 hexadecimal digits of the modules' distributions: their versions and packages' files.

    Code and data count (word lists, weights), but for text about them and TOML: rows of published
    results are TOML, and writing a figure down changes none.

    Args:
        modules: their names; those of the platform count nothing.
    """
    from irplatform.system.digests import fingerprint

    strangers = dict.fromkeys(_top(module) for module in modules)
    tops = {top for name in strangers if name not in our_packages() for top in _shipped_with(name)}
    digests = [digest for top in sorted(tops) for digest in _digests(top)]
    brought_by = sorted({name for top in tops for name in _distributions().get(top, ())})
    versions = {name: _version(name) for name in brought_by}
    return fingerprint({"files": digests, "versions": versions})


def our_digest() -> str:
    """16 hexadecimal digits of the platform's own Python files, its plugins' among them."""
    from irplatform.system.digests import fingerprint

    return fingerprint({top: _digests(top) for top in sorted(our_packages())})


@functools.cache
def _digests(top: str) -> tuple[str, ...]:
    """Those of a package's files, as they were when they were first asked for.

    That is before any work of a command: an edit meanwhile belongs to the next one, since the code
    that runs is the code that was loaded.
    """
    from irplatform.system.digests import digests

    return tuple(digests(_files(top)))


def is_strange(module: str) -> bool:
    """Whether a module is neither the platform's nor one of its plugins'."""
    return _top(module) not in our_packages()


def module_of(function: Callable[..., object]) -> str:
    """The module that a function was written in, whatever was made of it by `partial`."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _top(module: str) -> str:
    return module.partition(".")[0]


@functools.cache
def _distributions() -> Mapping[str, Sequence[str]]:
    return metadata.packages_distributions()


@functools.cache
def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # removed meanwhile, or a part of it
        return ""


def _shipped_with(top: str) -> set[str]:
    """The importable packages and modules of the distributions that bring one."""
    distributions = _distributions()
    brought_by = set(distributions.get(top, ()))
    return {
        top,
        *(name for name, others in distributions.items() if brought_by.intersection(others)),
    }


def _files(top: str) -> list[Path]:
    """The files of a package (of ours the Python files), or a module that is a file of its own."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):  # made by hand, as in a notebook
        return []
    if spec is None:
        return []
    roots = [Path(place) for place in spec.submodule_search_locations or ()]
    pattern = "*.py" if top in our_packages() else "*"
    files = [path for root in roots for path in sorted(root.rglob(pattern)) if _counts(path, root)]
    return files or ([Path(spec.origin)] if spec.origin and Path(spec.origin).is_file() else [])


def _counts(path: Path, root: Path) -> bool:
    """Whether a file of a package may change results: not what editors and Python leave there."""
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and path.suffix not in _NO_PART and path.is_file()
