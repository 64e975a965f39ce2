"""The demo collection: articles, topics and judgments, made in memory in a fraction of a second.

Pseudo-random numbers come from `random.Random` seeded with strings, and all loops go over tables in
their order, so that the articles are the same to the byte on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from random import Random
from typing import TYPE_CHECKING

from irplatform.plugin import Collection, Corpus, Document, Topic
from irplatform_demo.texts import (
    Relation,
    Style,
    choose_names,
    plain_finding,
    relations,
    write_article,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SEED = "irplatform demo 1"
_PLAN: Mapping[str, int] = {
    "treatment": 6,
    "survey": 3,
    "cells": 2,
    "animals": 2,
    "assay": 2,
    "excluded": 2,
}
"""Articles of each kind about each relation."""
_UNRELATED = 9  # articles about each disease that concern no gene
_STYLES: Mapping[str, tuple[float, float]] = {
    "treatment": (0.5, 0.3),
    "survey": (0.5, 0.3),
    "unrelated": (0.6, 0.2),
}
"""Share of articles of a kind that name things plainly, and in short; the rest use other names."""
_OTHER_STYLES = (0.4, 0.3)
_HEADINGS: Mapping[str, tuple[str, ...]] = {
    "treatment": ("Humans", "Antineoplastic Agents", "Treatment Outcome"),
    "survey": ("Humans", "Prognosis", "Cohort Studies"),
    "cells": ("Humans", "Cell Line, Tumor", "Signal Transduction"),
    "animals": ("Animals", "Mice", "Disease Models, Animal"),
    "assay": ("Humans", "DNA Mutational Analysis", "Sensitivity and Specificity"),
    "excluded": ("Humans", "Chemotherapy, Adjuvant", "Treatment Outcome"),
    "unrelated": ("Humans", "Registries", "Quality of Life"),
}
NOTE = (
    "The demo collection is synthetic: a program wrote its articles, topics and judgments. Its "
    "scores show that the platform works and mean nothing outside the demo."
)


def demo() -> Collection:
    """The 20 topics to evaluate on; their genes are in no training topic."""
    return _collection("demo", "Synthetic precision medicine articles", "test")


def demo_train() -> Collection:
    """The 40 topics to train on."""
    return _collection("demo-train", "Synthetic precision medicine articles, for training", "train")


class DemoCorpus(Corpus):
    """The articles of the demo collection."""

    name = "demo"
    fields = ("mesh",)
    fingerprint = "ebb2ba96066d3fc9"
    """Of the articles, so that commands need not write them; a test holds it."""

    def __iter__(self) -> Iterator[Document]:
        return (article.document for article in articles())

    def count(self) -> int:
        return len(articles())


def _collection(name: str, title: str, topics: str) -> Collection:
    return Collection(
        id=name,
        title=title,
        corpus=DemoCorpus(),
        load_topics=partial(_topics, topics),
        load_qrels=partial(_qrels, topics),
        measures=("nDCG@20", "AP", "P@10", "RR"),
        training=None if topics == "train" else demo_train,
        note=NOTE,
        metadata={"source": "generated from tables of facts (HGNC, MeSH, Disease Ontology, CIViC)"},
    )


def _numbered(topics: str) -> Iterator[tuple[str, Relation]]:
    topic_relations = (relation for relation in relations() if relation.topics)
    numbered = ((str(number), relation) for number, relation in enumerate(topic_relations, start=1))
    return ((number, relation) for number, relation in numbered if relation.topics == topics)


def _topics(topics: str) -> list[Topic]:
    return [_topic(number, relation) for number, relation in _numbered(topics)]


def _topic(number: str, relation: Relation) -> Topic:
    rng = Random(f"{SEED} topic {number}")
    finding = plain_finding(relation)
    return Topic(
        number,
        f"{relation.disease.name} {finding}",
        {
            "disease": relation.disease.name,
            "gene": finding,
            "demographic": f"{rng.randint(24, 83)}-year-old {rng.choice(('female', 'male'))}",
        },
    )


def _qrels(topics: str) -> dict[str, dict[str, int]]:
    about: dict[str, list[Article]] = {}
    for article in articles():
        relation = article.relation
        for name in {relation.disease.name, relation.disease.parent, relation.gene.symbol}:
            about.setdefault(name, []).append(article)
    qrels: dict[str, dict[str, int]] = {}
    for number, relation in _numbered(topics):
        near = {a.id: a for n in (relation.disease.name, relation.gene.symbol) for a in about[n]}
        grades = ((doc_id, near[doc_id].grade(relation)) for doc_id in sorted(near))
        qrels[number] = {doc_id: grade for doc_id, grade in grades if grade is not None}
    return qrels


@dataclass(frozen=True)
class Article:
    """An article, and the facts that it is made from; judgments need these alone."""

    id: str
    kind: str
    relation: Relation
    number: int

    @cached_property
    def document(self) -> Document:
        """Its title, abstract and headings, written at first use."""
        kind, relation = self.kind, self.relation
        about = f"{relation.gene.symbol} {relation.variant} {relation.disease.name}"
        rng = Random(f"{SEED} {kind} {about} {self.number}")
        names = choose_names(relation, (_style(kind, rng), _style(kind, rng)), rng)
        title, abstract = write_article(kind, relation, names, rng)
        headings = [relation.disease.heading, *_HEADINGS[kind]]
        if kind != "unrelated":
            headings.insert(1, f"{relation.gene.heading} / genetics")
        return Document(self.id, title, abstract, {"mesh": tuple(headings)})

    def grade(self, topic: Relation) -> int | None:
        """Its relevance to a topic: 2, 1, 0, or None (not judged).

        2 for the treatment of the topic's disease with its variant; 1 for treatment with another
        variant of the gene, and for prognosis or frequency with the topic's own; 0 for the rest
        that share disease or gene; None for what shares neither.
        """
        disease = self.relation.disease
        about_disease = topic.disease.name in (disease.name, disease.parent)
        about_gene = self.kind != "unrelated" and self.relation.gene == topic.gene
        if not (about_disease or about_gene):
            return None
        if not (about_disease and about_gene):
            return 0
        same_variant = self.relation.variant == topic.variant
        if self.kind == "treatment":
            return 2 if same_variant else 1
        return 1 if self.kind == "survey" and same_variant else 0


@cache
def articles() -> tuple[Article, ...]:
    """All articles, in an order that tells nothing about them."""
    plan = [
        (kind, relation, number)
        for relation in relations()
        for kind, count in _PLAN.items()
        for number in range(count)
    ]
    by_disease = {relation.disease.name: relation for relation in relations()}
    plan += [
        ("unrelated", relation, n) for relation in by_disease.values() for n in range(_UNRELATED)
    ]
    Random(f"{SEED} order").shuffle(plan)
    return tuple(Article(f"demo{i:04}", *entry) for i, entry in enumerate(plan, start=1))


def _style(kind: str, rng: Random) -> Style:
    plain, short = _STYLES.get(kind, _OTHER_STYLES)
    drawn = rng.random()
    return "plain" if drawn < plain else "short" if drawn < plain + short else "other"
