"""Names of measures, and the judgments that each can be computed from.

Measures are those of ir-measures (`nDCG@20`, `AP`), also by trec_eval's names, those of plugins,
and our own: infNDCG and infAP of sampled judgments, nDCG-exp and AP-graded. Names and parameters
are checked before anything is computed. Some parameters that ir-measures accepts crash trec_eval's
code or give a wrong number; they are refused here.

The programs behind ir-measures take whole grades. Where grades have decimals, measures of relevant
documents (those with a parameter `rel`) get them rounded down, but to at least 1 above 0. Of
measures that use the grade itself, nDCG and our own take decimals; others are refused. gdeval.pl,
which computes `ERR@k`, knows the grades 0 to 4 only.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.data import subtopics_of
from irplatform.errors import InputError, unknown
from irplatform.evaluation.ndcg import GRADED, Graded
from irplatform.evaluation.other_names import meant
from irplatform.evaluation.sampled import DEPTH, INFERRED, InferredMeasure
from irplatform.evaluation.users import USERS
from irplatform.system.packages import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from irplatform.data import Qrels
    from irplatform.runs.run import Run


MeasureFunction: TypeAlias = Callable[["Qrels", "Run"], Mapping[str, float]]
"""A plugin's measure: from judgments and run to the value of every judged topic."""

Measure: TypeAlias = Any
"""ir-measures' `Measure` (its package has no types), a `MeasureFunction`, `Inferred` or `Graded`.
"""

DIVERSITY = frozenset(
    ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"]
)
"""Measures of judgments of subtopics, all computed by pyndeval."""

_MODULES = {"pyndeval": "pyndeval"}
"""ir-measures' name of a package → the module to import."""

_HIGHEST = {"gdeval": 4}
"""ir-measures' name of a package → the highest grade that it takes; others take any."""

_NO_GRADES = ("Judged", "NumQ")
"""Measures without `rel` that use no grade."""

_CUTOFF = re.compile(r"(?!IPrec).*@([0-9]+)")
"""A measure with a cutoff; the number of IPrec is a recall."""

_DEPTH = re.compile(r"0*[1-9][0-9]{0,5}")

_EXPONENTIAL = re.compile(r"^nDCG\(dcg='exp-log2'\)")

_TREC_EVALS = re.compile(r"[A-Za-z_]+([._][0-9]+(\.[0-9]+)?)?")
"""A name of trec_eval's, with at most one parameter."""

_NEEDS_SAMPLE = (
    "needs sampled judgments, with the five columns topic 0 docid stratum grade. Name them in the "
    "collection's TOML file ([qrels] sampled), or give `platform evaluate` or "
    "`compare` --sampled-qrels FILE."
)


def _whole(number: object, least: int = 1, most: int = 999_999) -> bool:
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
"""The values that a parameter may have, of those that ir-measures takes. Whole numbers end where
trec_eval's 32 bits do.
"""

_TAKEN_OF_USERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "p": (lambda p: 0 <= p < 1, "numbers from 0 to below 1"),
    "T": (lambda gain: 0 < gain < math.inf, "numbers above 0"),
}

_TAKEN_OF_SUBTOPICS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "cutoff": (lambda cutoff: _whole(cutoff, most=20), "whole numbers from 1 to 20"),
    "judged_only": (lambda judged_only: not judged_only, "False alone"),
}


@dataclass(frozen=True)
class Inferred:
    """A measure of sampled judgments: its estimate for a topic, and how many ranks count."""

    estimate: InferredMeasure
    depth: int = DEPTH


