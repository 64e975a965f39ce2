"""Packages behind ir-measures: whether an installed one computes a measure, and what to do else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.packages import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.evaluation.measures import Measure

_MODULES = {"cwl_eval": "cwl", "pyndeval": "pyndeval"}
"""What ir-measures calls a package, and the module of it that is imported."""


def check_available(name: str, measure: Measure) -> None:
    """Refuse a measure that no installed package computes, and say what to write or to install."""
    if _is_available(measure):
        return
    advice = ""
    if packages := _packages(measure):
        advice = _to_install(packages)
    else:
        forms = sorted(_similar_forms(measure), key=lambda form: not _is_available(form[1]))
        if near := next(((what, form) for what, form in forms if _packages(form)), None):
            what, form = near
            advice = f" {what}: '{form}'."
            advice += "" if _is_available(form) else _to_install(_packages(form))
    raise InputError(f"no installed package computes the measure '{name}'.{advice}")


def _similar_forms(measure: Measure) -> Iterator[tuple[str, Measure]]:
    """The same measure with a parameter more or fewer, and what to say of it."""
    absent = measure.SUPPORTED_PARAMS.keys() - measure.params.keys()
    if "rel" in absent:
        yield "It needs a grade from which documents count", measure(rel=1)
    if "cutoff" in absent:
        yield "It needs a cutoff", measure(cutoff=20)
    for parameter in measure.params:
        fewer = {key: value for key, value in measure.params.items() if key != parameter}
        yield f"It is computed without {parameter} only", type(measure)(**fewer)


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
