"""Which of the drugs that articles name are treatments, and what to call them.

Knowledge bases have glucose, paraffin and antibodies among their drugs. A treatment is what some
source relates to a gene or a disease, and it has a name of its own: *MEK inhibitors* are a class,
LY294002 is a substance that nobody has named yet.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.names import literal_key, stored_key, without_salt

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from irplatform.concepts.table import ConceptTable
    from irplatform.judgments.treatments.linking import Found
    from irplatform.knowledge import Knowledge

RELATIONS = ("drug-gene", "drug-disease")
"""Relations that make a drug a treatment."""

_NAME = re.compile(r"[A-Za-z][a-z]{4}")
"""What a name has and a code has not: imatinib, not STI571."""
_CLASS = re.compile(
    r"(?:agent|agonist|antagonist|antibody|blockade|blocker|drug|inhibitor|platinum|radiation|"
    r"therapy)$"
)
_PLURALS = 0.01
"""Share of plurals among the mentions of a class: taxanes; a drug has none but by a slip."""


@dataclass(frozen=True)
class Drugs:
    """The treatments that articles name.

    Attributes:
        of: article to the names of its treatments.
        found: how many drugs the articles name, treatments or not.
    """

    of: Mapping[str, frozenset[str]]
    found: int


def related_drugs(table: ConceptTable, knowledge: Knowledge) -> frozenset[int | None]:
    """The drugs that some knowledge base relates to a gene or a disease.

    Raises:
        InputError: there are none.
    """
    related = frozenset(
        table.concept_of(source)
        for base in knowledge.bases
        for source, _, kind in base.relation_ends()
        if kind in RELATIONS
    )
    if not related:
        names = ", ".join(base.name for base in knowledge.bases)
        raise InputError(
            f"the knowledge bases ({names}) relate no drug to a gene or a disease, which tells "
            "treatments from other substances. Add one that does to --kb, such as civic or dgidb."
        )
    return related


def treatments(
    found: Found, related: Collection[int | None], table: ConceptTable, knowledge: Knowledge
) -> Drugs:
    """The treatments among the drugs that articles name.

    What the knowledge bases have under several ids (`Knowledge.same_as`) is one drug, and so are
    its salts.

    Args:
        found: article to the drugs that it names.
        related: the concepts that make a drug a treatment, see `related_drugs`.
        table: the concepts.
        knowledge: what they are made of.
    """
    concepts = {concept for mentions in found.values() for concept, _ in mentions}
    drug_of = _one_each(concepts, table, knowledge)
    spelled: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for mentions in found.values():
        for (concept, text), times in mentions.items():
            spelled[drug_of[concept]][text] += times
    treating = {drug for concept, drug in drug_of.items() if concept in related}
    names = {
        drug: name
        for drug, texts in sorted(spelled.items())
        if drug in treating and (name := drug_name(texts)) is not None
    }
    of = {
        article: frozenset(names[drug_of[c]] for c, _ in mentions if drug_of[c] in names)
        for article, mentions in found.items()
    }
    return Drugs(of, len(spelled))


def drug_name(texts: Mapping[str, int]) -> str | None:
    """What to call a drug; None for a class of drugs, and for one without a name of its own.

    Args:
        texts: how articles write it, and how often.

    Returns:
        The most frequent of its names, one that begins with a letter if there is any: fluorouracil,
        not 5-fluorouracil.
    """
    names = {text: times for text, times in sorted(texts.items()) if _NAME.search(text)}
    mentions: Counter[str] = Counter()
    plurals = 0
    for text, times in names.items():
        mentions[stored_key(text)] += times
        plurals += times * (stored_key(text) != literal_key(text))
    best = max(mentions, key=lambda key: (key[0].isalpha(), mentions[key]), default=None)
    if best is None or _CLASS.search(best) or plurals >= _PLURALS * mentions.total():
        return None
    return max((text for text in names if stored_key(text) == best), key=names.__getitem__)


def _one_each(
    concepts: Collection[int], table: ConceptTable, knowledge: Knowledge
) -> Mapping[int, int]:
    """The drug of each concept: the first of the concepts that are the same, or its salts."""
    drug_of = {concept: concept for concept in sorted(concepts)}
    for concept in drug_of:
        same = knowledge.same_as(table.ids[concept])
        base = without_salt(table.names[concept])
        if base != table.names[concept]:
            same += [each for each in knowledge.find(base) if each.kind == "drug"]
        others = {table.concept_of(each.id) for each in same}
        met = {drug_of[other] for other in {concept, *others} if other in drug_of}
        if len(met) > 1:
            drug_of.update({other: min(met) for other, drug in drug_of.items() if drug in met})
    return drug_of
