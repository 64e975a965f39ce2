"""From the parts of a topic and a plan to an expression, and to Lucene's query.

The query is a sum of components, each with its weight in the plan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from irplatform.expansion.evidence import Evidence
from irplatform.expansion.expression import (
    Boolean,
    Boost,
    Constant,
    DisMax,
    Expression,
    Near,
    Phrase,
    Synonyms,
    Words,
    as_json,
)
from irplatform.expansion.lucene_query import Compiler
from irplatform.expansion.plan import weights_for
from irplatform.expansion.topic_parts import TopicReader
from irplatform.knowledge import open_knowledge
from irplatform.lucene.transfer import CONTENTS, TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.data import Topic
    from irplatform.expansion.names import Names, Synonym
    from irplatform.expansion.plan import QueryPlan, Weights
    from irplatform.expansion.topic_parts import TopicParts
    from irplatform.lucene.index import LuceneIndex


_MESH = "mesh"
_MUTATION = (
    "mutation", "mutant", "mutated", "amplification", "alteration", "status", "expression",
    "positive",
)  # fmt: skip
_WORD = re.compile(r"\w+")
_HALF = 0.5
"""Share of each further gene, where the presence of genes counts."""


class Expander:
    """Expands topics; InputError if a knowledge base is not installed."""

    def __init__(
        self, index: LuceneIndex, knowledge_bases: tuple[str, ...], plan: QueryPlan
    ) -> None:
        fingerprint = open_knowledge(knowledge_bases).fingerprint
        self._compiler, self._reader = _tools(index, knowledge_bases, fingerprint)
        self._plan = plan

    def parts(self, topic: Topic) -> TopicParts:
        """The parts of a topic with their names."""
        return self._reader.read(topic, weights_for(topic, self._plan))

    def components(self, topic: Topic) -> list[Component]:
        """The components of a topic's query, including those of weight 0."""
        return components(topic, self.parts(topic), weights_for(topic, self._plan))

    def expression(self, topic: Topic) -> Expression:
        """The query of a topic as an expression."""
        return sum_of(self.components(topic), weights_for(topic, self._plan))

    @staticmethod
    def explained(expression: Expression) -> dict[str, Any]:
        """Return an expression as JSON, with the names that stand in it."""
        return as_json(expression)

    def compiled(self, expression: Expression) -> Any:
        """The Lucene query of an expression; make it in the main thread, see `Compiler`."""
        return self._compiler(expression)

    def query(self, topic: Topic) -> Any:
        """The Lucene query of a topic; make it in the main thread, see `Compiler`."""
        return self._compiler(self.expression(topic))


@lru_cache(maxsize=2)
def _tools(
    index: LuceneIndex, knowledge_bases: tuple[str, ...], fingerprint: str
) -> tuple[Compiler, TopicReader]:
    """Objects that remember names and counts, so that many plans look everything up once."""
    del fingerprint  # knowledge bases that were replaced meanwhile are read anew
    compiler = Compiler(index.analyzer, index.reader_with([TITLE]))  # and with headings
    return compiler, TopicReader(open_knowledge(knowledge_bases), Evidence(compiler))


@dataclass(frozen=True)
class Component:
    """One part of the sum."""

    setting: str
    weight: float
    expression: Expression


def components(topic: Topic, parts: TopicParts, plan: Weights) -> list[Component]:
    """The components of a topic's query, including those of weight 0."""
    others: dict[str, float] = {}
    if parts.disease is None and not parts.markers:
        summands = [
            Component("text.weight", plan.text.weight, _words([parts.query])),
            Component("text.phrase", plan.text.phrase, _phrases(parts, plan)),
            *_treatments(parts, plan),
        ]
    else:
        summands = [*_disease(parts, plan), *_genes(parts, plan), *_context(parts, plan)]
        summands += _treatments(parts, plan)
        others |= dict.fromkeys(_in_query(topic, plan), plan.text.weight)
    summands += [
        Component(f"other.{name}", weight, _words([_flat(topic, name)]))
        for name, weight in (others | plan.other).items()
    ]
    return [component for component in summands if component.expression != Boolean()]


def _in_query(topic: Topic, plan: Weights) -> list[str]:
    """Further fields in the topic's own query, put there by the collection's template.

    They are looked for beside disease and gene, whose words a field may share.
    """
    remaining = _spaced(topic.query)
    parts = {plan.disease.field, plan.gene.field, plan.treatment.field}
    for text in sorted((_spaced(_flat(topic, name)) for name in parts), key=len, reverse=True):
        remaining = remaining.replace(text, " | ", 1) if text.strip() else remaining
    other_names = topic.fields.keys() - parts - plan.other.keys()
    return sorted(
        name
        for name in other_names
        if (text := _spaced(_flat(topic, name))).strip() and text in remaining
    )


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def sum_of(summands: Sequence[Component], plan: Weights) -> Boolean:
    """The sum of components, with the required ones as a condition."""
    conditions = {f"{part}.weight" for part in plan.required}
    needed = tuple(c.expression for c in summands if c.setting in conditions)
    weighted = [component for component in summands if component.weight > 0]
    return Boolean(
        should=tuple(Boost(c.expression, c.weight, c.setting) for c in weighted), filter=needed
    )


def _disease(parts: TopicParts, plan: Weights) -> Iterator[Component]:
    if parts.disease is None:
        return
    names, weights = parts.disease, plan.disease
    if names.synonyms:
        yield Component("disease.weight", weights.weight, _names(names, plan, CONTENTS))
        yield Component("disease.title", weights.title, _names(names, plan, TITLE))
    else:
        yield Component("disease.weight", weights.weight, Words(names.text))
    yield Component("disease.heading", weights.heading, _headings(names))
    yield Component("disease.words", weights.words, _words([parts.described]))


