"""Topics that a plan's weights were chosen on, searched with weights chosen without them.

A first stage looks better on the topics that its weights were chosen on than on any others. What
learns from these topics then trusts it too much: a weight of interpolation, or a feature that is
the first stage's score. So a plan may bring folds (cross-fitting: Chernozhukov et al., Econometrics
Journal 2018): some of the topics it was chosen on, each with weights that were chosen on the
others. Such a topic is searched with those, all other topics with the plan itself.

The default plan has folds for the topics of TREC Precision Medicine 2018. They belong to its
weights: a plan that differs in any weight has those folds only that it brings itself.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.retrieval.querying.plan import Fold, QueryPlan
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.plugin import Topic
    from irplatform.retrieval.querying.plan import Weights

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
    values = (topic.fields.get(part.field, "") for part in (plan.disease, plan.gene))
    texts = (value if isinstance(value, str) else ", ".join(value) for value in values)
    return " | ".join(" ".join(text.lower().split()) for text in texts)


def folds_of(plan: QueryPlan) -> tuple[Fold, ...]:
    """The folds that hold for a plan: its own, else the default's where the weights are."""
    if not plan.held_out or plan.folds:
        return plan.folds if plan.held_out else ()
    return _default_folds() if plan == QueryPlan() else ()


def fold_dependencies(plan: QueryPlan) -> Mapping[str, object]:
    """What rankings depend on beside the plan: the default's folds, which it does not name."""
    folds = folds_of(plan)
    if not folds or folds == plan.folds:
        return {}
    return {"folds": fingerprint({"folds": [fold.model_dump(mode="json") for fold in folds]})}


@lru_cache(maxsize=1)
def _default_folds() -> tuple[Fold, ...]:
    found = tomllib.loads(_DEFAULT.read_text(encoding="utf-8"))
    return QueryPlan.model_validate(found).folds
