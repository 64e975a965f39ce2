"""A topic's concepts in documents: mentions and distances, evidence that cites them, genes.

Diseases and ordinary words are matched by their stems; genes, variants and drugs as whole words,
since "mets", for metastases, has the stem of "MET". The index has all words in lower case: only the
group `genes` tells "MET" from "met". The names are those of the query expansion.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.kit import open_knowledge
from irplatform.plugin import Traits
from irplatform_ltr.matching import KnowledgeFeatures, Mentions, Passage, StemmedIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from irplatform.kit import Float32, ForwardIndex, Knowledge
    from irplatform.plugin import Documents, Resources, Topic


KINDS = (
    "disease_own", "disease", "disease_kind", "gene_own", "gene", "variant", "codon", "alteration",
    "drug", "words", "treatment", "prognosis", "people",
)  # fmt: skip
"""Sets of names whose mentions are counted."""
PAIRS = (
    ("gene", "disease"), ("gene", "variant"), ("gene", "alteration"), ("gene", "treatment"),
    ("gene", "drug"), ("gene", "prognosis"), ("gene", "people"), ("disease", "treatment"),
    ("disease", "people"), ("variant", "treatment"), ("words", "disease"), ("words", "treatment"),
)  # fmt: skip
"""Sets whose distance counts."""
_NEAR = 15
_FAR = 400.0  # the distance of what is not together
_NOWHERE = 1.5
_ALTERED = (
    "mutation", "mutant", "mutated", "amplification", "amplified", "alteration", "deletion",
    "fusion", "translocation", "rearrangement", "overexpression", "expression", "positive",
    "negative", "status", "variant", "loss", "activation",
)  # fmt: skip


class Concepts(KnowledgeFeatures):
    """Mentions of a topic's disease, genes, variants and drugs, and how close they are.

    For each set of names: mentions in title and abstract, density, first and last place. For pairs
    of sets: least distance, close mentions and their order. For all: shares of the genes and
    variants, names in use, and whether both disease and gene are there.
    """

    _index: ForwardIndex
    _stems: StemmedIndex

    def traits(self) -> Traits:
        return Traits(packages=("gensim",))

    def prepare(self, resources: Resources) -> None:
        super().prepare(resources)
        self._index = resources.forward_index()
        self._stems = StemmedIndex.of(resources)

    def names(self) -> tuple[str, ...]:
        of_sets = ("title", "abstract", "density", "first", "last")
        return (
            *(f"{kind}_{suffix}" for kind in KINDS for suffix in of_sets),
            *(f"{a}_{b}_{suffix}" for a, b in PAIRS for suffix in ("distance", "close", "order")),
            "genes_share", "variants_share", "names_used", "disease_and_gene",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        parts = self.options.expander(self._resources).parts(topic)
        rows = self._index.rows(documents.ids)
        words, offsets = self._index.tokens(rows)
        titles = self._index.lengths("title", rows).astype(np.int64)
        plain = Passage(np.asarray(words), offsets, titles)
        stems = Passage(self._stems.stem_of[words], offsets, titles)
        mentions = self._mentions(parts, plain, stems)
        columns: list[npt.NDArray[Any]] = []
        lengths = np.maximum(np.diff(offsets), 1)
        for kind in KINDS:
            of_kind = mentions[kind]
            in_title, counts = of_kind.in_title, of_kind.counts
            columns += [in_title, np.log1p(counts - in_title), counts / lengths]
            columns += [of_kind.first(_NOWHERE), of_kind.last(-0.5)]
        for first, second in PAIRS:
            gaps = mentions[first].gaps(mentions[second])
            columns += [np.log1p(gaps.least(_FAR)), np.log1p(gaps.close(_NEAR)), gaps.order(_NEAR)]
        columns += self._shares(parts, plain, mentions)
        return np.asarray(np.stack(columns, axis=1), dtype=np.float32)

    def _mentions(self, parts: Any, plain: Passage, stems: Passage) -> dict[str, Mentions]:
        disease = parts.disease.synonyms if parts.disease else ()
        genes = [name for gene in parts.genes for name in gene.synonyms]
        context = self.options.plan.context
        altered = [word for marker in parts.markers for word in marker.alteration.split()]
        phrases = [name.text for names in parts.phrases for name in names.synonyms]
        marker_words = [
            marker.words for marker in parts.markers if marker.words and not marker.genes
        ]

        def find_stems(texts: Iterable[str]) -> Mentions:
            return stems.find(self._stems.query_ids(text) for text in texts)

        def find_words(texts: Iterable[str]) -> Mentions:
            return plain.find(self._index.query_ids(text) for text in texts)

        return {
            "disease_own": find_stems(
                n.text for n in disease if n.relation in ("topic", "spelling")
            ),
            "disease": find_stems(n.text for n in disease if n.relation != "narrow"),
            "disease_kind": find_stems(n.text for n in disease),
            "gene_own": find_words(n.text for n in genes if n.relation in ("topic", "spelling")),
            "gene": find_words(n.text for n in genes),
            "variant": find_words(form for forms in parts.spellings for form in forms),
            "codon": find_words(parts.codons),
            "alteration": find_stems(altered or _ALTERED),
            "drug": find_words(drug.text for drug in parts.drugs),
            "words": find_stems([*marker_words, *phrases]),
            "treatment": find_stems(context.treatment),
            "prognosis": find_stems(context.prognosis),
            "people": find_stems(context.people),
        }

    def _shares(
        self, parts: Any, plain: Passage, mentions: Mapping[str, Mentions]
    ) -> list[npt.NDArray[Any]]:
        nothing = np.zeros(plain.documents)

        def present(groups: Sequence[Iterable[str]]) -> npt.NDArray[Any]:
            hits = [
                plain.find(self._index.query_ids(text) for text in texts).counts > 0
                for texts in groups
            ]
            return np.mean(hits, axis=0) if hits else nothing

        gene = mentions["gene"].counts
        return [
            present([[n.text for n in names.synonyms] for names in parts.genes]),
            present(parts.spellings),
            np.log1p(mentions["disease_kind"].counts + gene),
            (mentions["disease_kind"].counts > 0) * (gene > 0),
        ]


_PMID = re.compile(r"PMID:(\d+)")
_KINDS = 400  # kinds of the disease that are looked up, as in expanded queries


class Evidence(KnowledgeFeatures):
    """Citations of a document by knowledge bases for the topic's genes, variants and disease.

    CIViC's curators say what a variant means in a disease, and which article shows that. Documents
    are known by PubMed ids.
    """

    def names(self) -> tuple[str, ...]:
        return ("gene", "disease", "gene_and_disease", "variant", "variant_and_disease")

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        knowledge = self.options.open()
        parts = self.options.expander(self._resources).parts(topic)
        citations = _citations(parts, knowledge)
        counts = [[citations[name][doc_id] for name in self.names()] for doc_id in documents.ids]
        return np.log1p(np.asarray(counts, np.float32)).reshape(len(documents), len(self.names()))


def _citations(parts: Any, knowledge: Knowledge) -> dict[str, Counter[str]]:
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
    ids: set[str] = set()
    for key in concepts:
        for concept in (key, *(kind.id for kind in knowledge.descendants(key, _KINDS))):
            ids |= {concept, *(same.id for same in knowledge.same_as(concept))}
    return ids


def _cited(
    concepts: Iterable[str], kind: str, knowledge: Knowledge, ends: set[str] | None = None
) -> Counter[str]:
    relations = {
        relation
        for key in concepts
        for relation in knowledge.relations(key, kind)
        if ends is None or {relation.source_id, relation.target_id} & ends
    }
    return Counter(pmid for relation in relations for pmid in _PMID.findall(relation.evidence))


_SYMBOL = re.compile(r"(?=.*[A-Z])[A-Z0-9-]{3,8}")
_WORD = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_LATE = 10  # mentions of genes before the topic's first one are counted up to here
Mention = tuple[str, ...]
"""The genes that a symbol in a text may stand for; aliases of several, such as PD1, for any."""


class Genes(KnowledgeFeatures):
    """A document's mentions of the topic's genes: how many, where, and among how many others.

    An article that lists twenty genes says little of each. Symbols keep their capitals: "MET" is a
    gene, "met" is a word. An alias of several genes is the topic's where one of them is.
    """

    def names(self) -> tuple[str, ...]:
        return (
            "title_own", "title_others", "title_own_alone", "abstract_own", "abstract_others",
            "different_others", "focus", "before_first",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        """The features; of a topic without genes, all genes are others."""
        knowledge = self.options.open()
        symbols = _symbols(self.options.bases(), knowledge.fingerprint)
        parts = self.options.expander(self._resources).parts(topic)
        concepts = (knowledge.concept(key) for gene in parts.genes for key in gene.concepts)
        topic_genes = {gene.text for gene in parts.genes} | {
            c.name for c in concepts if c is not None
        }
        values = [
            _features(
                topic_genes, list(_genes(d.title, symbols)), list(_genes(d.abstract, symbols))
            )
            for d in documents
        ]
        return np.asarray(values, dtype=np.float32).reshape(len(documents), len(self.names()))


def _genes(text: str, symbols: Mapping[str, Mention]) -> Iterator[Mention]:
    """The mentions of genes in a text; "EGFR-mutant" is one, "EML4-ALK" two."""
    for word in _WORD.findall(text):
        mention = symbols.get(word)
        if mention is not None:
            yield mention
        elif "-" in word:
            yield from (symbols[part] for part in word.split("-") if part in symbols)


def _features(
    topic_genes: set[str], title: Sequence[Mention], abstract: Sequence[Mention]
) -> list[float]:
    in_title = [not topic_genes.isdisjoint(genes) for genes in title]
    in_abstract = [not topic_genes.isdisjoint(genes) for genes in abstract]
    mentions = [*in_title, *in_abstract]
    return [
        float(sum(in_title)),
        float(len({genes for genes in title if topic_genes.isdisjoint(genes)})),
        float(any(in_title) and all(in_title)),
        float(np.log1p(sum(in_abstract))),
        float(np.log1p(len(abstract) - sum(in_abstract))),
        float(len({genes for genes in abstract if topic_genes.isdisjoint(genes)})),
        sum(mentions) / max(len(mentions), 1),
        float(min(mentions.index(True), _LATE)) if any(mentions) else float(_LATE),
    ]


@lru_cache(maxsize=2)
def _symbols(bases: tuple[str, ...], fingerprint: str) -> Mapping[str, Mention]:
    """The genes that each symbol stands for, read once per process.

    Aliases need a letter and a digit: words and numbers too often mean something else.
    """
    del fingerprint  # knowledge bases that were replaced meanwhile are read anew
    knowledge = open_knowledge(bases)
    approved: dict[str, set[str]] = {}
    aliases: dict[str, set[str]] = {}
    for concept in knowledge.concepts("gene"):
        approved[concept.name] = {concept.name}
        for name in concept.names:
            if name.kind == "alias" and any(c.isdigit() for c in name.text):
                aliases.setdefault(name.text, set()).add(concept.name)
    genes_of = {**aliases, **approved}
    return {
        text: tuple(sorted(genes)) for text, genes in genes_of.items() if _SYMBOL.fullmatch(text)
    }
