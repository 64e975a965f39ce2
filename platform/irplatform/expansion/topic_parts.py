"""The parts of a topic: its disease and genes with all their names, its variants, its other words.

Names come from the knowledge bases. `evidence` removes names that no document has, and aliases that
mean something else in the index.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from irplatform.expansion.gene_notation import (
    Marker,
    codon,
    is_placeholder,
    parse_markers,
    spellings,
)
from irplatform.expansion.lookup import (
    disease_names,
    disease_within,
    diseases_abbreviated,
    drug_names,
    family_names,
    gene_names,
    genes_called,
    sure_names,
    treatment_names,
)
from irplatform.expansion.names import (
    Names,
    Synonym,
    called,
    each_once,
    names_within,
    phrase_names,
    with_latin_letter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.data import Topic
    from irplatform.expansion.evidence import Evidence
    from irplatform.expansion.plan import Weights
    from irplatform.knowledge import Knowledge


_KINDS = 400
"""Kinds of a disease that are looked up; the most frequent ones are kept."""
_SHORT = 5
"""Letters of a drug's name that may mean something else as well: FU, TXL."""
_MEANT = 0.02
"""Share of the documents with a topic's symbol that must have a sure name of the gene."""


@dataclass(frozen=True)
class TopicParts:
    """The parts of a topic.

    Attributes:
        disease: the disease's names, of a part of the text if no knowledge base has the whole;
            empty if no document has any.
        treatments: the names of each treatment; without concepts if it is unknown.
        drugs: drugs that are known to act on the genes.
        phrases: concepts among the words that name no gene, or in a topic's query without fields.
        described: the whole text of the disease, if `disease` is a part of it.
        unaltered: genes, by their texts, that the topic wants without alteration: KRAS wild-type.
        query: the topic's query, without placeholders such as "none".
    """

    disease: Names | None
    genes: tuple[Names, ...]
    markers: tuple[Marker, ...]
    treatments: tuple[Names, ...] = ()
    drugs: tuple[Synonym, ...] = ()
    phrases: tuple[Names, ...] = ()
    described: str = ""
    unaltered: frozenset[str] = frozenset()
    query: str = ""

    @property
    def variants(self) -> tuple[str, ...]:
        """All variants, each once."""
        return tuple(dict.fromkeys(v for marker in self.markers for v in marker.variants))

    @property
    def spellings(self) -> list[tuple[str, ...]]:
        """Ways to write each variant, its own first."""
        return list(map(spellings, self.variants))

    @property
    def codons(self) -> list[str]:
        """The places that substitutions change: V600 of V600E."""
        return [place for variant in self.variants if (place := codon(variant)) is not None]