def parse_measures(
    names: Iterable[str],
    extra: Mapping[str, MeasureFunction] | None = None,
    *,
    sampled: bool = False,
    sampled_hint: str = "",
) -> dict[str, Measure]:
    """Understand names of measures.

    Args:
        names: names of ir-measures, trec_eval or plugins, or ours.
        extra: measures of plugins, which precede those of ir-measures.
        sampled: whether there are sampled judgments. infNDCG needs them; without them, infAP is
            ir-measures' measure of that name.
        sampled_hint: where to get sampled judgments, for the message that they are needed.

    Returns:
        Each measure by its one right name, in the order given, without repetition: `MAP` and
        trec_eval's `map` are `AP`, `NDCG@5` is `nDCG@5`, `infNDCG@100` is `infNDCG`.

    Raises:
        InputError: a name is unknown, a parameter is missing or makes no sense, or no installed
            package computes the measure.
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
    """Return the measures that look deeper than `depth` documents, such as R@1000 for 100."""
    return [name for name in measures if (cutoff_of(name) or 0) > depth]


def cutoff_of(measure: str) -> int | None:
    """Return the number of documents that a measure looks at; None if it names none.

    >>> cutoff_of("nDCG@20"), cutoff_of("AP"), cutoff_of("IPrec@0.1")
    (20, None, None)
    """
    match = _CUTOFF.fullmatch(measure)
    return int(match[1]) if match else None


def refuse_grades(
    measures: Mapping[str, Measure], qrels: Qrels, whose: str = "the judgments"
) -> None:
    """Refuse measures that cannot be computed from these judgments.

    Raises:
        InputError: the grades are too high or have decimals, or no topic has two subtopics.
    """
    given = {grade for grades in qrels.values() for grade in grades.values()}
    whole = [name for name, measure in measures.items() if takes_whole(measure)]
    if whole and any(not float(grade).is_integer() for grade in given):
        raise InputError(
            f"{whole[0]} takes whole grades; {whose} have decimals. nDCG@20, nDCG-exp@20 and "
            "AP-graded take any grade, and measures of relevant documents (AP, P@10, P(rel=2)@10) "
            "count those above 0, or of grade rel and above."
        )
    diverse = [name for name, m in measures.items() if getattr(m, "NAME", "") in DIVERSITY]
    if diverse and qrels and all(len(each) < 2 for each in subtopics_of(qrels).values()):
        raise InputError(
            f"{diverse[0]} needs judgments of subtopics, in four columns: topic subtopic docid "
            f"grade. No topic has two subtopics in {whose}."
        )
    highest = max(given, default=0)
    for name, measure in measures.items():
        if (limit := _limit(measure)) and highest > limit:
            raise InputError(
                f"{name} takes grades up to {limit}; {whose} have {highest}. Choose another "
                "measure: nDCG@20 takes any grade."
            )


def takes_whole(measure: Measure) -> bool:
    """Return whether a measure uses the grade itself and takes whole grades only."""
    import ir_measures

    if not isinstance(measure, ir_measures.measures.Measure) or measure.NAME in _NO_GRADES:
        return False
    if measure.NAME == "nDCG":
        return not measure.params.keys() <= {"cutoff", "dcg"}
    return "rel" not in measure.SUPPORTED_PARAMS


def thresholds(qrels: Qrels) -> dict[str, dict[str, int]]:
    """Round grades down, but to at least 1 above 0: to the highest `rel` that they reach."""
    return {
        topic: {d: max(math.floor(g), 1) if g > 0 else math.floor(g) for d, g in grades.items()}
        for topic, grades in qrels.items()
    }


def _limit(measure: Measure) -> int | None:
    import ir_measures

    if not isinstance(measure, ir_measures.measures.Measure):
        return None
    for package in ir_measures.DefaultPipeline.providers:
        if package.supports(measure) and package.is_available():  # the first one is used
            return _HIGHEST.get(package.NAME)
    return None


def _ours(name: str, sampled: bool, hint: str = "") -> tuple[str, Inferred | Graded] | None:
    """Our own measure of this name with its right name; None if ir-measures has to parse it."""
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
    """The one measure that trec_eval calls so (`map`, `P_10`, `ndcg_cut_10`)."""
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
    """Write whole numbers as floats for parameters that are fractions, as in `SetF(beta=2)`."""
    declared = measure.SUPPORTED_PARAMS
    floats = {name for name in measure.params if name in declared and declared[name].dtype is float}
    return measure(
        **{n: float(v) for n, v in measure.params.items() if n in floats and _whole(v, 0)}
    )


def _problem(measure: Measure) -> str:
    """Say why a measure cannot be computed with its parameters; "" if it can."""
    params, declared = measure.params, measure.SUPPORTED_PARAMS
    if lacking := next((n for n, p in declared.items() if p.required and n not in params), ""):
        example = f", as in '{measure}@10'" if lacking == measure.AT_PARAM == "cutoff" else ""
        return f"needs its parameter '{lacking}'{example}"
    try:
        measure.validate_params()
    except AssertionError as error:
        listed = "; ".join(f"{name}: {parameter.desc}" for name, parameter in declared.items())
        return f"cannot be computed: {error}. Its parameters: {listed or 'none'}"
    rules = [_TAKEN]
    rules += [_TAKEN_OF_SUBTOPICS] if measure.NAME in DIVERSITY else []
    rules += [_TAKEN_OF_USERS] if measure.NAME in USERS else []
    for name, value in params.items():
        for fits, taken in (rule[name] for rule in rules if name in rule):
            if not fits(value):
                return f"does not take {name}={value!r}: it takes {taken}"
    if "max_rel" in params and measure["max_rel"] <= measure["min_rel"]:
        return "needs a max_rel above min_rel"
    return ""


def _refusal(name: str, extra: Mapping[str, MeasureFunction], error: Exception) -> InputError:
    import ir_measures

    base = name.partition("@")[0].partition("(")[0]
    if base in extra:
        return InputError(
            f"the measure '{base}' is a plugin's: it has no cutoff and no parameters. Write "
            f"'{base}'."
        )
    if right := meant(name):
        return InputError(f"unknown measure '{name}'. Did you mean '{right}'?")
    if isinstance(error, NameError) or base.lower() in {key.lower() for key in (*extra, *GRADED)}:
        known = [*ir_measures.measures.registry, *INFERRED, *GRADED, *extra]
        return unknown("measure", base, known)
    return InputError(
        f"the measure '{name}' cannot be understood. Write a measure as nDCG@20, AP or "
        "P(rel=2)@10; parameters go in brackets, by name."
    )


def check_available(name: str, measure: Measure) -> None:
    """Refuse a measure that no installed package computes; say what to write or install."""
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
    """The measure with a parameter more or fewer, and a sentence about it."""
    absent = measure.SUPPORTED_PARAMS.keys() - measure.params.keys()
    if "rel" in absent:
        yield "It needs a grade from which documents count", measure(rel=1)
    if "cutoff" in absent:
        yield "It needs a cutoff", measure(cutoff=20)
    for parameter in measure.params:
        fewer = {key: value for key, value in measure.params.items() if key != parameter}
        yield f"It is computed without {parameter} only", type(measure)(**fewer)


def _to_install(packages: list[Any]) -> str:
    modules = [_MODULES[each.NAME] for each in packages if each.NAME in _MODULES]
    if modules:
        return f" Run {how_to_install(modules[:1])}."
    ways = " or ".join(how for each in packages if (how := each.install_instructions()))
    return f" Install one that does: {ways}." if ways else ""


def _packages(measure: Measure) -> list[Any]:
    import ir_measures

    return [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]


def _is_available(measure: Measure) -> bool:
    packages = _packages(measure)  # what cwl_eval supports is computed in `users`
    return any(package.NAME == "cwl_eval" or package.is_available() for package in packages)
