"""Names of measures: ir-measures' (`nDCG@20`, `AP`), trec_eval's, plugins' and ours.

Ours are infNDCG and infAP, of sampled judgments, and nDCG-exp and AP-graded.

Names are checked before anything is computed, so that a typing error costs a second and not a run.
ir-measures takes some parameters that make no sense, and meets them later with a crash of
trec_eval's code or a wrong number; they are refused here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError, unknown
from irplatform.evaluation.availability import DIVERSITY, check_available, refuse_grades
from irplatform.evaluation.graded import GRADED, Graded
from irplatform.evaluation.sampled import DEPTH, INFERRED, InferredMeasure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.runs.run import Run

MeasureFunction: TypeAlias = Callable[["Qrels", "Run"], Mapping[str, float]]
"""A plugin's measure: from judgments and run to the value of every judged topic."""

Measure: TypeAlias = Any
"""ir-measures' `Measure` (a package without types), a `MeasureFunction`, `Inferred` or `Graded`."""

_CUTOFF = re.compile(r"(?!IPrec).*@([0-9]+)")
"""A measure that looks at so many documents of a ranking; IPrec's number is a level of recall."""
_DEPTH = re.compile(r"0*[1-9][0-9]{0,5}")
_EXPONENTIAL = re.compile(r"^nDCG\(dcg='exp-log2'\)")
_TREC_EVALS = re.compile(r"[A-Za-z_]+([._][0-9]+(\.[0-9]+)?)?")
"""A name of trec_eval with at most one parameter, the whole of it."""
_NEEDS_SAMPLE = (
    "needs sampled judgments, with the five columns topic 0 docid stratum grade. Name them in the "
    "collection's TOML file ([qrels] sampled), or give `platform evaluate` --sampled-qrels FILE."
)


def _whole(number: object, least: int = 1, most: int = 999_999) -> bool:
    """As of grades: trec_eval's code counts with 32 bits."""
    return type(number) is int and least <= number <= most


_TAKEN: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "cutoff": (_whole, "whole numbers from 1 to 999,999"),
    "rel": (_whole, "whole numbers from 1 to 999,999"),
    "gains": (
        lambda gains: all(_whole(n, 0) for n in (*gains, *gains.values())),
        "whole numbers from 0 to 999,999, written as {0: 0, 1: 5}",
    ),
    "recall": (
        lambda recall: 0 <= recall <= 1 and round(recall, 2) == recall,
        "numbers from 0 to 1 of two decimals, by which trec_eval names a level",
    ),
    "p": (lambda p: 0 <= p <= 1, "numbers from 0 to 1"),
}
"""Values that a parameter takes of those that ir-measures takes."""
_TAKEN_OF_SUBTOPICS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "cutoff": (lambda cutoff: _whole(cutoff, most=20), "whole numbers from 1 to 20"),
    "judged_only": (lambda judged_only: not judged_only, "False alone"),
}


@dataclass(frozen=True)
class Inferred:
    """A measure of sampled judgments.

    Attributes:
        estimate: computes it for a topic.
        depth: how many documents of a topic count.
    """

    estimate: InferredMeasure
    depth: int = DEPTH


def default_measures(names: Iterable[str], *, sampled: bool) -> tuple[str, ...]:
    """The measures of a collection where the user names none.

    Where it has sampled judgments, infNDCG and infAP come first, unless it names them elsewhere.
    """
    measures = list(dict.fromkeys(names))
    if sampled:
        place = 0
        for name in INFERRED:
            if name not in measures:
                measures.insert(place, name)
            place = measures.index(name) + 1
    return tuple(measures)


def measures_of(
    collection: Collection,
    measures: Sequence[str],
    extra: Mapping[str, MeasureFunction],
    qrels: Qrels | None = None,
) -> list[str]:
    """The right names of the measures that runs of a collection are scored by.

    Args:
        collection: whose judgments are used.
        measures: names that the user gave; empty takes the collection's defaults.
        extra: measures of plugins.
        qrels: its judgments, where it has some.
    """
    sampled = collection.sampled_qrels is not None
    names = measures or default_measures(collection.measures, sampled=sampled)
    hint = collection.metadata.get("sampled judgments", "")
    # Without judgments nothing is scored yet; sampled ones may come with the others.
    scorable = sampled or collection.load_qrels is None
    parsed = parse_measures(names, extra, sampled=scorable, sampled_hint=hint)
    refuse_grades(parsed, qrels or {}, f"the judgments of '{collection.id}'")
    return list(parsed)


def parse_measures(
    names: Iterable[str],
    extra: Mapping[str, MeasureFunction] | None = None,
    *,
    sampled: bool = False,
    sampled_hint: str = "",
) -> dict[str, Measure]:
    """Understand names of measures.

    Args:
        names: ir-measures' names, trec_eval's, keys of `extra`, or ours.
        extra: measures of plugins; they come before ir-measures' of the same name.
        sampled: whether there are sampled judgments. infNDCG needs them; infAP is estimated from
            them where they are, and is ir-measures' of the same name where they are not.
        sampled_hint: where sampled judgments could be had, for the message that they are needed.

    Returns:
        What computes each measure, by its one right name (`MAP` and trec_eval's `map` are `AP`,
        `NDCG@5` is `nDCG@5`, `nDCG(dcg='exp-log2')@5` is `nDCG-exp@5`, `infNDCG@100` is
        `infNDCG`), in the order given and without repetition.

    Raises:
        InputError: a name is unknown or ill-formed, a parameter is missing or makes no sense, or a
            package that computes the measure is not installed.
    """
    parsed: dict[str, Measure] = {}
    for name in names:
        if extra and name in extra:
            parsed[name] = extra[name]
            continue
        written = name.strip()
        right, measure = _ours(written, sampled, sampled_hint) or _parse(written, extra or {})
        parsed[right] = measure
    return parsed


