"""Lucene's score for the treatment that a topic asks for, under all its names.

Topics of TREC Precision Medicine 2020 name one. Where no training topic does, there is nothing to
learn about it, and the group is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform_ltr.groups.query_parts import ScoresOfParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Topic


class Treatment(ScoresOfParts):
    """Scores of the expanded query's parts for the treatment."""

    parts = ("treatment.weight", "treatment.title", "treatment.heading", "treatment.named")

    def lacks(self, topics: Sequence[Topic]) -> str:
        """The field with treatments, or knowledge bases."""
        return self.options.lacking(topics, (self.options.plan.treatment.field,))
