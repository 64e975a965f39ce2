"""Queries to pre-train on: a few MeSH headings as a query, or a disease and a gene.

All articles with these headings are relevant. Unlike a query of all headings
(`collections.derived`), a query is as short as a person's, and can use other words. Where the
knowledge bases know genes, an article that names one asks for it and for a disease among its
headings, as topics of TREC Precision Medicine do, each pair once.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import click

from irplatform.building.judgments import write_reference
from irplatform.collections.beir import BeirWriter, write_measures
from irplatform.collections.derived import (
    FIELD,
    check_headings,
    counted_documents,
    hash_of,
    split_ids,
)
from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import concept_graph
from irplatform.concepts.graph import ConceptGraph
from irplatform.data import main_headings
from irplatform.errors import InputError
from irplatform.files.writing import atomic_folder
from irplatform.knowledge import open_knowledge
from irplatform.knowledge.model import uninverted
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Corpus
    from irplatform.knowledge import Concept, ConceptKind, Knowledge
MEASURES = ("nDCG@20", "AP", "P@10")
COMMON = 0.05  # headings of more of the articles, such as *Humans*, say too little to be asked for
_FEWEST = 10  # fewer queries cannot be split
_ONCE, _MORE_OFTEN = 1, 2
"""Grades, by how often an article names the gene."""
_OTHER_NAMES = ("preferred", "synonym")


@dataclass(frozen=True)
class HeadingQueries:
    """A folder of heading queries."""

    folder: Path  # where it is
    source: str  # the collection's id
    queries: Mapping[str, int]  # split to its number of queries
    relevant: int  # relevant articles of all queries
    of_genes: int  # queries that ask for a gene
    left_out: int  # queries that too many articles answer
    renamed: int  # headings that are asked for by another name, over all queries

    def as_json(self) -> dict[str, object]:
        """Return its facts, with the collection to pre-train on."""
        counts = {k: v for k, v in vars(self).items() if k not in ("folder", "source")}
        location = {"collection": f"{self.folder}:train", "path": str(self.folder)}
        return {**location, "from": self.source, **counts}


def build_headings(
    source: str,
    out: Path,
    knowledge_bases: Sequence[str] = (),
    *,
    queries: int = 20_000,
    most_headings: int = 3,
    most_relevant: int = 200,
    seed: int = 42,
) -> HeadingQueries:
    """Make a folder of heading queries, with the splits train, dev and test (8:1:1).

    Args:
        source: a collection whose documents have headings, as the user names it.
        out: the folder to make.
        knowledge_bases: installed ones that know other names of headings, or genes.
        queries: most articles that give a query.
        most_headings: of a query.
        most_relevant: queries that more articles answer are left out.
        seed: of all choices.
    """
    with atomic_folder(out) as folder:
        collection = registry().documents_of(source)
        corpus = collection.corpus
        knowledge = open_knowledge(knowledge_bases) if knowledge_bases else None
        check_headings(corpus)
        genes = NamedGenes.of_corpus(corpus, knowledge_bases, knowledge) if knowledge else None
        questions = _questions(corpus, queries, most_headings, seed, genes)
        if not questions:
            raise InputError(
                f"no document of '{collection.id}' has a heading that at most {COMMON:.0%} of the "
                "documents have."
            )
        answers = _answers(corpus, questions, most_relevant, genes)
        qrels = {name: grades for name, grades in answers.items() if len(grades) <= most_relevant}
        if len(qrels) < _FEWEST:
            raise InputError(
                f"only {len(qrels)} queries could be made of '{collection.id}' (left out, since "
                f"more than {most_relevant:,} articles answer them: {len(answers) - len(qrels)}); "
                f"at least {_FEWEST} are needed."
            )
        parts = split_ids(list(qrels), seed)
        renamed = 0
        with BeirWriter(folder) as files:
            for name in qrels:
                headings, gene = questions[name]
                names = [_name(heading, name, seed, knowledge) for heading in headings]
                renamed += sum(a != uninverted(b) for a, b in zip(names, headings, strict=True))
                fields = {FIELD: list(headings)} | ({"gene": gene} if gene else {})
                files.query(name, " ".join([*names, *filter(None, [gene])]), fields)
            for part, ids in parts.items():
                for name in ids:
                    files.judge(part, name, qrels[name])
        write_reference(source, folder, seen_from=out)
        write_measures(folder, MEASURES)
    return HeadingQueries(
        out,
        collection.id,
        {part: len(ids) for part, ids in parts.items()},
        sum(map(len, qrels.values())),
        sum(questions[name].gene is not None for name in qrels),
        len(answers) - len(qrels),
        renamed,
    )


def _questions(
    corpus: Corpus, queries: int, most_headings: int, seed: int, genes: NamedGenes | None
) -> dict[str, _Question]:
    """Queries: the article that gave each to what it asks for, none twice."""
    frequency: Counter[str] = Counter()
    documents = 0

    def articles() -> Iterator[tuple[int, str, list[str]]]:
        nonlocal documents
        for document in counted_documents(corpus, "counting headings"):
            documents += 1
            if headings := main_headings(document.fields.get(FIELD)):
                frequency.update(headings)
                yield hash_of(document.id, seed, "draw"), document.id, headings

    drawn = sorted(heapq.nsmallest(queries, articles()), key=lambda article: article[1])
    weights = {heading: math.log(documents / number) for heading, number in frequency.items()}
    common = {heading for heading, number in frequency.items() if number > COMMON * documents}
    questions: dict[_Question, str] = {}
    for _, name, headings in drawn:
        with_gene = _with_gene(name, headings, weights, seed, genes) if genes else None
        if with_gene and with_gene not in questions:
            questions[with_gene] = name
        elif telling := {
            heading: weights[heading] for heading in headings if heading not in common
        }:
            number = 1 + hash_of(name, seed, "number") % most_headings
            terms = sorted(_sample(name, telling, seed, "heading", number))
            questions.setdefault(_Question(tuple(terms)), name)
    return {name: question for question, name in questions.items()}


class _Question(NamedTuple):
    """The headings and the symbol of the gene that a query asks for."""

    headings: tuple[str, ...]
    gene: str | None = None


def _with_gene(
    name: str, headings: Sequence[str], weights: Mapping[str, float], seed: int, genes: NamedGenes
) -> _Question | None:
    mentions = genes.mentions(name)
    diseases = {
        heading: weights[heading]
        for heading in headings
        if weights[heading] and genes.is_disease(heading)
    }
    if not mentions or not diseases:
        return None
    (disease,) = _sample(name, diseases, seed, "heading", 1)
    (gene,) = _sample(name, mentions, seed, "gene", 1)
    return _Question((disease,), gene)


def _sample(
    name: str, weights: Mapping[str, float], seed: int, purpose: str, number: int
) -> list[str]:
    """A sample by weight without replacement (Efraimidis and Spirakis, 2006)."""

    def arrival(term: str) -> float:
        share = (hash_of(f"{name}\0{term}", seed, purpose) + 1) / 2**64
        return -math.log(share) / weights[term]

    return heapq.nsmallest(number, weights, key=arrival)


def _answers(
    corpus: Corpus, questions: Mapping[str, _Question], most: int, genes: NamedGenes | None
) -> dict[str, dict[str, int]]:
    """Queries to the articles that have all they ask for, with grades, little more than `most`."""
    having: defaultdict[str, list[str]] = defaultdict(list)
    frequency = Counter(heading for question in questions.values() for heading in question.headings)
    for name, question in questions.items():
        having[min(question.headings, key=frequency.__getitem__)].append(name)
    answers: dict[str, dict[str, int]] = {name: {} for name in questions}
    for document in counted_documents(corpus, "looking for articles with these headings"):
        headings = set(main_headings(document.fields.get(FIELD)))
        mentions = genes.mentions(document.id) if genes and not headings.isdisjoint(having) else {}
        for heading in headings:
            for name in having.get(heading, ()):
                gene = questions[name].gene
                if (
                    len(answers[name]) <= most
                    and headings.issuperset(questions[name].headings)
                    and (gene is None or gene in mentions)
                ):
                    often = gene is not None and mentions[gene] > 1
                    answers[name][document.id] = _MORE_OFTEN if often else _ONCE
    return answers


def _name(heading: str, query: str, seed: int, knowledge: Knowledge | None) -> str:
    """One of the names of a heading's concept, its own among them, as it would be said."""
    names = {uninverted(heading)}
    for concept in knowledge.find(heading) if knowledge is not None else ():
        if is_called(concept, heading):
            names.update(
                name.text
                for name in concept.names
                if name.kind in _OTHER_NAMES and ", " not in name.text
            )
    return sorted(names)[hash_of(f"{query}\0{heading}", seed, "name") % len(names)]


