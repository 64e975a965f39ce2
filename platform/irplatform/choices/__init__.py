"""From names and settings to retrievers and rerankers with their options.

`systems` resolves names and hands every option to the systems that have it, `expansion` sees that
queries are expanded where collections or rerankers want it.
"""

from irplatform.choices.expansion import (
    expanded_for,
    refuse_idle_plan,
    told_of_expansion,
    with_expansion_of,
)
from irplatform.choices.systems import check_preset, choose_systems, unknown_option
from irplatform.registry.settings import flat

__all__ = [
    "check_preset",
    "choose_systems",
    "expanded_for",
    "flat",
    "refuse_idle_plan",
    "told_of_expansion",
    "unknown_option",
    "with_expansion_of",
]
