"""Fields of topics that a query plan names.

The default plan names fields that many topics do not have; those are searched by their words. A
field that somebody wrote into a plan is meant to be there: misspelt, it would silently leave a part
of every query out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.plugin import Topic
    from irplatform.retrieval.querying.plan import QueryPlan, Weights


def check_fields(topics: Sequence[Topic], plan: QueryPlan) -> None:
    """See that the fields which a plan names, beside the default's, are fields of some topic.

    Raises:
        InputError: no topic has one of them; the nearest that there is.
    """
    known = {name for topic in topics for name, value in topic.fields.items() if value}
    for setting, name in _named(plan):
        if name not in known:
            raise unknown("field", name, known, of="the topics", hint=f"It is named by {setting}.")


def _named(plan: QueryPlan) -> Iterator[tuple[str, str]]:
    yield from _named_by(plan, "plan")
    for number, fold in enumerate(plan.folds):
        yield from _named_by(fold.weights, f"plan.folds.{number}.weights")


def _named_by(weights: Weights, place: str) -> Iterator[tuple[str, str]]:
    for part in ("disease", "gene", "treatment"):
        options = getattr(weights, part)
        if part in weights.model_fields_set and "field" in options.model_fields_set:
            yield f"{place}.{part}.field", options.field
    for name in weights.other:
        yield f"{place}.other.{name}", name
