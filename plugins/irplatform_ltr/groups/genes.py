"""The genes that a document speaks of: the topic's and others.

An article that lists twenty genes says little of each. Symbols are looked for as they are written,
capitals and all: "MET" is a gene, "met" is a word. An alias of several genes is the topic's where
one of them is. Names that are spelled out, and aliases that are words, are the concern of
`concepts`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from irplatform.knowledge import open_knowledge
from irplatform_ltr.expansion import KnowledgeFeatures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from irplatform.plugin import Documents, Topic

_SYMBOL = re.compile(r"(?=.*[A-Z])[A-Z0-9-]{3,8}")
_WORD = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_LATE = 10
"""Mentions of genes before the topic's first one are counted up to here."""
Mention = tuple[str, ...]
"""The genes that a symbol in a text may stand for; aliases of several, such as PD1, for any."""


class Genes(KnowledgeFeatures):
    """How often, where and among how many others a document speaks of the topic's genes."""

    def names(self) -> tuple[str, ...]:
        """Counts of title and abstract, share and place in both."""
        return (
            "title_own", "title_others", "title_own_alone", "abstract_own", "abstract_others",
            "different_others", "focus", "before_first",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
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
        whole = symbols.get(word)
        if whole is not None:
            yield whole
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
    """The genes that each way to write a symbol stands for.

    Of the aliases, those with a letter and a digit: words are too often something else, and numbers
    are. All genes take seconds to read, so they are read once per process.
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
