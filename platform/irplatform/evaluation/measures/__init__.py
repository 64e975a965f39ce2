"""Measures, one a file: formula, reference, and how it is computed.

A file registers its measure as a plugin registers one, with `register_measures`. Measures of
ir-measures that have no file here are left to the packages behind it, with nothing to add.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.evaluation.kinds import Measure


@cache
def registered_measures() -> Mapping[str, Measure]:
    """Return the measures of all files by name, without parameters."""
    measures: dict[str, Measure] = {}
    for module in walk_packages(__path__, f"{__name__}."):
        if not module.ispkg:
            import_module(module.name).register_measures(measures.__setitem__)
    return measures
