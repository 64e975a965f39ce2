"""Age, sex and treatment that a topic asks for, in documents.

A topic says "82-year-old male" in a word or two that no document repeats, and an article about
children is no answer to it. What an article says of its patients is found in MeSH's age groups
and sexes, in words for stages of life, and in ages that are written out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.plugin import Document, Documents, FeatureGroup, Field, Options, Topic
from irplatform_ltr.groups.first_stage import ScoresOfParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


AGE_GROUPS = {
    "Infant, Newborn": (0, 0), "Infant": (0, 1), "Child, Preschool": (2, 5), "Child": (6, 12),
    "Adolescent": (13, 18), "Young Adult": (19, 24), "Adult": (19, 44), "Middle Aged": (45, 64),
    "Aged": (65, 79), "Aged, 80 and over": (80, 120),
}  # fmt: skip
"""MeSH's age groups in years, both ends included (MeSH's scope notes)."""
_SEXES = {"female": "Female", "male": "Male"}
_GROWN = 19
_OLD = 65

_AGE = re.compile(
    r"(\d{1,3})\+?[-\s]*(years?|yrs?|y[./]?o|months?|mos?|weeks?|wks?|days?)(?![a-z])",
    re.IGNORECASE,
)
_BY_ITSELF = re.compile(
    r"(?:age[d:]?|old|fe|male|woman|man|girl|boy|[FM]|\W)*(\d{1,3})"
    r"(?:age|old|fe|male|woman|man|girl|boy|[FM]|\W)*",
    re.IGNORECASE,
)
"""A number that only sexes stand beside: "F, 34", "52F", "male, age 45"."""
_UNITS = {"m": 12, "w": 52, "d": 365}
"""How many of a unit make a year, by its first letter."""
_WRITTEN_AGE = re.compile(r"\b(\d{1,3})[-\s](?:year|yr)s?[-\s]old\b", re.IGNORECASE)


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


_STAGES = {
    "child": _words("child|children|childhood|pa?ediatric|infants?|infancy|newborns?|adolescents?"),
    "adult": _words("adults?|adulthood"),
    "old": _words("elderly|older|octogenarians?"),
}
_SEX_WORDS = {"female": _words("wom[ae]n|females?|girls?"), "male": _words("m[ae]n|males?|boys?")}
_SEX_LETTERS = {sex: re.compile(rf"(?<![A-Za-z]){sex[0].upper()}(?![A-Za-z])") for sex in _SEXES}
_BABY = _words("newborn|neonate|infant")


@dataclass(frozen=True)
class Person:
    """Whom a topic is about.

    Attributes:
        age: in years; None where it is not told.
        sex: "female", "male", or "" where it is not told.
    """

    age: float | None
    sex: str

    @classmethod
    def read(cls, text: str) -> Person:
        """From words such as "64-year-old male", "a girl of 7 months" or "F, 34"."""
        sexes = [sex for sex, words in _SEX_WORDS.items() if words.search(text)]
        sexes = sexes or [sex for sex, letter in _SEX_LETTERS.items() if letter.search(text)]
        return cls(_age(text), sexes[0] if len(sexes) == 1 else "")

    def stages(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Stages of life whose words speak for a document, and those that speak against it."""
        if self.age is None:
            return (), ()
        if self.age < _GROWN:
            return ("child",), ("adult", "old")
        # An article about adults may well be about older ones, whether it says so or not.
        return ("old",) if self.age >= _OLD else ("adult",), ("child",)


def _age(text: str) -> float | None:
    if match := _AGE.search(text):
        return int(match[1]) / _UNITS.get(match[2][0].lower(), 1)
    if match := _BY_ITSELF.fullmatch(text):
        return int(match[1])
    return 0.0 if _BABY.search(text) else None


class DemographicsOptions(Options):
    """Options of the demographics."""

    field: str = Field("demographic", description="the topics' field with age and sex")
    headings_field: str = Field("mesh", description="the documents' field with their headings")


class Demographics(FeatureGroup):
    """A document's age groups, stages of life and sexes against the topic's."""

    Options = DemographicsOptions
    options: DemographicsOptions

    def lacks(self, topics: Sequence[Topic]) -> str:
        """Ages or sexes."""
        people = [self._person(topic) for topic in topics]
        if any(person.age is not None or person.sex for person in people):
            return ""
        return f"the training topics have no field {self.options.field} with an age or a sex."

    def names(self) -> tuple[str, ...]:
        """Headings, words, ages."""
        return (
            "age_heading", "other_age_headings", "age_distance", "sex_heading", "other_sex_alone",
            "stage_words", "other_stage_words", "title_stage", "title_other_stage",
            "sex_words", "other_sex_words", "written_age", "any_written_age",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """The features; those of what the topic does not tell are 0."""
        person = self._person(topic)
        values = [
            [*self._by_headings(person, document), *_by_words(person, document)]
            for document in documents
        ]
        return np.asarray(values, dtype=np.float32).reshape(len(documents), len(self.names()))

    def _person(self, topic: Topic) -> Person:
        return Person.read(" ".join(topic.values(self.options.field)))

    def _by_headings(self, person: Person, document: Document) -> list[float]:
        """Whether an age group fits, whether others alone do, how many decades off the nearest is.

        Then the same of the sexes, without a distance.
        """
        headings = set(document.values(self.options.headings_field))
        values = [0.0] * 5
        groups = [AGE_GROUPS[name] for name in AGE_GROUPS if name in headings]
        if person.age is not None and groups:
            years = int(person.age)
            off = min(max(first - years, years - last, 0) for first, last in groups)
            values[:3] = [float(off == 0), float(off > 0), off / 10]
        if person.sex:
            fits = _SEXES[person.sex] in headings
            values[3:] = [float(fits), float(not fits and not headings.isdisjoint(_SEXES.values()))]
        return values


def _by_words(person: Person, document: Document) -> list[float]:
    """Words for the topic's stage of life and sex and for others, and the nearest written age."""
    text = document.text
    own_stages, other_stages = person.stages()
    values = [
        float(np.log1p(sum(len(_STAGES[stage].findall(where)) for stage in stages)))
        for where in (text, document.title)
        for stages in (own_stages, other_stages)
    ]
    for sex in ("female", "male") if person.sex == "female" else ("male", "female"):
        count = len(_SEX_WORDS[sex].findall(text)) if person.sex else 0
        values.append(float(np.log1p(count)))
    ages = [int(years) for years in _WRITTEN_AGE.findall(text)]
    if person.age is None or not ages:
        return [*values, 0.0, 0.0]
    nearest = min(abs(years - person.age) for years in ages)
    return [*values, 1 / (1 + nearest / 10), 1.0]


class Treatment(ScoresOfParts):
    """Scores of the expanded query's parts for a treatment, as topics of TREC PM 2020 name."""

    parts = ("treatment.weight", "treatment.title", "treatment.heading", "treatment.named")

    def lacks(self, topics: Sequence[Topic]) -> str:
        """The field with treatments, or knowledge bases."""
        return self.options.lacking(topics, (self.options.plan.treatment.field,))
