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
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from irplatform.data import subtopics_of
from irplatform.errors import InputError, unknown
from irplatform.evaluation.kinds import IrMeasure, OfPlugin, OwnMeasure, Standard, is_whole
from irplatform.evaluation.measures import registered_measures
from irplatform.evaluation.other_names import meant
from irplatform.spelling import option
from irplatform.system.packages import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from irplatform.data import Qrels
    from irplatform.evaluation.kinds import Limits, Measure, MeasureFunction

_MODULES = {"pyndeval": "pyndeval"}
"""ir-measures' name of a package → the module to import."""

_HIGHEST = {"gdeval": 4}
"""ir-measures' name of a package → the highest grade that it takes; others take any."""

_CUTOFF = re.compile(r"(?!IPrec).*@([0-9]+)")
"""A measure with a cutoff; the number of IPrec is a recall."""

_DEPTH = re.compile(r"0*[1-9][0-9]{0,5}")

_TREC_EVALS = re.compile(r"[A-Za-z_]+([._][0-9]+(\.[0-9]+)?)?")
"""A name of trec_eval's, with at most one parameter."""


_TAKEN: Limits = {
    "cutoff": (is_whole, "whole numbers from 1 to 999,999"),
    "rel": (is_whole, "whole numbers from 1 to 999,999"),
    "gains": (
        lambda gains: all(is_whole(n, 0) for n in (*gains, *gains.values())),
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
            parsed[name] = OfPlugin(extra[name])
            continue
        spelling = name.strip()
        right, measure = _own_measure(spelling, sampled, sampled_hint) or _parse(
            spelling, extra or {}
        )
        parsed[right] = measure
    return parsed


def base_of(name: str) -> str:
    """Return the name of a measure without its parameters: "P" of "P(rel=2)@10"."""
    return re.split(r"[@(]", name, maxsplit=1)[0].strip()


def registered(name: str) -> Measure:
    """Return what the platform knows of a measure by its right name, without its parameters."""
    return registered_measures().get(base_of(name), Standard())


def is_inferred(measure: str) -> bool:
    """Return whether a measure's right name is one of sampled judgments, at any depth."""
    return registered(measure).is_sampled


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
    distinct_grades = {grade for grades in qrels.values() for grade in grades.values()}
    names = [name for name, measure in measures.items() if measure.takes_whole()]
    if names and any(not float(grade).is_integer() for grade in distinct_grades):
        raise InputError(
            f"{names[0]} takes whole grades; {whose} have decimals. nDCG@20, nDCG-exp@20 and "
            "AP-graded take any grade, and measures of relevant documents (AP, P@10, P(rel=2)@10) "
            "count those above 0, or of grade rel and above."
        )
    diverse = [name for name, measure in measures.items() if measure.of_subtopics]
    if diverse and qrels and all(len(topic) < 2 for topic in subtopics_of(qrels).values()):
        raise InputError(
            f"{diverse[0]} needs judgments of subtopics, in four columns: topic subtopic docid "
            f"grade. No topic has two subtopics in {whose}."
        )
    highest = max(distinct_grades, default=0)
    for name, measure in measures.items():
        if (limit := _limit(measure)) and highest > limit:
            raise InputError(
                f"{name} takes grades up to {limit}; {whose} have {highest}. Choose another "
                "measure: nDCG@20 takes any grade."
            )


def _limit(measure: Measure) -> int | None:
    for package in _packages(measure.ir_measure) if isinstance(measure, Standard) else ():
        if package.is_available():  # the first one is used
            return _HIGHEST.get(package.NAME)
    return None


def _own_measure(name: str, sampled: bool, hint: str = "") -> tuple[str, Measure] | None:
    """Our own measure of this name with its right name; None if ir-measures has to parse it."""
    base = base_of(name)
    measure = registered(base)
    if not isinstance(measure, OwnMeasure):
        return None
    if measure.is_sampled and not sampled and _is_of_ir_measures(base):
        return None
    cutoff = name.removeprefix(base).removeprefix("@")
    if name != base and not _DEPTH.fullmatch(cutoff):
        kind = " of sampled judgments" if measure.is_sampled else ""
        raise InputError(f"the measure '{name}'{kind} takes only a cutoff, as in '{base}@20'.")
    if measure.is_sampled and not sampled:
        raise InputError(
            f"the measure '{name}' needs sampled judgments, with the five columns topic 0 docid "
            "stratum grade. Name them in the collection's TOML file ([qrels] sampled), or give "
            f"`platform evaluate` or `compare` {option('sampled_qrels', 'FILE')}."
            f"{' ' + hint if hint else ''}"
        )
    number = int(cutoff) if cutoff else measure.cutoff
    right = base if number == measure.cutoff else f"{base}@{number}"
    return right, replace(measure, cutoff=number)


def _is_of_ir_measures(name: str) -> bool:
    import ir_measures

    return name in ir_measures.measures.registry


def _by_alias(name: str) -> tuple[str, Measure] | None:
    """Our own measure that ir-measures calls so."""
    for right, measure in registered_measures().items():
        if isinstance(measure, OwnMeasure) and measure.alias and name.startswith(measure.alias):
            return _own_measure(right + name.removeprefix(measure.alias), sampled=False)
    return None


def _parse(name: str, extra: Mapping[str, MeasureFunction]) -> tuple[str, Measure]:
    import ir_measures

    try:
        form = _of_trec_eval(name) or ir_measures.parse_measure(name)
    except (NameError, ValueError, TypeError, SyntaxError) as error:
        raise _refusal(name, extra, error) from error
    form = _with_fractions(form)
    declared = registered_measures().get(form.NAME, Standard())
    if not isinstance(declared, Standard):  # infAP without sampled judgments
        declared = Standard()
    if problem := _problem(form, declared):
        raise InputError(f"the measure '{name}' {problem}.")
    if alias := _by_alias(str(form)):
        return alias
    measure = declared.with_parameters(form)
    check_available(name, measure)
    return str(form), measure


def _of_trec_eval(name: str) -> IrMeasure:
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


def _with_fractions(measure: IrMeasure) -> IrMeasure:
    """Write whole numbers as floats for parameters that are fractions, as in `SetF(beta=2)`."""
    declared = measure.SUPPORTED_PARAMS
    floats = {name for name in measure.params if name in declared and declared[name].dtype is float}
    return measure(
        **{n: float(v) for n, v in measure.params.items() if n in floats and is_whole(v, 0)}
    )


def _problem(measure: IrMeasure, declared: Standard) -> str:
    """Say why a measure cannot be computed with its parameters; "" if it can."""
    params, supported = measure.params, measure.SUPPORTED_PARAMS
    if lacking := next((n for n, p in supported.items() if p.required and n not in params), ""):
        example = f", as in '{measure}@10'" if lacking == measure.AT_PARAM == "cutoff" else ""
        return f"needs its parameter '{lacking}'{example}"
    try:
        measure.validate_params()
    except AssertionError as error:
        parameters = "; ".join(f"{name}: {parameter.desc}" for name, parameter in supported.items())
        return f"cannot be computed: {error}. Its parameters: {parameters or 'none'}"
    for name, value in params.items():
        for fits, description in (rule[name] for rule in (_TAKEN, declared.takes) if name in rule):
            if not fits(value):
                return f"does not take {name}={value!r}: it takes {description}"
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
    bases = [
        name for name, measure in registered_measures().items() if isinstance(measure, OwnMeasure)
    ]
    names = [name for name in bases if not registered(name).is_sampled]
    if isinstance(error, NameError) or base.lower() in {key.lower() for key in (*extra, *names)}:
        candidates = [*ir_measures.measures.registry, *bases, *extra]
        return unknown("measure", base, candidates)
    return InputError(
        f"the measure '{name}' cannot be understood. Write a measure as nDCG@20, AP or "
        "P(rel=2)@10; parameters go in brackets, by name."
    )


def check_available(name: str, measure: Standard) -> None:
    """Refuse a measure that no installed package computes; say what to write or install."""
    if _is_available(measure):
        return
    advice = ""
    if packages := _packages(measure.ir_measure):
        advice = _to_install(packages)
    else:
        forms = [
            (remark, measure.with_parameters(form)) for remark, form in _similar_forms(measure)
        ]
        forms.sort(key=lambda form: not _is_available(form[1]))
        if near := next(((w, form) for w, form in forms if _packages(form.ir_measure)), None):
            remark, form = near
            advice = f" {remark}: '{form.ir_measure}'."
            advice += "" if _is_available(form) else _to_install(_packages(form.ir_measure))
    raise InputError(f"no installed package computes the measure '{name}'.{advice}")


def _similar_forms(declared: Standard) -> Iterator[tuple[str, IrMeasure]]:
    """The measure with a parameter more or fewer, and a sentence about it."""
    measure = declared.ir_measure
    absent = measure.SUPPORTED_PARAMS.keys() - measure.params.keys()
    if "rel" in absent:
        yield "It needs a grade from which documents count", measure(rel=1)
    if "cutoff" in absent:
        yield "It needs a cutoff", measure(cutoff=20)
    for parameter in measure.params:
        fewer = {key: value for key, value in measure.params.items() if key != parameter}
        yield f"It is computed without {parameter} only", type(measure)(**fewer)


def _to_install(packages: list[Any]) -> str:
    modules = [_MODULES[package.NAME] for package in packages if package.NAME in _MODULES]
    if modules:
        return f" Run {how_to_install(modules[:1])}."
    ways = " or ".join(
        instructions for package in packages if (instructions := package.install_instructions())
    )
    return f" Install one that does: {ways}." if ways else ""


def _packages(measure: IrMeasure) -> list[Any]:
    import ir_measures

    return [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]


def _is_available(measure: Standard) -> bool:
    packages = _packages(measure.ir_measure)
    is_built_in = measure.is_computed_here()
    return bool(packages) and (is_built_in or any(package.is_available() for package in packages))
