"""Properties of a document, and the age and sex of its patients against the topic's.

Headings and words were chosen for what they say about an article (studies of patients, treatment
and prognosis against cell lines and mice), not for any topic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from irplatform.kit import BM25, ForwardIndex
from irplatform.plugin import (
    Document,
    Documents,
    FeatureGroup,
    Field,
    Options,
    Resources,
    Topic,
    Traits,
)
from irplatform_ltr.matching import StemmedIndex, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import Float32, Int64

    TextField = Literal["title", "abstract", "text"]


HEADINGS = (
    "Humans", "Animals", "Mice", "Cell Line, Tumor", "Female", "Male", "Adult", "Aged",
    "Middle Aged", "Child", "Treatment Outcome", "Prognosis", "Disease-Free Survival",
    "Survival Analysis", "Survival Rate", "Kaplan-Meier Estimate", "Molecular Targeted Therapy",
    "Protein Kinase Inhibitors", "Antineoplastic Agents",
    "Antineoplastic Combined Chemotherapy Protocols", "Drug Resistance, Neoplasm", "Mutation",
    "Biomarkers, Tumor", "Retrospective Studies", "Precision Medicine", "Immunohistochemistry",
    "Signal Transduction", "Apoptosis", "Cell Proliferation", "Immunotherapy",
)  # fmt: skip
WORDS = (
    "patient", "treatment", "therapy", "trial", "phase", "inhibitor", "resistance", "response",
    "survival", "prognosis", "prognostic", "outcome", "clinical", "efficacy", "randomized",
    "cohort", "case", "tumor", "metastatic", "advanced", "targeted", "combination", "dose",
    "toxicity", "progression", "recurrence", "biomarker", "mutation", "immunotherapy",
    "chemotherapy", "diagnosis", "risk", "review", "guideline", "mice", "mouse", "xenograft",
    "cell", "vitro", "vivo", "expression", "pathway", "signaling", "apoptosis", "proliferation",
    "polymorphism", "association", "model", "rat", "gene", "sensitivity", "predict",
)  # fmt: skip


class DocumentOptions(Options):
    """Options of the document's properties."""

    headings: tuple[str, ...] = Field(HEADINGS, description="headings that are looked for")
    words: tuple[str, ...] = Field(WORDS, description="words that are looked for, by their stems")
    headings_field: str = Field("mesh", description="the documents' field with their headings")
    year_field: str = Field("year", description="the documents' field with their year")
    type_field: str = Field("publication_types", description="documents' field with their types")