class NamedGenes:
    """The genes of articles, as the document–concept graph links them."""

    def __init__(self, graph: ConceptGraph, knowledge: Knowledge) -> None:
        self._graph = graph
        self._gene = graph.kinds == graph.KINDS.index("gene")
        self._knowledge = knowledge
        self._symbol = cache(self._symbol_of)
        self.is_disease = cache(self._is_disease)

    @classmethod
    def of_corpus(
        cls, corpus: Corpus, names: Sequence[str], knowledge: Knowledge
    ) -> NamedGenes | None:
        """Those of a corpus, or None where the knowledge bases know no genes, or no diseases."""
        if not _knows(knowledge, "gene"):
            return None
        if not _knows(knowledge, "disease"):
            click.echo(
                f"{', '.join(names)}: nothing asks for a gene and a disease, since no diseases are "
                "known. Name a knowledge base of them first, such as mesh.",
                err=True,
            )
            return None
        options = ConceptOptions(knowledge=tuple(names))
        return cls(ConceptGraph(concept_graph(corpus, options).path), knowledge)

    def mentions(self, document_id: str) -> dict[str, int]:
        """Return the symbols of the genes that an article names, and how often it does."""
        row = self._graph.row_of(document_id)
        if row is None:
            return {}
        start, end = self._graph.documents.indptr[row : row + 2]
        concepts = self._graph.documents.indices[start:end]
        counts = self._graph.documents.counts[start:end]
        genes = self._gene[concepts]
        symbols: Counter[str] = Counter()  # two genes may have the same symbol
        for concept, count in zip(concepts[genes], counts[genes], strict=True):
            symbols[self._symbol(int(concept))] += int(count)
        return dict(symbols)

    def _symbol_of(self, concept: int) -> str:
        """A gene's best name of one word: a heading may be its preferred one."""
        names = self._graph.table.ranked_names_of(concept)
        symbol, _ = min(names, key=lambda name: (" " in name[0], name[1]))
        return symbol

    def _is_disease(self, heading: str) -> bool:
        concepts = self._knowledge.find(heading)
        return any(
            concept.kind == "disease" and is_called(concept, heading) for concept in concepts
        )


def _knows(knowledge: Knowledge, kind: ConceptKind) -> bool:
    return next(iter(knowledge.concepts(kind)), None) is not None


def is_called(concept: Concept, heading: str) -> bool:
    """Return whether a heading is a concept's preferred name, in capitals or not."""
    return concept.name.casefold() == heading.casefold()
