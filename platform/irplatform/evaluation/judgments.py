"""The judgments that score runs: of a collection or of files, ordinary, sampled or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.evaluation.gain import NDCG, NDCG_OF_LEVELS, has_levels
from irplatform.evaluation.measure_names import is_inferred, parse_measures, refuse_grades
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled import (
    SampledQrels,
    is_sampled,
    judged_documents,
    read_sampled_qrels,
)
from irplatform.spelling import command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.evaluation.sampled import Pool

INFERRED = ("infNDCG", "infAP")
"""The default measures of sampled judgments, in the order of reports."""


@dataclass(frozen=True)
class Judgments:
    """Judgments and the right names of the measures to report.

    Attributes:
        qrels: ordinary judgments.
        sampled: sampled ones, if there are some.
        measures: names of measures.
        machine: topic to the documents whose grade is a machine's, where sources are known.
        people: the judgments of people alone, if there are some and machines' count, too.
    """

    qrels: Qrels
    sampled: SampledQrels | None
    measures: Sequence[str]
    machine: Mapping[str, frozenset[str]] = field(default_factory=dict)
    people: Judgments | None = None

    @property
    def for_measures(self) -> tuple[Qrels, SampledQrels]:
        """Ordinary judgments if a measure needs them, and sampled ones if one does."""
        inferred = [self.sampled is not None and is_inferred(name) for name in self.measures]
        qrels = {} if all(inferred) else {t: grades for t, grades in self.qrels.items() if grades}
        return qrels, (self.sampled or {}) if any(inferred) else {}

    def is_scored(self, topic: str) -> bool:
        """Return whether the first measure can tell rankings of a topic apart."""
        if self.sampled is not None and is_inferred(self.measures[0]):
            pool = self.sampled.get(topic)
            return pool is not None and bool((pool.grades > 0).any())
        return any(grade > 0 for grade in self.qrels.get(topic, {}).values())


def of_collection(
    collection: Collection,
    measures: Sequence[str],
    extra: Mapping[str, MeasureFunction],
    *,
    sampled: Path | None = None,
) -> Judgments:
    """Return a collection's judgments; if it has sampled ones only, their judged documents.

    Args:
        collection: the collection.
        measures: names that the user gave; empty takes the collection's.
        extra: measures of plugins.
        sampled: a file of sampled judgments to use instead of the collection's.
    """
    if sampled is not None:
        collection = replace(collection, sampled_qrels=sampled)
    pools = sampled_of(collection)
    qrels = collection.qrels
    if not (qrels := qrels or judged_documents(pools or {})):
        raise InputError(
            f"'{collection.id}' has no judgments. ({command('evaluate', qrels='FILE')} takes a "
            "file of them.)"
        )
    return Judgments(qrels, pools, measures_of(collection, measures, extra, qrels))


def sampled_of(collection: Collection) -> dict[str, Pool] | None:
    """Return the sampled judgments of a collection's topics; None without any."""
    if (path := collection.sampled_qrels) is None:
        return None
    left_out = collection.topics_left_out
    return {t: pool for t, pool in read_sampled_qrels(path).items() if t not in left_out}


def of_files(
    qrels: Path | Qrels | None,
    measures: Sequence[str],
    extra: Mapping[str, MeasureFunction],
    *,
    usual: Sequence[str],
    sampled: Path | SampledQrels | None = None,
) -> Judgments:
    """Read judgments from files: ordinary, sampled, or both.

    Sampled judgments alone are reported by infNDCG and infAP; other measures take their judged
    documents.

    Args:
        qrels: a file of either kind, whose first line tells which; or judgments in memory.
        measures: names that the user gave; empty takes the usual ones.
        extra: measures of plugins.
        usual: for ordinary judgments; for levels, nDCG-exp@20 replaces nDCG@20.
        sampled: a file of sampled judgments, or such judgments in memory.
    """
    if isinstance(qrels, Path) and is_sampled(qrels):
        if sampled is not None:
            raise InputError("these are sampled judgments too; give one of the two.", path=qrels)
        qrels, sampled = None, qrels
    pools = read_sampled_qrels(sampled) if isinstance(sampled, Path) else sampled
    names: Sequence[str] = INFERRED
    if qrels is not None:
        names = default_measures(usual, sampled=pools is not None)
    parsed = parse_measures(measures or names, extra, sampled=pools is not None)
    ordinary = qrels if isinstance(qrels, Mapping) else judged_documents(pools or {})
    if isinstance(qrels, Path):
        ordinary = read_qrels(qrels)
    if not measures and has_levels(ordinary.values()):
        default_names = [NDCG_OF_LEVELS if name == NDCG else name for name in parsed]
        parsed = parse_measures(default_names, extra, sampled=pools is not None)
    file = qrels or sampled
    source = f"the judgments of {file}" if isinstance(file, Path) else "these judgments"
    refuse_grades(parsed, ordinary, source)
    return Judgments(ordinary, pools, list(parsed))


def default_measures(names: Iterable[str], *, sampled: bool) -> tuple[str, ...]:
    """Return a collection's default measures.

    With sampled judgments, infNDCG and infAP come first, unless `names` has them elsewhere.
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
    """Return the right names of the measures that score runs of a collection.

    Args:
        collection: the collection.
        measures: names that the user gave; empty takes the collection's defaults.
        extra: measures of plugins.
        qrels: the collection's judgments, if it has some.
    """
    sampled = collection.sampled_qrels is not None
    names = measures or default_measures(collection.measures, sampled=sampled)
    hint = collection.metadata.get("sampled judgments", "")
    # Without judgments nothing is scored yet; sampled ones may come with the others.
    scorable = sampled or collection.load_qrels is None
    parsed = parse_measures(names, extra, sampled=scorable, sampled_hint=hint)
    refuse_grades(parsed, qrels or {}, f"the judgments of '{collection.id}'")
    return list(parsed)