class DocumentProperties(FeatureGroup):
    """Length, year, publication types, headings and telling words of a document.

    A heading counts where its words stand in a row in one of the document's: "Adult" in "Young
    Adult", too. Lucene finds headings faster than reading documents would.
    """

    Options = DocumentOptions
    options: DocumentOptions
    _resources: Resources
    _stems: StemmedIndex

    def traits(self) -> Traits:
        return Traits(packages=("gensim",))

    def prepare(self, resources: Resources) -> None:
        self._resources = resources
        self._stems = StemmedIndex.of(resources)

    def names(self) -> tuple[str, ...]:
        return (
            "title_length", "abstract_length", "year", "review", "trial", "case_report",
            "any_heading",
            *(f"heading {name}" for name in self.options.headings),
            *(f"word {name}" for name in self.options.words),
            *(f"title {name}" for name in self.options.words),
        )  # fmt: skip

    def compute_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        matrices = []
        for (_, documents), headings in zip(batch, self._headings(batch), strict=True):
            rows = self._stems.rows(documents.ids)
            columns = [
                *(np.log1p(self._stems.lengths(field, rows)) for field in ("title", "abstract")),
                *self._years_and_types(documents).T,
                *headings.T,
                *self._counts(rows),
            ]
            matrices.append(np.asarray(np.stack(columns, axis=1), dtype=np.float32))
        return matrices

    def _headings(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:
        """1 where documents have any of our headings, and each: [documents, 1 + headings]."""
        if ForwardIndex.given_texts() is not None:
            return [self._headings_of_texts(documents) for _, documents in batch]
        if not self._has(self.options.headings_field):
            width = 1 + len(self.options.headings)
            return [np.zeros((len(docs), width), dtype=np.float32) for _, docs in batch]
        index = self._resources.index()
        queries = index.heading_queries(self.options.headings_field, self.options.headings)
        requests = [(documents.ids, queries) for _, documents in batch]
        scores = index.scores(requests, BM25(), self._resources.threads)
        has_heading = [(values > 0).astype(np.float32) for values in scores]
        return [np.hstack([h.max(axis=1, keepdims=True, initial=0), h]) for h in has_heading]

    def _headings_of_texts(self, documents: Documents) -> Float32:
        """The same of texts, which Lucene does not know."""
        headings = [_in_a_row(heading) for heading in self.options.headings]
        values = np.zeros((len(documents), 1 + len(headings)), dtype=np.float32)
        for row, document in zip(values, documents, strict=True):
            texts = [_in_a_row(text) for text in document.values(self.options.headings_field)]
            row[1:] = [any(heading in text for text in texts) for heading in headings]
            row[0] = row[1:].max(initial=0)
        return values

    def _years_and_types(self, documents: Documents) -> npt.NDArray[np.float64]:
        values = np.zeros((len(documents), 4))
        if self._has(self.options.year_field) or self._has(self.options.type_field):
            values[:] = [self._year_and_types(document) for document in documents]
        return values

    def _has(self, field: str) -> bool:
        return (
            ForwardIndex.given_texts() is not None
            or self._resources.index().documents_with(field) > 0
        )

    def _year_and_types(self, document: Document) -> tuple[float, ...]:
        types = " ".join(document.values(self.options.type_field)).lower()
        years = " ".join(document.values(self.options.year_field))
        year = re.search(r"(?:19|20)\d\d", years)
        kinds = (float(kind in types) for kind in ("review", "trial", "case report"))
        return (float(year[0]) - 2000 if year else 0.0, *kinds)

    def _counts(self, rows: Int64) -> list[npt.NDArray[np.float64]]:
        stems = (self._stems.query_ids(word) for word in self.options.words)
        numbers = np.array([int(ids[0]) if len(ids) else -1 for ids in stems], dtype=np.int64)
        text, title = self._table(rows, "text", numbers), self._table(rows, "title", numbers)
        return [*np.log1p(text), *(title > 0).astype(np.float64)]

    def _table(self, rows: Int64, field: TextField, numbers: Int64) -> npt.NDArray[np.float64]:
        words, offsets = self._stems.tokens(rows, field)
        # Two words may have one stem.
        stems, place_of = np.unique(numbers, return_inverse=True)
        counts = np.zeros((len(stems), len(rows)))
        if len(stems):
            place = np.minimum(np.searchsorted(stems, words), len(stems) - 1)
            hit = np.flatnonzero(stems[place] == words)
            document = np.searchsorted(offsets, hit, side="right") - 1
            np.add.at(counts, (place[hit], document), 1)
        return np.asarray(counts[place_of])


def _in_a_row(text: str) -> str:
    """The stems of a text, so that one text is in another where its words stand in a row."""
    return f" {' '.join(stems(text))} "


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
_UNITS = {"m": 12, "w": 52, "d": 365}  # how many of a unit make a year, by its first letter
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
    """The person that a topic is about."""

    age: float | None  # in years; None if unknown
    sex: str  # "female", "male", or "" if unknown

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
    """A document's age groups, stages of life and sexes against the topic's.

    No document repeats "82-year-old male". Articles have MeSH's age groups and sexes, words for
    stages of life, and written ages.
    """

    Options = DemographicsOptions
    options: DemographicsOptions

    def lacks(self, topics: Sequence[Topic]) -> str:
        people = [self._person(topic) for topic in topics]
        if any(person.age is not None or person.sex for person in people):
            return ""
        return f"the training topics have no field {self.options.field} with an age or a sex."

    def names(self) -> tuple[str, ...]:
        return (
            "age_heading", "other_age_headings", "age_distance", "sex_heading", "other_sex_alone",
            "stage_words", "other_stage_words", "title_stage", "title_other_stage",
            "sex_words", "other_sex_words", "written_age", "any_written_age",
        )  # fmt: skip

    def compute(self, topic: Topic, documents: Documents) -> Float32:
        person = self._person(topic)
        values = [
            [*self._by_headings(person, document), *_by_words(person, document)]
            for document in documents
        ]
        return np.asarray(values, dtype=np.float32).reshape(len(documents), len(self.names()))

    def _person(self, topic: Topic) -> Person:
        return Person.read(" ".join(topic.values(self.options.field)))

    def _by_headings(self, person: Person, document: Document) -> list[float]:
        """1 where an age group fits, where only others do, decades to the nearest; sexes alike."""
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
    text = document.text
    own_stages, other_stages = person.stages()
    values = [
        float(np.log1p(sum(len(_STAGES[stage].findall(passage)) for stage in stages)))
        for passage in (text, document.title)
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
