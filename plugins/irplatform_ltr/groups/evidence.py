"""Articles that knowledge bases cite as evidence on the topic's genes, variants and disease.

CIViC's curators say of a variant in a disease what it means, and which article shows that. Such an
article is what a topic of precision medicine asks for, in whatever words it is written. A document
is an article where its id is the article's PubMed id.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from irplatform_ltr.expansion import KnowledgeFeatures

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from irplatform.knowledge import Knowledge
    from irplatform.plugin import Documents, Topic
    from irplatform.retrieval.querying.parts import TopicParts

_PMID = re.compile(r"PMID:(\d+)")
_KINDS = 400
"""Kinds of the disease that are looked up, as in expanded queries."""


class Evidence(KnowledgeFeatures):
    """How often knowledge bases cite a document for the topic's genes, variants and disease."""

    def names(self) -> tuple[str, ...]:
        """Statements that cite the document, of what they are."""
        return ("gene", "disease", "gene_and_disease", "variant", "variant_and_disease")

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """The features: logarithms of one more than the number of statements."""
        knowledge = self.options.open()
        parts = self.options.expander(self._resources).parts(topic)
        citations = _citations(parts, knowledge)
        counts = [[citations[name][doc_id] for name in self.names()] for doc_id in documents.ids]
        return np.log1p(np.asarray(counts, np.float32)).reshape(len(documents), len(self.names()))


def _citations(parts: TopicParts, knowledge: Knowledge) -> dict[str, Counter[str]]:
    diseases = _with_kinds(parts.disease.concepts if parts.disease else (), knowledge)
    genes = [key for names in parts.genes for key in names.concepts]
    variants = [
        concept.id
        for names in parts.genes
        for variant in parts.variants
        for concept in knowledge.find(f"{names.text} {variant}")
    ]
    return {
        "gene": _cited(genes, "gene-disease", knowledge),
        "disease": _cited(diseases, "gene-disease", knowledge),
        "gene_and_disease": _cited(genes, "gene-disease", knowledge, diseases),
        "variant": _cited(variants, "variant-disease", knowledge),
        "variant_and_disease": _cited(variants, "variant-disease", knowledge, diseases),
    }


def _with_kinds(concepts: Iterable[str], knowledge: Knowledge) -> set[str]:
    """Ids of diseases and of their kinds, in all knowledge bases."""
    ids: set[str] = set()
    for key in concepts:
        for each in (key, *(kind.id for kind in knowledge.descendants(key, _KINDS))):
            ids |= {each, *(same.id for same in knowledge.same_as(each))}
    return ids


def _cited(
    concepts: Iterable[str], kind: str, knowledge: Knowledge, ends: set[str] | None = None
) -> Counter[str]:
    """Articles that the evidence of concepts' relations cites, with how many statements do."""
    relations = {
        relation
        for key in concepts
        for relation in knowledge.relations(key, kind)
        if ends is None or {relation.source_id, relation.target_id} & ends
    }
    return Counter(pmid for relation in relations for pmid in _PMID.findall(relation.evidence))
