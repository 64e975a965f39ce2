"""The demo collection: articles, topics and judgments, made in memory in a fraction of a second."""

from __future__ import annotations

from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING

from irplatform.data import Collection, Corpus, Qrels
from irplatform.plugin import Document, Topic
from irplatform.system.digests import fingerprint
from irplatform_demo.articles import SEED, articles
from irplatform_demo.facts import Relation, relations
from irplatform_demo.naming import plain_finding

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = (
    "The demo collection is synthetic: a program wrote its articles, topics and judgments. Its "
    "scores show that the platform works and mean nothing outside the demo."
)


class DemoCorpus(Corpus):
    """The articles of the demo collection."""

    name = "demo"
    fields = ("mesh",)

    @cached_property
    def fingerprint(self) -> str:
        """Of all that the articles say."""
        texts = [[d.id, d.title, d.abstract, *d.fields["mesh"]] for d in self]
        return fingerprint({"demo": texts})

    def __iter__(self) -> Iterator[Document]:
        return (article.document for article in articles())

    def count(self) -> int:
        """The number of articles."""
        return len(articles())


def demo() -> Collection:
    """The 20 topics to evaluate on; their genes are in no training topic."""
    return _collection("demo", "Synthetic precision medicine articles", "test")


def demo_train() -> Collection:
    """The 40 topics to train on."""
    return _collection("demo-train", "Synthetic precision medicine articles, for training", "train")


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
    chosen = (relation for relation in relations() if relation.topics)
    numbered = ((str(number), relation) for number, relation in enumerate(chosen, start=1))
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


def _qrels(topics: str) -> Qrels:
    qrels: dict[str, dict[str, int]] = {}
    for number, relation in _numbered(topics):
        grades = ((article.document.id, article.grade(relation)) for article in articles())
        qrels[number] = {doc_id: grade for doc_id, grade in grades if grade is not None}
    return qrels