def beyond(measures: Iterable[str], depth: int) -> list[str]:
    """The measures that look deeper than rankings of so many documents: R@1000 of 100."""
    cutoffs = {name: match for name in measures if (match := _CUTOFF.fullmatch(name))}
    return [name for name, match in cutoffs.items() if int(match[1]) > depth]


def _ours(name: str, sampled: bool, hint: str = "") -> tuple[str, Inferred | Graded] | None:
    """A measure of ours by its right name; None where ir-measures is to be asked."""
    base = re.split(r"[@(]", name, maxsplit=1)[0].strip()
    inferred = base in INFERRED and (sampled or base != "infAP")
    if not inferred and base not in GRADED:
        return None
    cutoff = name.removeprefix(base).removeprefix("@")
    if name != base and not _DEPTH.fullmatch(cutoff):
        where = " of sampled judgments" if inferred else ""
        raise InputError(f"the measure '{name}'{where} takes only a cutoff, as in '{base}@20'.")
    number = int(cutoff) if cutoff else None
    if inferred and not sampled:
        raise InputError(f"the measure '{name}' {_NEEDS_SAMPLE}{' ' + hint if hint else ''}")
    usual = DEPTH if inferred else None
    right = base if number in (None, usual) else f"{base}@{number}"
    if inferred:
        return right, Inferred(INFERRED[base], number or DEPTH)
    return right, Graded(GRADED[base], number)


def _parse(name: str, extra: Mapping[str, MeasureFunction]) -> tuple[str, Measure]:
    import ir_measures

    try:
        measure = _of_trec_eval(name) or ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError, SyntaxError) as error:
        raise _refusal(name, extra, error) from error
    measure = _with_fractions(measure)
    if problem := _problem(measure):
        raise InputError(f"the measure '{name}' {problem}.")
    # ir-measures' program for this one takes grades up to 4 and prints five digits.
    if exponential := _ours(_EXPONENTIAL.sub("nDCG-exp", str(measure)), sampled=False):
        return exponential
    check_available(name, measure)
    return str(measure), measure


def _of_trec_eval(name: str) -> Measure | None:
    """The measure that trec_eval calls so (`map`, `P_10`, `ndcg_cut_10`), where it is one alone."""
    import ir_measures

    if name in ir_measures.measures.registry or not _TREC_EVALS.fullmatch(name):
        return None
    try:
        with contextlib.redirect_stdout(None):  # it prints what names of sets of measures lack
            (measure,) = ir_measures.parse_trec_measure(name)
    except (ValueError, NameError):
        return None
    return measure


def _with_fractions(measure: Measure) -> Measure:
    """A measure with 2 as 2.0 where a parameter is a fraction, as in `SetF(beta=2)`."""
    declared = measure.SUPPORTED_PARAMS
    floats = {name for name in measure.params if name in declared and declared[name].dtype is float}
    return measure(
        **{n: float(v) for n, v in measure.params.items() if n in floats and _whole(v, 0)}
    )


def _problem(measure: Measure) -> str:
    """Say why a measure cannot be computed with its parameters; "" where it can."""
    params, declared = measure.params, measure.SUPPORTED_PARAMS
    if lacking := next((n for n, p in declared.items() if p.required and n not in params), ""):
        example = f", as in '{measure}@10'" if lacking == measure.AT_PARAM == "cutoff" else ""
        return f"needs its parameter '{lacking}'{example}"
    try:
        measure.validate_params()
    except AssertionError as error:
        listed = "; ".join(f"{name}: {parameter.desc}" for name, parameter in declared.items())
        return f"cannot be computed: {error}. Its parameters: {listed or 'none'}"
    rules = [_TAKEN, *([_TAKEN_OF_SUBTOPICS] if measure.NAME in DIVERSITY else [])]
    for name, value in params.items():
        for fits, taken in (rule[name] for rule in rules if name in rule):
            if not fits(value):
                return f"does not take {name}={value!r}: it takes {taken}"
    return ""


def _refusal(name: str, extra: Mapping[str, MeasureFunction], error: Exception) -> InputError:
    import ir_measures

    base = name.partition("@")[0].partition("(")[0]
    if base in extra:
        return InputError(
            f"the measure '{base}' is a plugin's: it has no cutoff and no parameters. Write "
            f"'{base}'."
        )
    if with_at := _with_at(name):
        return InputError(f"unknown measure '{name}'. Did you mean '{with_at}'?")
    if isinstance(error, NameError) or base.lower() in {key.lower() for key in (*extra, *GRADED)}:
        known = [*ir_measures.measures.registry, *INFERRED, *GRADED, *extra]
        return unknown("measure", base, known)
    return InputError(
        f"the measure '{name}' cannot be understood. Write a measure as nDCG@20, AP or "
        "P(rel=2)@10; parameters go in brackets, by name."
    )


def _with_at(name: str) -> str:
    """nDCG@20 for nDCG20, where there is such a measure; else ""."""
    import ir_measures

    base = name.rstrip("0123456789")
    right = {key.lower(): key for key in ir_measures.measures.registry}.get(base.lower())
    if base == name or right is None:
        return ""
    measure = ir_measures.measures.registry[right]
    has_cutoff = measure.AT_PARAM == "cutoff" and "cutoff" in measure.SUPPORTED_PARAMS
    return str(measure @ int(name[len(base) :])) if has_cutoff else ""
