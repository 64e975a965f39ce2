"""What is wrong with what a collection names beside its documents, topics and judgments.

Measures that nobody computes, sampled judgments that do not fit, and training partners that cannot
train come to light late in a run otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.finding import EXAMPLES, Finding
from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.collections.collection import Collection, Qrels
    from irplatform.evaluation.measures import MeasureFunction


def check_measures(
    collection: Collection, extra: Mapping[str, MeasureFunction], qrels: Qrels | None
) -> Iterator[Finding]:
    """See that every default measure can be computed."""
    from irplatform.evaluation.grades import refuse_grades
    from irplatform.evaluation.measures import parse_measures

    scorable = collection.sampled_qrels is not None or collection.load_qrels is None
    for name in collection.measures:
        try:
            parsed = parse_measures([name], extra, sampled=scorable)
            refuse_grades(parsed, qrels or {})
        except InputError as error:
            yield Finding("wrong measure", True, 1, str(error), (name,))


def check_sampled(collection: Collection, topics: Sequence[str]) -> Iterator[Finding]:
    """See that sampled judgments can be read and are about the collection's topics."""
    from irplatform.evaluation.sampled_qrels import read_sampled_qrels

    if collection.sampled_qrels is None:
        return
    try:
        sampled = read_sampled_qrels(collection.sampled_qrels)
    except InputError as error:
        yield Finding("broken sampled judgments", True, 1, str(error))
        return
    strange = [topic for topic in sampled if topic not in set(topics)]
    if strange:
        yield Finding(
            "sampled judgments without topic",
            len(strange) == len(sampled),
            len(strange),
            f"sampled judgments without topic: {len(strange):,} of {len(sampled):,} topics",
            tuple(strange[:EXAMPLES]),
        )


def check_training(collection: Collection) -> Iterator[Finding]:
    """See that the collections that train and validate for this one can do so."""
    if collection.training is None:
        return
    try:
        training = collection.training()
        validation = training.validation() if training.validation else None
        problems = [
            problem
            for role, partner in (("training", training), ("validation", validation))
            if partner is not None
            for part in partner.parts or (partner,)
            for problem in _problems(role, part, collection)
        ]
    except InputError as error:
        yield Finding("broken training partner", True, 1, str(error))
        return
    yield from problems


def _problems(role: str, partner: Collection, collection: Collection) -> Iterator[Finding]:
    def finding(serious: bool, message: str) -> Finding:
        kind = f"{role} partner"
        return Finding(kind, serious, 1, f"the {kind} '{partner.id}' {message}", (partner.id,))

    if partner.id == collection.id:
        yield finding(True, "is the collection itself")
        return
    if partner.load_qrels is None:
        yield finding(True, "has no judgments")
        return
    topics = [topic.id for topic in partner.load_topics()]
    qrels = partner.load_qrels()
    if not any(max(qrels.get(topic, {}).values(), default=0) > 0 for topic in topics):
        yield finding(True, "has no topic with a relevant document")
    if not partner.corpus.same_documents(collection.corpus):
        yield finding(
            False,
            "has other documents: train on it with `platform train`, and give the result with "
            "--checkpoint",
        )
