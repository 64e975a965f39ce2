"""Packages behind ir-measures: whether an installed one computes a measure, and what to do else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.evaluation.qrels import subtopics_of
from irplatform.system.packages import how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.data import Qrels

    Measure = Any


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


# Judgments that the program behind a measure cannot take, refused before anything is searched.
#
# gdeval.pl, TREC's program for the Web track, which ir-measures calls for `ERR@k`, knows five
# grades, 0 to 4. ERR's chance that a document satisfies is a share of the highest of them, so that
# there is no value for others. Measures of diversity need judgments of subtopics.
#
# The programs behind ir-measures take whole grades. With decimals, measures that ask only whether
# a document is relevant (those with a parameter `rel`) get grades that are rounded down: `rel=2`
# takes 2.0 and above. Above 0 stays relevant, so that without `rel` whatever is above 0 counts. Of
# those that use the grade itself, nDCG and our own take decimals, and others are refused.

DIVERSITY = frozenset(
    ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"]
)
"""Measures of judgments of subtopics, all of them computed by pyndeval."""
_HIGHEST = {"gdeval": 4}
"""What ir-measures calls a package, and the highest grade that it takes; others take any."""
_NO_GRADES = ("Judged", "NumQ")
"""Measures without `rel` that ask for no grade."""


def refuse_grades(
    measures: Mapping[str, Measure], qrels: Qrels, whose: str = "the judgments"
) -> None:
    """Refuse measures that cannot be computed from these grades.

    Args:
        measures: what computes each measure, by its name.
        qrels: the judgments.
        whose: what to call them.

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


def _limit(measure: Measure) -> int | None:
    """The highest grade that a measure's program takes; None where there is no limit."""
    import ir_measures

    if not isinstance(measure, ir_measures.measures.Measure):
        return None
    for package in ir_measures.DefaultPipeline.providers:
        if package.supports(measure) and package.is_available():  # the first one is used
            return _HIGHEST.get(package.NAME)
    return None


def takes_whole(measure: Measure) -> bool:
    """Whether a measure is computed of grades by a program that takes whole ones."""
    import ir_measures

    if not isinstance(measure, ir_measures.measures.Measure) or measure.NAME in _NO_GRADES:
        return False
    if measure.NAME == "nDCG":
        return not measure.params.keys() <= {"cutoff", "dcg"}
    return "rel" not in measure.SUPPORTED_PARAMS


def thresholds(qrels: Qrels) -> dict[str, dict[str, int]]:
    """Grades rounded down, but to 1 where they are above 0: the highest `rel` that they reach."""
    return {
        topic: {d: max(math.floor(g), 1) if g > 0 else math.floor(g) for d, g in grades.items()}
        for topic, grades in qrels.items()
    }
