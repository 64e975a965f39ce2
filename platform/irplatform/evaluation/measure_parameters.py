"""Parameters of ir-measures' measures: `@20`, `(rel=2)`, `(gains={1: 5})`.

ir-measures takes some that make no sense, and meets them later with an AssertionError, a crash of
trec_eval's code or a wrong number. They are refused here, by name.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.evaluation.measures import Measure

_LARGEST = 999_999
"""As of grades: trec_eval's code counts with 32 bits."""
DIVERSITY = frozenset(
    ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"]
)
"""Measures of judgments of subtopics, all of them computed by pyndeval."""
_DEEPEST_DIVERSITY = 20
_SHARES = ("recall", "p")
"""Parameters that lie between 0 and 1, which ir-measures takes as they are."""
_PARAMETER = re.compile(r"[(,]\s*([A-Za-z_]\w*)\s*=")
_KINDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}


def with_fractions(measure: Measure) -> Measure:
    """A measure with 2 as 2.0 where a parameter is a fraction, as in `SetF(beta=2)`."""
    declared = measure.SUPPORTED_PARAMS
    parameters = {
        parameter: float(value)
        if type(value) is int and parameter in declared and declared[parameter].dtype is float
        else value
        for parameter, value in measure.params.items()
    }
    return type(measure)(**parameters)


def check_parameters(name: str, measure: Measure) -> None:
    """Refuse parameters that a measure does not have, lacks, or cannot be computed with.

    Args:
        name: the measure as the user wrote it.
        measure: what ir-measures understood.

    Raises:
        InputError: the first such parameter, and what it takes.
    """
    # One after the other: what has a sense is asked of values of the right kind only.
    problems = chain(
        _repeated(name, measure), _undeclared(measure), _misfits(name, measure), _senseless(measure)
    )
    if problem := next(problems, ""):
        raise InputError(f"the measure '{name}' {problem}")


def _repeated(name: str, measure: Measure) -> Iterator[str]:
    """A parameter that is given twice; ir-measures takes the last."""
    call, _, at = name.partition("@")
    given = _PARAMETER.findall(call) + ([str(measure.AT_PARAM)] if at else [])
    if twice := next((parameter for parameter in given if given.count(parameter) > 1), ""):
        yield f"has the parameter '{twice}' twice."


def _undeclared(measure: Measure) -> Iterator[str]:
    declared = measure.SUPPORTED_PARAMS
    for parameter in measure.params:
        if parameter not in declared:
            listed = ", ".join(sorted(declared)) or "none"
            yield f"has no parameter '{parameter}'. Its parameters: {listed}."


def _misfits(name: str, measure: Measure) -> Iterator[str]:
    """Values of another kind than ir-measures declares, and values that it needs."""
    for parameter, declared in measure.SUPPORTED_PARAMS.items():
        if parameter not in measure.params:
            if declared.required:
                at = parameter == measure.AT_PARAM == "cutoff"
                example = f", as in '{name}@10'" if at else ""
                yield f"needs its parameter '{parameter}'{example}."
        elif not declared.validate(value := measure.params[parameter]):
            subject = declared.desc or "it"
            yield f"does not take {parameter}={value!r}: {subject} must be {_expected(declared)}."


def _senseless(measure: Measure) -> Iterator[str]:
    """Values of the right kind that no measure can be computed with."""
    parameters = measure.params
    if measure.NAME in DIVERSITY and parameters.get("cutoff", 1) > _DEEPEST_DIVERSITY:
        yield f"takes cutoffs up to {_DEEPEST_DIVERSITY}: pyndeval, which computes it, has no more."
    if measure.NAME in DIVERSITY and parameters.get("judged_only"):
        yield "does not take judged_only=True: ir-measures fails to compute it."
    if parameters.get("cutoff", 1) < 1:
        yield "needs a cutoff of 1 or more."
    for parameter in _SHARES:
        if not 0 <= parameters.get(parameter, 0) <= 1:
            yield f"needs {parameter} between 0 and 1."
    if round(recall := parameters.get("recall", 0), 2) != recall:
        yield (
            f"does not take recall of {recall!r}: trec_eval names a level by two decimals, as in "
            "'IPrec@0.15'."
        )
    for parameter, number in _whole_numbers(parameters):
        if type(number) is not int or not 0 <= number <= _LARGEST:
            yield (
                f"does not take {parameter} of {number!r}: whole numbers up to {_LARGEST:,} are "
                "taken."
            )
    if parameters.get("rel", 1) < 1:
        yield "needs rel of 1 or more: grades of 0 and below are not relevant."


def _whole_numbers(parameters: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """The values that must be whole numbers, by their parameters."""
    for parameter in ("cutoff", "rel"):
        if parameter in parameters:
            yield parameter, parameters[parameter]
    gains = parameters.get("gains") or {}
    for number in (*gains, *gains.values()):
        yield "gains", number


def _expected(declared: Any) -> str:
    """What a parameter takes, by ir-measures' declaration of it."""
    if isinstance(declared.choices, list | tuple):
        return " or ".join(map(repr, declared.choices))
    if declared.dtype is dict:
        return "written as {0: 0, 1: 5}"
    return _KINDS.get(declared.dtype, "of another kind")
