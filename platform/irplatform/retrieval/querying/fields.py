"""Fields of topics that a query plan names.

The default plan names fields that many topics do not have; those are searched by their words. A
field that somebody wrote into a plan is meant to be there: misspelt, it would silently leave a part
of every query out.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from irplatform.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.plugin import Topic
    from irplatform.retrieval.querying.plan import QueryPlan


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
    """Settings and the fields that they name; what the default says is left out."""
    for part in ("disease", "gene", "treatment"):
        options = getattr(plan, part)
        if part in plan.model_fields_set and "field" in options.model_fields_set:
            yield f"plan.{part}.field", options.field
    for weights in chain([plan], (fold.weights for fold in plan.folds)):
        for name in weights.other:
            yield f"plan.other.{name}", name
