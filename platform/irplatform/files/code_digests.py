"""Digests of code, on which cached results depend.

Results of a third-party plugin depend on its files and its version: authors change code more often
than the version. Results of the platform's own plugins depend on the platform's version.
"""

from __future__ import annotations

import functools
import re
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GROUP = "irplatform"
"""The group of entry points that names plugins."""
OURS = "irplatform"
"""The distribution of the platform and its own plugins."""
_IGNORED = frozenset({".md", ".pyc", ".rst", ".toml"})
"""Suffixes of files that change no result, such as published figures in TOML."""
_RECORDED = re.compile(r'^"?([^/,"\n]+)(?:/|\.py,)', re.MULTILINE)
"""A folder or a module that a distribution has, in its RECORD."""


@functools.cache
def our_packages() -> frozenset[str]:
    """Names of the platform's packages, its plugins' among them."""
    try:
        points = metadata.distribution(OURS).entry_points.select(group=GROUP)
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        points = metadata.EntryPoints()
    return frozenset({OURS, *(top_package(point.module) for point in points)})


def source_digest(*modules: str) -> str:
    """Return a digest of the versions and files of the distributions that have these modules.

    Code and data count (word lists, weights). The platform's own modules do not.
    """
    from irplatform.files.digests import fingerprint

    third_party = {top_package(module) for module in modules} - our_packages()
    tops = {top for name in third_party for top in _shipped_with(name)}
    digests = [digest for top in sorted(tops) for digest in package_digests(top)]
    brought_by = sorted({name for top in tops for name in distributions_of_packages().get(top, ())})
    versions = {name: _version(name) for name in brought_by}
    return fingerprint({"files": digests, "versions": versions})


def our_digest() -> str:
    """Return a digest of the Python files of the platform and its plugins."""
    from irplatform.files.digests import fingerprint

    return fingerprint({top: package_digests(top) for top in sorted(our_packages())})


@functools.cache
def package_digests(top: str) -> tuple[str, ...]:
    """Digests of a package's files at the first call, when its code was loaded."""
    from irplatform.files.digests import digests

    return tuple(digests(package_files(top)))


def is_third_party(module: str) -> bool:
    """Return whether a module is outside the platform and its plugins."""
    return top_package(module) not in our_packages()


def distribution_of(module: str) -> str | None:
    """Return the package and version that a module comes with; None for code of a session.

    Packages whose files are edited where they are count by their files.
    """
    top = top_package(module)
    if top in sys.stdlib_module_names:
        return None if top == "__main__" else "python"
    if top in our_packages():
        return OURS
    if brought_by := distributions_of_packages().get(top):
        spec_file = getattr(sys.modules.get(top), "__file__", None) or "site-packages"
        if {"site-packages", "dist-packages"}.intersection(Path(spec_file).parts):
            return " ".join(f"{name} {_version(name)}" for name in sorted({*brought_by}))
        return source_digest(module)
    return None


def module_of(function: Callable[..., object]) -> str:
    """Return the module that defines a function, also within `partial`."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__module__", None) or type(function).__module__)


def top_package(module: str) -> str:
    """Return the package or module that a module is in."""
    return module.partition(".")[0]


@functools.cache
def distributions_of_packages() -> Mapping[str, Sequence[str]]:
    """Return the distributions that have each package, by its name.

    As `importlib.metadata.packages_distributions`, which takes a second where much is installed.
    """
    owners: dict[str, list[str]] = {}
    for distribution in metadata.distributions():
        declared = distribution.read_text("top_level.txt")
        record = "" if declared else distribution.read_text("RECORD")
        for top in {*declared.split()} if declared else {*_RECORDED.findall(record or "")}:
            owners.setdefault(top, []).append(distribution.name)
    return owners


@functools.cache
def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # removed meanwhile, or a part of it
        return ""


def _shipped_with(top: str) -> set[str]:
    """The packages and modules of the distributions that have this one."""
    distributions = distributions_of_packages()
    owners = set(distributions.get(top, ()))
    return {top, *(name for name, others in distributions.items() if owners.intersection(others))}


def package_files(top: str) -> list[Path]:
    """The files of a package (of ours the Python files), or the file of a module."""
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
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and path.suffix not in _IGNORED and path.is_file()