def _genes(parts: TopicParts, plan: Weights) -> Iterator[Component]:
    weights = plan.gene
    anywhere = [_names(gene, plan, CONTENTS) for gene in parts.genes]
    yield Component("gene.weight", weights.weight, _sum(anywhere))
    yield Component("gene.title", weights.title, _sum(_names(g, plan, TITLE) for g in parts.genes))
    variants = (
        Synonyms(tuple((Phrase(form), 1.0) for form in forms), note=forms[0])
        for forms in parts.spellings
    )
    yield Component("gene.variant", weights.variant, _sum(variants))
    altered = " ".join(dict.fromkeys(w for m in parts.markers for w in m.alteration.split()))
    yield Component("gene.alteration", weights.alteration, _words([altered]))
    if altered:
        beside = (Near(tuple(altered.split()), _texts(gene), 3) for gene in parts.genes)
        yield Component("gene.altered", weights.altered, _sum(beside))
    altered_genes = [gene for gene in parts.genes if gene.text not in parts.unaltered]
    mutated = _sum(Near(_MUTATION, _texts(gene), 3) for gene in altered_genes)
    yield Component("gene.mutated", weights.mutated, mutated)
    words = [marker.words for marker in parts.markers if not marker.genes]
    yield Component("gene.words", weights.words, _words(words))
    yield Component("gene.words_title", weights.words_title, _words(words, TITLE))
    yield Component("gene.phrase", weights.phrase, _phrases(parts, plan))
    if parts.disease is not None and parts.disease.synonyms and parts.genes:
        disease = _texts(parts.disease)
        has_disease = Constant(_names(parts.disease, plan, CONTENTS))
        has_gene = DisMax(tuple(map(Constant, anywhere)), _HALF)
        yield Component("near.both", plan.near.both, Boolean(must=(has_disease, has_gene)))
        near = (Near(disease, _texts(gene), plan.near.gaps) for gene in parts.genes)
        yield Component("near.weight", plan.near.weight, _sum(near))


def _treatments(parts: TopicParts, plan: Weights) -> Iterator[Component]:
    weights, treatments = plan.treatment, parts.treatments
    anywhere = [_treatment(names, plan, CONTENTS) for names in treatments]
    in_title = [_treatment(names, plan, TITLE) for names in treatments]
    yield Component("treatment.weight", weights.weight, _sum(anywhere))
    yield Component("treatment.title", weights.title, _sum(in_title))
    yield Component("treatment.heading", weights.heading, _sum(map(_headings, treatments)))
    clauses = [
        Boolean(must=tuple(map(Phrase, names.text.split())), note=f"all of {names.text}")
        if not names.concepts and len(names.text.split()) > 1
        else part
        for names, part in zip(treatments, anywhere, strict=True)
    ]
    yield Component("treatment.named", weights.named, _sum(map(Constant, clauses)))


def _treatment(names: Names, plan: Weights, field: str) -> Expression:
    return _names(names, plan, field) if names.concepts else Words(names.text, field)


def _context(parts: TopicParts, plan: Weights) -> Iterator[Component]:
    context = plan.context
    drugs = tuple(drug.text for drug in parts.drugs)
    for name, words, field, tie in (
        ("treatment_weight", context.treatment, CONTENTS, context.treatment_tie),
        ("treatment_title", context.treatment, TITLE, context.treatment_tie),
        ("prognosis_weight", context.prognosis, CONTENTS, context.tie),
        ("prognosis_title", context.prognosis, TITLE, context.tie),
        ("people_weight", context.people, CONTENTS, context.tie),
        ("headings_weight", context.headings, _MESH, context.tie),
        ("humans", ("Humans",), _MESH, context.tie),
        ("drugs", drugs, CONTENTS, context.tie),
    ):
        if words:
            any_word = tuple(Constant(Phrase(word, field)) for word in words)
            yield Component(f"context.{name}", getattr(context, name), DisMax(any_word, tie))


def _names(names: Names, plan: Weights, field: str) -> Expression:
    return Synonyms(
        tuple(
            (Phrase(name.text, field, note=_note(name)), plan.synonyms.of(name.relation))
            for name in names.synonyms
        ),
        note=names.text,
    )


def _phrases(parts: TopicParts, plan: Weights) -> Expression:
    """Concepts that a text names, by any of their names or by their headings."""
    return _sum(
        expression
        for names in parts.phrases
        for expression in (_names(names, plan, CONTENTS), _headings(names))
        if expression != Boolean()
    )


def _note(name: Synonym) -> str:
    return f"{name.relation}, {name.source}" if name.source else name.relation


def _headings(names: Names) -> Expression:
    if not names.headings:
        return Boolean()
    return DisMax(
        tuple(Constant(Phrase(h.text, _MESH, note=_note(h))) for h in names.headings),
        note=f"headings for {names.text}",
    )


def _words(texts: Iterable[str], field: str = CONTENTS) -> Expression:
    words = " ".join(text for text in texts if text)
    return Words(words, field) if words else Boolean()


def _texts(names: Names) -> tuple[str, ...]:
    return tuple(name.text for name in names.synonyms)


def _sum(parts: Iterable[Expression]) -> Expression:
    summands = tuple(parts)
    return summands[0] if len(summands) == 1 else Boolean(should=summands)


def _flat(topic: Topic, name: str) -> str:
    return " ".join(topic.values(name))
