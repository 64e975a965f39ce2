"""Documents by decreasing id: the uninformed ranker that every other one has to beat.

Mohan et al. (WWW 2018, table 2) rank by decreasing document id "to provide a low threshold of
performance". Here every run breaks ties in that order, so it is the ranking of a constant score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import Reranker

if TYPE_CHECKING:
    from irplatform.plugin import Documents, Topic


class ReverseDocumentId(Reranker):
    """Ranks by decreasing document id, compared as text, as trec_eval compares them."""

    citation: ClassVar[str] = (
        "“rev DocID” of Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning "
        "Model for Textual Relevance in Biomedical Information Retrieval. WWW 2018, table 2."
    )

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """The same score for all: ties are ranked by decreasing document id."""
        del topic
        return [0.0] * len(documents)
