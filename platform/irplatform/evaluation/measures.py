"""Names of measures: ir-measures' (`nDCG@20`, `AP`), trec_eval's, plugins' and ours.

Ours are infNDCG and infAP, of sampled judgments, and nDCG-exp and AP-graded.

Names are checked before anything is computed, so that a typing error costs a second and not a run.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.errors import InputError, unknown
from irplatform.evaluation.availability import check_available
from irplatform.evaluation.graded import GRADED, Graded
from irplatform.evaluation.grades import refuse_grades
from irplatform.evaluation.inferred import DEPTH, INFERRED, InferredMeasure
from irplatform.evaluation.measure_parameters import check_parameters, with_fractions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.collections.collection import Collection, Qrels
    from irplatform.runs.run import Run

MeasureFunction: TypeAlias = Callable[["Qrels", "Run"], Mapping[str, float]]
"""A plugin's measure: from judgments and run to the value of every judged topic."""

Measure: TypeAlias = Any
"""ir-measures' `Measure` (a package without types), a `MeasureFunction`, `Inferred` or `Graded`."""

_FORM = "Write a measure as nDCG@20, AP or P(rel=2)@10; parameters go in brackets, by name."
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
    """What is reported where nobody asks for anything else.

    Args:
        names: a collection's own.
        sampled: whether it has sampled judgments, for which infNDCG and infAP are reported too:
            before the others, unless the collection names them in another place.
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
    """The measures that runs of a collection are scored by.

    Args:
        collection: whose judgments are used.
        measures: names that the user gave; empty takes the collection's defaults.
        extra: measures of plugins.
        qrels: its judgments, where it has some.

    Raises:
        InputError: see `parse_measures` and `refuse_grades`.
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
    extra = extra or {}
    parsed: dict[str, Measure] = {}
    for name in names:
        right: tuple[str, Measure] | None
        if name in extra:
            right = name, extra[name]
        else:
            right = _inferred(name.strip(), sampled, sampled_hint) or _graded(name.strip())
        right_name, measure = right or _parse(name.strip(), extra)
        parsed[right_name] = measure
    return parsed


def beyond(measures: Iterable[str], depth: int) -> list[str]:
    """The measures that look deeper than rankings of so many documents: R@1000 of 100."""
    cutoffs = {name: match for name in measures if (match := _CUTOFF.fullmatch(name))}
    return [name for name, match in cutoffs.items() if int(match[1]) > depth]


def _graded(name: str) -> tuple[str, Graded] | None:
    """A measure of graded relevance by its right name; None where ir-measures is to be asked."""
    base = re.split(r"[@(]", name, maxsplit=1)[0].strip()
    if base not in GRADED:
        return None
    if name == base:
        return base, Graded(GRADED[base])
    cutoff = name.removeprefix(base).removeprefix("@")
    if not _DEPTH.fullmatch(cutoff):
        raise InputError(f"the measure '{name}' takes only a cutoff, as in '{base}@20'.")
    return f"{base}@{int(cutoff)}", Graded(GRADED[base], int(cutoff))


def _inferred(name: str, sampled: bool, hint: str) -> tuple[str, Inferred] | None:
    """A measure of sampled judgments by its right name; None where ir-measures is to be asked."""
    base = re.split(r"[@(]", name, maxsplit=1)[0].strip()
    if base not in INFERRED or (base == "infAP" and not sampled):
        return None
    depth = name.removeprefix(base).removeprefix("@") if name != base else str(DEPTH)
    if not _DEPTH.fullmatch(depth):
        raise InputError(
            f"'{name}' cannot be estimated from sampled judgments: {base} takes only a depth "
            f"there, as in '{base}@1000'; without one, the first {DEPTH} documents count."
        )
    if not sampled:
        raise InputError(f"the measure '{name}' {_NEEDS_SAMPLE}{' ' + hint if hint else ''}")
    right = base if int(depth) == DEPTH else f"{base}@{int(depth)}"
    return right, Inferred(INFERRED[base], int(depth))


def _parse(name: str, extra: Mapping[str, MeasureFunction]) -> tuple[str, Measure]:
    import ir_measures

    try:
        measure = _of_trec_eval(name) or ir_measures.parse_measure(name)
    except NameError:
        raise _unknown_measure(name, extra) from None
    except (ValueError, TypeError, SyntaxError) as error:
        if ours := {key.lower(): key for key in (*extra, *GRADED)}.get(_base(name).lower()):
            if ours == _base(name):
                raise _takes_nothing(ours) from None
            raise InputError(f"unknown measure '{name}'. Did you mean '{ours}'?") from None
        raise InputError(f"the measure '{name}' cannot be understood. {_FORM}") from error
    measure = with_fractions(measure)
    check_parameters(name, measure)
    # ir-measures' program for this one takes grades up to 4 and prints five digits.
    if exponential := _graded(_EXPONENTIAL.sub("nDCG-exp", str(measure))):
        return exponential
    check_available(name, measure)
    return str(measure), measure


def _of_trec_eval(name: str) -> Measure | None:
    """The measure that trec_eval calls so (`map`, `P_10`, `ndcg_cut_10`), where it is one alone."""
    import ir_measures

    if name in ir_measures.measures.registry or not _TREC_EVALS.fullmatch(name):
        return None
    try:
        with contextlib.redirect_stdout(None):  # names of sets of measures are told what they lack
            (measure,) = ir_measures.parse_trec_measure(name)
    except (ValueError, NameError):
        return None
    return measure


def _unknown_measure(name: str, extra: Mapping[str, MeasureFunction]) -> InputError:
    import ir_measures

    if _base(name) in extra:
        return _takes_nothing(_base(name))
    if with_at := _with_at(name):
        return InputError(f"unknown measure '{name}'. Did you mean '{with_at}'?")
    return unknown(
        "measure", _base(name), [*ir_measures.measures.registry, *INFERRED, *GRADED, *extra]
    )


def _takes_nothing(name: str) -> InputError:
    return InputError(
        f"the measure '{name}' is a plugin's: it has no cutoff and no parameters. Write '{name}'."
    )


def _base(name: str) -> str:
    """A measure's name without cutoff and parameters."""
    return name.partition("@")[0].partition("(")[0]


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
