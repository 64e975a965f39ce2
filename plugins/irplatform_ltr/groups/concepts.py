"""Where the concepts of a topic stand in a document: how often, where first, how close together.

Diseases and ordinary words are matched by their stems; genes, variants and drugs as whole words,
since "mets", for metastases, has the stem of "MET". Both in lower case, as the index has all words:
the group `genes` tells "MET" from "met". Names come from the query expansion, so that there is one
place that knows what a topic's concepts are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.text.markers import codon, spellings
from irplatform_ltr.expansion import KnowledgeFeatures
from irplatform_ltr.matching import Mentions, Passage
from irplatform_ltr.stemmed import StemmedIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from irplatform.plugin import Documents, Resources, Topic
    from irplatform.retrieval.querying.parts import TopicParts
    from irplatform.text import ForwardIndex

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
_FAR = 400.0
"""The distance of what is not together."""
_NOWHERE = 1.5
_ALTERED = (
    "mutation", "mutant", "mutated", "amplification", "amplified", "alteration", "deletion",
    "fusion", "translocation", "rearrangement", "overexpression", "expression", "positive",
    "negative", "status", "variant", "loss", "activation",
)  # fmt: skip


class Concepts(KnowledgeFeatures):
    """Mentions of a topic's disease, genes, variants and drugs, and how close they are.

    For each set of names: mentions in the title and in the abstract, density, first and last
    place; for pairs of sets, least distance, close mentions and their order; how many of the genes
    and variants are there at all; how many names are used; whether disease and gene both are there.
    """

    needs = ("gensim",)
    _index: ForwardIndex
    _stems: StemmedIndex

    def prepare(self, resources: Resources) -> None:
        """Take the forward index; knowledge bases are opened at first use."""
        super().prepare(resources)
        self._index = resources.forward_index()
        self._stems = StemmedIndex.of(resources)

    def names(self) -> tuple[str, ...]:
        """Per set, per pair, and of all together."""
        of_sets = ("title", "abstract", "density", "first", "last")
        return (
            *(f"{kind}_{what}" for kind in KINDS for what in of_sets),
            *(f"{a}_{b}_{what}" for a, b in PAIRS for what in ("distance", "close", "order")),
            "genes_share", "variants_share", "names_used", "disease_and_gene",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """The features."""
        parts = self.options.expander(self._resources).parts(topic)
        rows = self._index.rows(documents.ids)
        words, offsets = self._index.tokens(rows)
        titles = self._index.lengths("title")[rows].astype(np.int64)
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
            columns += _together(mentions[first], mentions[second])
        columns += self._shares(parts, plain, mentions)
        return np.asarray(np.stack(columns, axis=1), dtype=np.float32)

    def _mentions(self, parts: TopicParts, plain: Passage, stems: Passage) -> dict[str, Mentions]:
        disease = parts.disease.synonyms if parts.disease else ()
        genes = [name for gene in parts.genes for name in gene.synonyms]
        context = self.options.plan.context
        codons = (place for v in parts.variants if (place := codon(v)) is not None)
        altered = [word for marker in parts.markers for word in marker.alteration.split()]
        phrases = [name.text for names in parts.phrases for name in names.synonyms]
        named = [marker.words for marker in parts.markers if marker.words and not marker.genes]

        def stemmed(texts: Iterable[str]) -> Mentions:
            return stems.find(self._stems.query_ids(text) for text in texts)

        def written(texts: Iterable[str]) -> Mentions:
            return plain.find(self._index.query_ids(text) for text in texts)

        return {
            "disease_own": stemmed(n.text for n in disease if n.how in ("topic", "spelling")),
            "disease": stemmed(n.text for n in disease if n.how != "narrow"),
            "disease_kind": stemmed(n.text for n in disease),
            "gene_own": written(n.text for n in genes if n.how in ("topic", "spelling")),
            "gene": written(n.text for n in genes),
            "variant": written(form for v in parts.variants for form in spellings(v)),
            "codon": written(codons),
            "alteration": stemmed(altered or _ALTERED),
            "drug": written(drug.text for drug in parts.drugs),
            "words": stemmed([*named, *phrases]),
            "treatment": stemmed(context.treatment),
            "prognosis": stemmed(context.prognosis),
            "people": stemmed(context.people),
        }

    def _shares(
        self, parts: TopicParts, plain: Passage, mentions: Mapping[str, Mentions]
    ) -> list[npt.NDArray[Any]]:
        """Shares of genes and variants that are there, and names in use."""
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
            present([spellings(variant) for variant in parts.variants]),
            np.log1p(mentions["disease_kind"].counts + gene),
            (mentions["disease_kind"].counts > 0) * (gene > 0),
        ]


def _together(first: Mentions, second: Mentions) -> list[npt.NDArray[Any]]:
    """Least distance, close mentions, and which comes first where they are close."""
    gaps = first.gaps(second)
    return [np.log1p(gaps.least(_FAR)), np.log1p(gaps.close(_NEAR)), gaps.order(_NEAR)]
