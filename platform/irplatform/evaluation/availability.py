"""Whether a package that is installed computes a measure, and what to do if not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.packages import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.evaluation.measures import Measure

_MODULES = {"cwl_eval": "cwl", "pyndeval": "pyndeval"}
"""What ir-measures calls a package, and the module of it that is imported."""


def check_available(name: str, measure: Measure) -> None:
    """See that an installed package computes a measure.

    Args:
        name: as the user wrote it.
        measure: what it means.

    Raises:
        InputError: none does; it says what to write or to install.
    """
    if _is_available(measure):
        return
    advice = ""
    if packages := _packages(measure):
        advice = _to_install(packages)
    else:
        forms = [form for form in _similar_forms(name, measure) if _packages(form[2])]
        near = next((form for form in forms if _is_available(form[2])), next(iter(forms), None))
        if near is not None:
            what, written, form = near
            advice = f" {what}: '{written}'."
            advice += "" if _is_available(form) else _to_install(_packages(form))
    raise InputError(f"no installed package computes the measure '{name}'.{advice}")


def _similar_forms(name: str, measure: Measure) -> Iterator[tuple[str, str, Measure]]:
    """What the same measure would be with a parameter more or fewer, how to write it, and it."""
    present = measure.params
    absent = measure.SUPPORTED_PARAMS.keys() - present.keys()
    if "rel" in absent:
        written = _with_rel(name)
        yield "It needs a grade from which documents count", written, _with(measure, rel=1)
    if "cutoff" in absent:
        yield "It needs a cutoff", f"{name}@20", _with(measure, cutoff=20)
    for parameter in present:
        fewer = {key: value for key, value in present.items() if key != parameter}
        form = type(measure)(**fewer)
        yield f"It is computed without {parameter} only", str(form), form


def _with_rel(name: str) -> str:
    if "(" in name:
        return re.sub(r"\(\s*", "(rel=1, ", name, count=1)
    measure, cut, cutoff = name.partition("@")
    return f"{measure}(rel=1){cut}{cutoff}"


def _with(measure: Measure, **more: int) -> Measure:
    return type(measure)(**measure.params, **more)


def _to_install(packages: list[Any]) -> str:
    """What to install, in a sentence: the extra where one has it."""
    modules = [_MODULES[each.NAME] for each in packages if each.NAME in _MODULES]
    if modules:
        return f" Run {how_to_install(modules[:1])}."
    ways = " or ".join(how for each in packages if (how := each.install_instructions()))
    return f" Install one that does: {ways}." if ways else ""


def _packages(measure: Measure) -> list[Any]:
    """The packages that compute a measure, installed or not."""
    import ir_measures

    return [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]


def _is_available(measure: Measure) -> bool:
    return any(package.is_available() for package in _packages(measure))
