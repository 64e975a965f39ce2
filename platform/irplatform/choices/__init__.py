"""From names and settings to retrievers and rerankers with their options.

`systems` resolves names and hands every option to the systems that have it, `expansion` sees that
queries are expanded where collections or rerankers want it.
"""

from irplatform.choices.expansion import (
    NONE,
    expanded_for,
    expansion_settings,
    refuse_idle_plan,
    told_of_expansion,
    with_expansion_of,
)
from irplatform.choices.systems import choose_systems, unknown_option

__all__ = [
    "NONE",
    "choose_systems",
    "expanded_for",
    "expansion_settings",
    "refuse_idle_plan",
    "told_of_expansion",
    "unknown_option",
    "with_expansion_of",
]
