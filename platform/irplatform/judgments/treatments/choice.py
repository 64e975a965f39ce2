"""Chooses the treatments that are added to a topic: those that tell its relevant articles apart.

A drug that few of the relevant articles name is hardly judged; one that nearly all of them name, or
the query itself, asks for nothing new. Drugs that fewer topics got so far come first, so that
topics do not all ask for the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.collections.collection import Qrels
    from irplatform.judgments.treatments.drugs import Drugs
    from irplatform.plugin import Topic

FIELD = "treatment"
"""The field of a topic that names its treatment."""
MOST = Fraction(7, 10)
"""Share of a topic's relevant articles that may name the drug."""


@dataclass(frozen=True)
class Choice:
    """How many treatments a topic may get.

    Attributes:
        per_topic: topics to make of one at most.
        at_least: relevant articles that name the drug.
    """

    per_topic: int = 2
    at_least: int = 8


@dataclass(frozen=True)
class Treated:
    """A topic with a treatment.

    Attributes:
        source: the topic that it is made of.
        drug: name of the treatment.
        grades: article to grade, of all that are judged.
    """

    source: Topic
    drug: str
    grades: Mapping[str, float]

    @property
    def relevant(self) -> int:
        """How many articles are relevant."""
        return sum(grade > 0 for grade in self.grades.values())


def choose(
    topics: Sequence[Topic], qrels: Qrels, drugs: Drugs, choice: Choice
) -> Iterator[Treated]:
    """Add treatments to topics, in their order.

    Args:
        topics: the topics.
        qrels: their judgments. Relevant articles whose drugs nobody knows are left out.
        drugs: which articles name which drugs.
        choice: how many.
    """
    times_chosen: Counter[str] = Counter()
    for topic in topics:
        grades = {
            article: grade
            for article, grade in qrels.get(topic.id, {}).items()
            if grade <= 0 or article in drugs.of
        }
        relevant = [article for article, grade in grades.items() if grade > 0]
        articles_naming = Counter(drug for article in relevant for drug in drugs.of[article])
        possible = [
            drug
            for drug, times in articles_naming.items()
            if choice.at_least <= times <= MOST * len(relevant)
            and drug.casefold() not in topic.query.casefold()
        ]
        possible.sort(key=lambda drug: (times_chosen[drug], -articles_naming[drug], drug))
        for drug in possible[: choice.per_topic]:
            times_chosen[drug] += 1
            yield Treated(topic, drug, _narrowed(grades, drug, drugs))


def _narrowed(grades: Mapping[str, float], drug: str, drugs: Drugs) -> dict[str, float]:
    """Grades of a topic that asks for a drug, too: what does not name it is not relevant."""
    return {
        article: grade if grade <= 0 or drug in drugs.of[article] else 0
        for article, grade in grades.items()
    }
