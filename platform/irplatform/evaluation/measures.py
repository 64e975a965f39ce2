"""Names of measures: ir-measures' own (`nDCG@20`, `AP`, `P(rel=2)@10`) and those of plugins.

Names are checked before anything is computed, so that a typing error costs a second and not a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.collections.collection import Qrels
    from irplatform.runs.run import Run

MeasureFunction: TypeAlias = Callable[["Qrels", "Run"], Mapping[str, float]]
"""A plugin's measure: from judgments and run to the value of every judged topic."""

Measure: TypeAlias = Any
"""An `ir_measures.Measure` (a package without types) or a `MeasureFunction`."""

_FORM = "Write a measure as nDCG@20, AP or P(rel=2)@10; parameters go in brackets, by name."


def parse_measures(
    names: Iterable[str], extra: Mapping[str, MeasureFunction] | None = None
) -> dict[str, Measure]:
    """Understand names of measures.

    Args:
        names: ir-measures' names, or keys of `extra`.
        extra: measures of plugins; they come before ir-measures' of the same name.

    Returns:
        What computes each measure, by its one right name (`MAP` is `AP`, `NDCG@5` is `nDCG@5`), in
        the order given and without repetition.

    Raises:
        InputError: a name is unknown or ill-formed, a parameter is missing or makes no sense, or a
            package that computes the measure is not installed.
    """
    extra = extra or {}
    parsed: dict[str, Measure] = {}
    for name in names:
        if name in extra:
            parsed[name] = extra[name]
        else:
            measure = _parse(name.strip(), extra)
            parsed[str(measure)] = measure
    return parsed


def _parse(name: str, extra: Mapping[str, MeasureFunction]) -> Measure:
    import ir_measures

    try:
        measure = ir_measures.parse_measure(name)
    except NameError:
        raise _unknown_measure(name, extra) from None
    except (ValueError, TypeError, SyntaxError) as error:
        raise InputError(f"the measure '{name}' cannot be understood. {_FORM}") from error
    _check_parameters(name, measure)
    _check_available(name, measure)
    return measure


def _unknown_measure(name: str, extra: Mapping[str, MeasureFunction]) -> InputError:
    import ir_measures

    try:
        (ours,) = ir_measures.parse_trec_measure(name)
    except (ValueError, NameError):
        base = name.partition("@")[0].partition("(")[0]
        return unknown("measure", base, [*ir_measures.measures.registry, *extra])
    return InputError(f"unknown measure '{name}'. What trec_eval calls so is '{ours}' here.")


def _check_parameters(name: str, measure: Measure) -> None:
    """Refuse parameters that ir-measures would meet with an AssertionError or a wrong number."""
    known = measure.SUPPORTED_PARAMS
    at = measure.AT_PARAM
    for parameter in measure.params:
        if parameter not in known:
            listing = ", ".join(sorted(known)) or "none"
            raise InputError(
                f"the measure '{name}' has no parameter '{parameter}'. Its parameters: {listing}."
            )
    for parameter, declared in known.items():
        if parameter in measure.params and not declared.validate(measure.params[parameter]):
            raise InputError(
                f"the measure '{name}' does not take {parameter}={measure.params[parameter]!r}. "
                f"{declared.desc or _FORM}."
            )
        if parameter not in measure.params and declared.required:
            example = f", as in '{name}@10'" if parameter == at == "cutoff" else ""
            raise InputError(f"the measure '{name}' needs its parameter '{parameter}'{example}.")
    if "cutoff" in measure.params and measure.params["cutoff"] < 1:
        raise InputError(f"the measure '{name}' needs a cutoff of 1 or more.")


def _check_available(name: str, measure: Measure) -> None:
    import ir_measures

    providers = [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]
    if any(provider.is_available() for provider in providers):
        return
    ways = [how for provider in providers if (how := provider.install_instructions())]
    what_to_do = f" Install one that does: {' or '.join(ways)}." if ways else ""
    raise InputError(f"no installed package computes the measure '{name}'.{what_to_do}")