class TopicReader:
    """Takes topics apart, and remembers look-ups."""

    def __init__(self, knowledge: Knowledge, evidence: Evidence) -> None:
        self._knowledge = knowledge
        self._evidence = evidence
        self._disease = cache(self._find_disease)
        self._gene = cache(self._find_gene)
        self._treatments = cache(self._find_treatments)

    def read(self, topic: Topic, plan: Weights) -> TopicParts:
        """The parts of a topic, with their names."""
        disease = _text(topic, plan.disease.field)
        markers = parse_markers(_text(topic, plan.gene.field))
        symbols = dict.fromkeys(self._symbol(g) for marker in markers for g in marker.genes)
        unaltered = {
            self._symbol(g) for marker in markers if marker.unaltered for g in marker.genes
        }
        genes = each_once(self._gene(symbol, plan.gene.agreement) for symbol in symbols)
        query = _query(topic, (plan.disease.field, plan.gene.field))
        if disease or markers:
            words = (marker.words for marker in markers if marker.words and not marker.genes)
            mentions = list(filter(None, (phrase_names(text, self._knowledge) for text in words)))
        else:
            query_names = names_within(query, self._knowledge)
            mentions = list(each_once(self._as_in_fields(mention, plan) for mention in query_names))
        names = self._disease(disease, plan.disease.kinds) if disease else None
        drugs: tuple[Synonym, ...] = ()
        if plan.context.drugs:
            ids = (concept for gene in genes for concept in gene.concepts)
            drugs = tuple(self._evidence.occurring(drug_names(ids, "drug-gene", self._knowledge)))
        return TopicParts(
            names,
            tuple(_without_names_of(names, gene) for gene in genes) if names else genes,
            markers,
            self._treatments(_text(topic, plan.treatment.field), plan.treatment.agreement),
            drugs,
            tuple(
                replace(mention, synonyms=tuple(self._evidence.occurring(mention.synonyms)))
                for mention in mentions
            ),
            disease if names and names.text != disease else "",
            frozenset(unaltered),
            query,
        )

    def _symbol(self, symbol: str) -> str:
        """A gene's symbol as knowledge bases write it: PDGFRA for PDGFRα, if they have that."""
        latin = with_latin_letter(symbol)
        return latin if latin != symbol and genes_called(latin, self._knowledge) else symbol

    def _find_disease(self, text: str, kinds: int) -> Names:
        evidence = self._evidence
        most = _KINDS if kinds else 0
        disease = disease_names(text, self._knowledge, most)
        if not disease.concepts and (part := disease_within(text, self._knowledge)):
            disease = disease_names(part, self._knowledge, most)
        if not disease.concepts:
            abbreviated = diseases_abbreviated(text, self._knowledge)
            if name := evidence.abbreviated(text, abbreviated):
                disease = called(text, disease_names(name, self._knowledge, most))
        names = evidence.of_disease(evidence.occurring(disease.synonyms))
        exact = [name for name in names if name.relation != "narrow"]
        narrow = [name for name in names if name.relation == "narrow"]
        synonyms = (*exact, *evidence.kinds(exact, narrow)[:kinds])
        occurs = any(evidence.count(name.text) for name in synonyms)
        return replace(disease, synonyms=synonyms if occurs else ())

    def _find_gene(self, symbol: str, agreement: float) -> Names:
        gene = self._meant_gene(symbol)
        occurring = self._evidence.occurring(gene.synonyms)
        unlike = [
            name.text
            for name in occurring
            if any(other.kind == "disease" for other in self._knowledge.find(name.text))
        ]
        names = self._evidence.trusted(occurring, agreement, unlike)
        return Names(symbol, tuple(names), (), gene.concepts)

    def _meant_gene(self, symbol: str) -> Names:
        """The gene that a topic's symbol means in the documents, else a family of genes.

        Of the genes with that alias, the one whose sure names the symbol occurs with most: ER is
        ESR1 and not EREG. A symbol with a number, as CD20, means the only gene that has it.
        """
        genes = genes_called(symbol, self._knowledge)
        sure = {gene: sure_names(symbol, gene, self._knowledge) for gene in genes}
        meant = next((gene for gene in genes if not sure[gene]), "")
        if not meant:
            occurring = {gene: self._evidence.occurring(sure[gene]) for gene in genes}
            shares = {gene: self._evidence.agreement(symbol, occurring[gene]) for gene in genes}
            best = max(genes, key=lambda gene: shares[gene], default="")
            alone = len(genes) == 1 and any(map(str.isdigit, symbol))
            if best and (shares[best] >= _MEANT or not any(occurring.values()) or alone):
                meant = best
        if meant:
            return gene_names(symbol, meant, self._knowledge)
        return family_names(symbol, self._knowledge)

    def _find_treatments(self, text: str, agreement: float) -> tuple[Names, ...]:
        treatments = treatment_names(text, self._knowledge) if text else []
        return each_once(
            replace(names, synonyms=self._meant(names.synonyms, agreement)) for names in treatments
        )

    def _meant(self, names: tuple[Synonym, ...], agreement: float) -> tuple[Synonym, ...]:
        """The names of a treatment that occur, without short ones that mean something else."""
        occurring = self._evidence.occurring(names)
        trusted = self._evidence.trusted(occurring, agreement)
        return tuple(n for n in occurring if n in trusted or len(n.text) > _SHORT)

    def _as_in_fields(self, names: Names, plan: Weights) -> Names:
        """The names in a plain text; genes and diseases are read like fields."""
        concept = self._knowledge.concept(names.concepts[0])
        kind = None if concept is None else concept.kind
        if kind == "gene":
            return self._gene(names.text, plan.gene.agreement)
        return self._disease(names.text, plan.disease.kinds) if kind == "disease" else names


def _without_names_of(disease: Names, gene: Names) -> Names:
    """A gene without aliases that are the topic's disease: CML is one of BCR.

    An alias that is a kind of the disease stays: a syndrome named after its gene.
    """
    names = {name.text.lower() for name in disease.synonyms if name.relation != "narrow"}
    names.add(disease.text.lower())
    synonyms = (n for n in gene.synonyms if n.relation == "topic" or n.text.lower() not in names)
    return replace(gene, synonyms=tuple(synonyms))


def _text(topic: Topic, field: str) -> str:
    text = ", ".join(filter(None, topic.values(field)))
    return "" if is_placeholder(text) else text


def _query(topic: Topic, fields: Iterable[str]) -> str:
    query = topic.query
    for text in (text for field in fields for text in topic.values(field)):
        if is_placeholder(text):
            query = query.replace(text, "", 1)
    return query.strip()
