"""Finds the drugs that articles name, as the document–concept graph finds concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from irplatform.concepts import ConceptOptions
from irplatform.concepts.batches import batches
from irplatform.concepts.pipeline import ConceptPipeline
from irplatform.concepts.table import KINDS
from irplatform.console import progress

if TYPE_CHECKING:
    from collections.abc import Collection

    from irplatform.collections import Corpus
    from irplatform.concepts.table import ConceptTable

DRUG = KINDS.index("drug")


class Named(NamedTuple):
    """A drug as an article names it.

    Attributes:
        concept: its number in the concept table.
        text: as it stands in the article.
    """

    concept: int
    text: str


Found = Mapping[str, Counter[Named]]
"""Article to the drugs that it names, and how often."""


def find_drugs(corpus: Corpus, wanted: Collection[str], table: ConceptTable) -> Found:
    """Find the drugs that articles name in title and abstract.

    Concepts of all kinds are looked for, so that the insulin of "insulin receptor" is no drug.

    Args:
        corpus: where the articles are; it is read once.
        wanted: ids of the articles.
        table: the concepts.

    Returns:
        Those of the wanted articles that the corpus has; the drugs of some may be none.

    Raises:
        InputError: scispaCy is not installed, or a document cannot be read.
    """
    pipeline = ConceptPipeline(table, ConceptOptions())
    drugs_of: dict[str, Counter[Named]] = {}
    articles = (document for document in corpus if document.id in wanted)
    with progress("finding drugs", len(wanted), "articles") as advance:
        for batch in batches(articles):
            texts = ((title, abstract) for _, title, abstract in batch)
            for (doc_id, _, _), mentions in zip(batch, pipeline.mentions(texts), strict=True):
                drugs = (each for each in mentions if table.kinds[each.concept] == DRUG)
                drugs_of[doc_id] = Counter(Named(each.concept, each.text) for each in drugs)
            advance(len(batch))
    return drugs_of
