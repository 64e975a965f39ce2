"""Whether a package that is installed computes a measure of ir-measures, and what to do if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError

if TYPE_CHECKING:
    from irplatform.evaluation.measures import Measure

_PROPOSED = {"rel": 1, "cutoff": 20}
"""Parameters that packages need for a measure which ir-measures itself takes without them."""


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
    packages = _packages(measure)
    near = None if packages else _supported_form(measure)
    if near is not None and _is_available(near):
        what_to_do = f" It can be written as '{near}'."
    else:
        packages = packages if near is None else _packages(near)
        ways = " or ".join(how for each in packages if (how := each.install_instructions()))
        write = f"Write it as '{near}', and install" if near else "Install"
        what_to_do = f" {write} one that does: {ways}." if ways else ""
    raise InputError(f"no installed package computes the measure '{name}'.{what_to_do}")


def _supported_form(measure: Measure) -> Measure | None:
    """The same measure with a parameter more or fewer, so that some package has it.

    One that is installed, where there is one.
    """
    present = measure.params
    absent = measure.SUPPORTED_PARAMS.keys() - present.keys()
    more = [{**present, name: value} for name, value in _PROPOSED.items() if name in absent]
    fewer = [{key: value for key, value in present.items() if key != name} for name in present]
    forms = [type(measure)(**parameters) for parameters in (*more, *fewer)]
    supported = [form for form in forms if _packages(form)]
    return next(filter(_is_available, supported), supported[0] if supported else None)


def _packages(measure: Measure) -> list[Any]:
    """The packages that compute a measure, installed or not."""
    import ir_measures

    return [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]


def _is_available(measure: Measure) -> bool:
    return any(package.is_available() for package in _packages(measure))
