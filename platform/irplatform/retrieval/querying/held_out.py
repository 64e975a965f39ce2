"""Topics that a plan's weights were chosen on, searched with weights chosen without them.

A first stage looks better on the topics that its weights were chosen on than on any others. What
learns from these topics then trusts it too much: a weight of interpolation, or a feature that is
the first stage's score. So a plan may bring folds (cross-fitting: Chernozhukov et al., Econometrics
Journal 2018): some of the topics it was chosen on, each with weights that were chosen on the
others. Such a topic is searched with those, all other topics with the plan itself.

The default plan has folds for the topics of TREC Precision Medicine 2018. They belong to its
weights: a plan that differs in any option has those folds only that it brings itself. Whatever it
leaves as in the default was chosen on these topics all the same, which `chosen_on` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.plugin import Options
from irplatform.retrieval.querying.plan import Fold, QueryPlan
from irplatform.storage import fingerprint
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.plugin import Topic
    from irplatform.retrieval.querying.plan import Weights

QUERY_FORMAT = 17
"""Raise it when the same topic, plan and knowledge bases make another query."""
_DEFAULT = Path(__file__).with_name("default-folds.toml")


def weights_for(topic: Topic, plan: QueryPlan) -> Weights:
    """What a topic is searched with: the fold's weights that did not see it, or the plan's."""
    folds = folds_of(plan)
    if not folds:
        return plan
    mark = topic_mark(topic, plan)
    return next((fold.weights for fold in folds if mark in fold.topics), plan)


def topic_mark(topic: Topic, plan: Weights) -> str:
    """How a fold names a topic: its disease and its gene, in lower case."""
    texts = (", ".join(topic.values(part.field)) for part in (plan.disease, plan.gene))
    return " | ".join(" ".join(text.lower().split()) for text in texts)


def folds_of(plan: QueryPlan) -> tuple[Fold, ...]:
    """The folds that hold for a plan: its own, else the default's where the weights are."""
    if not plan.held_out or plan.folds:
        return plan.folds if plan.held_out else ()
    return _default_folds() if plan == QueryPlan() else ()


@dataclass(frozen=True)
class ChosenOn:
    """How topics are searched that a query plan was chosen on.

    Attributes:
        topics: how many of the topics it was chosen on.
        of: how many topics there are.
        held_out: whether these are searched with weights that were chosen without them.
        reason: why they are not, where they are not.
    """

    topics: int
    of: int
    held_out: bool
    reason: str = ""

    def __str__(self) -> str:
        these = "this topic" if self.of == 1 else f"{self.topics:,} of these {self.of:,} topics"
        each = "it" if self.of == 1 else "each of them"
        sentence = f"the query plan was chosen on {these}"
        if self.held_out:
            return f"{sentence}: {each} is searched with weights that were chosen without it"
        return (
            f"WARNING: {sentence}, and {each} is searched with weights that have seen it, "
            f"because {self.reason}: its scores are better than they would be on other topics."
        )

    def as_json(self) -> dict[str, object]:
        """For metadata."""
        return {"topics": self.topics, "held_out": self.held_out}


def chosen_on(topics: Sequence[Topic], plan: QueryPlan) -> ChosenOn | None:
    """What is known of topics that a plan, or the default that it changes, was chosen on.

    Returns:
        None where there is no such topic.
    """
    marks = {mark for fold in plan.folds or _default_folds() for mark in fold.topics}
    count = sum(topic_mark(topic, plan) in marks for topic in topics)
    if not count:
        return None
    reason = ""
    if not plan.held_out:
        reason = "plan.held_out is false"
    elif not folds_of(plan):
        changed = _differing([f"plan.{name}" for name in _changed(plan, QueryPlan())])
        reason = f"the weights chosen without it belong to the default plan, and {changed}"
    return ChosenOn(count, len(topics), not reason, reason)


def _changed(plan: Options, usual: Options, prefix: str = "") -> Iterator[str]:
    for name in type(plan).model_fields:
        value, usual_value = getattr(plan, name), getattr(usual, name)
        if isinstance(value, Options):
            yield from _changed(value, usual_value, f"{prefix}{name}.")
        elif value != usual_value:
            yield prefix + name


def _differing(names: Sequence[str]) -> str:
    more = len(names) - 1
    return f"{names[0]} (and {more} more) differ" if more else f"{names[0]} differs"


def query_dependencies(plan: QueryPlan) -> Mapping[str, object]:
    """What queries depend on beside plan and bases: how they are made, and the default's folds."""
    dependencies = {"queries": QUERY_FORMAT}
    folds = folds_of(plan)
    if not folds or folds == plan.folds:  # the plan's own are among the options
        return dependencies
    dumped = [fold.model_dump(mode="json") for fold in folds]
    return {**dependencies, "folds": fingerprint({"folds": dumped})}


@lru_cache(maxsize=1)
def _default_folds() -> tuple[Fold, ...]:
    content = read_toml(_DEFAULT)
    return QueryPlan.model_validate(content).folds
