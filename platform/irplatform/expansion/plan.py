"""Query plans: how a topic becomes a query, with fields, weights, required parts and expansions.

A TOML file or settings such as `bm25.plan.gene.weight=2` change the defaults. Weights multiply BM25
scores, except those of words, headings, drugs and proximity, which count by presence. Scores look
better on topics that a plan was chosen on. So a plan may bring folds (cross-fitting: Chernozhukov
et al., Econometrics Journal 2018): topics with weights that were chosen on the others. The default
plan has folds for TREC Precision Medicine 2018; a changed plan has only its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from irplatform.errors import InputError, unknown
from irplatform.files.digests import fingerprint
from irplatform.files.formats import read_toml
from irplatform.options import Options, first_problem, setting_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.data import Topic
    from irplatform.expansion.names import NameRelation


Part = Literal["disease", "gene", "treatment"]


def _weight(default: float, description: str) -> float:
    value: float = Field(default, ge=0, le=100, description=f"weight of {description}")
    return value


class SynonymWeights(Options):
    """The weight of a name by its relation to the topic's name, which counts 1."""

    synonym: float = _weight(1.0, "synonyms")
    narrow: float = _weight(0.5, "kinds of the disease")
    alias: float = _weight(0.6, "a gene's aliases and former symbols")

    def of(self, relation: NameRelation) -> float:
        """The weight of a name."""
        if relation in ("alias", "previous"):
            return self.alias
        return {"synonym": self.synonym, "narrow": self.narrow}.get(relation, 1.0)


class DiseasePart(Options):
    """The disease."""

    field: str = Field("disease", description="the topic's field with the disease")
    weight: float = _weight(1.0, "its names in title and abstract")
    title: float = _weight(0.7, "its names in the title, beside that")
    heading: float = _weight(0.2, "a MeSH heading for it or a kind of it")
    kinds: int = Field(40, ge=0, le=1000, description="most names of kinds of the disease")
    words: float = _weight(0.1, "all words of the field, where a part of it is the disease")


class GenePart(Options):
    """Genes and their variants, from a field such as "KRAS (G13D), BRAF (V600E)"."""

    field: str = Field("gene", description="the topic's field with genes and variants")
    weight: float = _weight(1.5, "a gene's names in title and abstract")
    title: float = _weight(0.2, "a gene's names in the title, beside that")
    variant: float = _weight(0.3, "a variant, in any spelling")
    alteration: float = _weight(0.3, "words such as amplification")
    altered: float = _weight(0.5, "such words beside the gene")
    words: float = _weight(0.7, "what names no gene")
    words_title: float = _weight(0.3, "what names no gene, in the title")
    mutated: float = _weight(0.1, "words of mutation beside the gene")
    phrase: float = _weight(0.5, "a concept among what names no gene")
    agreement: float = Field(
        0.1, ge=0, le=1, description="share of an alias's documents that must confirm it"
    )


class NearPart(Options):
    """Disease and gene together, and close to each other."""

    both: float = _weight(0.5, "having both at all")
    weight: float = _weight(0.2, "a gene near the disease")
    gaps: int = Field(20, ge=0, le=1000, description="most words between the two")


class TreatmentPart(Options):
    """The treatments that a topic asks about, as those of TREC Precision Medicine 2020 do."""

    field: str = Field("treatment", description="the topic's field with treatments")
    weight: float = _weight(0.3, "a treatment's names in title and abstract")
    title: float = _weight(0.0, "a treatment's names in the title, beside that")
    heading: float = _weight(0.0, "a MeSH heading for it")
    named: float = _weight(4.0, "having any of its names at all")
    agreement: float = Field(
        0.1, ge=0, le=1, description="share of a short name's documents that must confirm it"
    )


class ContextPart(Options):
    """Words and headings that mark articles about treating patients."""

    treatment: tuple[str, ...] = Field(
        (
            "treatment", "treated", "therapy", "therapeutic", "targeted", "inhibitor", "drug",
            "chemotherapy",
        ),
        description="words of treatment",
    )  # fmt: skip
    treatment_weight: float = _weight(0.2, "words of treatment")
    treatment_tie: float = Field(0.0, ge=0, le=1, description="share of each further one of them")
    treatment_title: float = _weight(0.2, "words of treatment in the title")
    prognosis: tuple[str, ...] = Field(
        ("prognosis", "prognostic", "survival", "outcome", "predict", "recurrence"),
        description="words of prognosis",
    )
    prognosis_weight: float = _weight(0.3, "words of prognosis")
    prognosis_title: float = _weight(0.1, "words of prognosis in the title")
    people: tuple[str, ...] = Field(
        ("patient", "clinical", "trial", "cohort", "phase"),
        description="words of studies of people",
    )
    people_weight: float = _weight(0.3, "words of studies of people")
    tie: float = Field(0.3, ge=0, le=1, description="share of each further word of other kinds")
    headings: tuple[str, ...] = Field(
        (
            "Treatment Outcome", "Prognosis", "Disease-Free Survival", "Survival Analysis",
            "Molecular Targeted Therapy", "Protein Kinase Inhibitors", "Antineoplastic Agents",
            "Antineoplastic Combined Chemotherapy Protocols", "Drug Resistance, Neoplasm",
        ),
        description="MeSH headings of treatment and prognosis",
    )  # fmt: skip
    headings_weight: float = _weight(0.1, "such a heading")
    humans: float = _weight(0.0, "the heading Humans")
    drugs: float = _weight(0.1, "a drug that is known to act on the gene")


class TextPart(Options):
    """The query of a topic that has neither field."""

    weight: float = _weight(1.0, "its words")
    phrase: float = _weight(0.5, "a concept that it names")


class Weights(Options):
    """The parts of a query, and their weights."""

    synonyms: SynonymWeights = SynonymWeights()
    disease: DiseasePart = DiseasePart()
    gene: GenePart = GenePart()
    treatment: TreatmentPart = TreatmentPart()
    near: NearPart = NearPart()
    context: ContextPart = ContextPart()
    text: TextPart = TextPart()
    other: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="further fields whose words are searched, by weight"
    )
    required: tuple[Part, ...] = Field(
        (), description="parts that a document must have: disease, gene, treatment"
    )


class Fold(Options):
    """Topics that a plan was chosen on, and weights that were chosen without them."""

    topics: tuple[str, ...] = Field(description="the topics, as `disease | gene` in lower case")
    weights: Weights = Field(description="what they are searched with")


class QueryPlan(Weights):
    """How a topic becomes a query, where queries are expanded."""

    held_out: bool = Field(
        True, description="search topics of folds with the weights that were chosen without them"
    )
    folds: tuple[Fold, ...] = Field(
        (), description="topics that the weights were chosen on, see `held_out`"
    )

    def check_fields(self, topics: Sequence[Topic]) -> None:
        """Refuse fields that no topic has, except those of the default plan.

        A misspelt field would silently remove a part of every query. Topics without the default
        fields are searched by their words.
        """
        fields = {name for topic in topics for name, value in topic.fields.items() if value}
        all_weights: dict[str, Weights] = {"plan": self}
        all_weights |= {f"plan.folds.{n}.weights": f.weights for n, f in enumerate(self.folds)}
        for place, weights in all_weights.items():
            field_by_setting = {f"other.{name}": name for name in weights.other}
            for part in ("disease", "gene", "treatment"):
                options = getattr(weights, part)
                if part in weights.model_fields_set and "field" in options.model_fields_set:
                    field_by_setting[f"{part}.field"] = options.field
            for setting, name in field_by_setting.items():
                if name not in fields:
                    hint = f"It is named by {place}.{setting}."
                    raise unknown("field", name, fields, of="the topics", hint=hint)

    def chosen_on(self, topics: Sequence[Topic]) -> ChosenOn | None:
        """The topics that the plan, or the default that it changes, was chosen on, or None."""
        marks = {mark for fold in self.folds or _default_folds() for mark in fold.topics}
        count = sum(topic_mark(topic, self) in marks for topic in topics)
        if not count:
            return None
        reason = ""
        if not self.held_out:
            reason = "plan.held_out is false"
        elif not folds_of(self):
            first, *more = (f"plan.{name}" for name in _changed(self, QueryPlan()))
            differ = f"{first} (and {len(more)} more) differ" if more else f"{first} differs"
            reason = f"the weights chosen without it belong to the default plan, and {differ}"
        return ChosenOn(count, len(topics), not reason, reason)

    def dependencies(self) -> Mapping[str, object]:
        """Dependencies of queries beside plan and bases: the format, and the default's folds."""
        dependencies = {"queries": QUERY_FORMAT}
        folds = folds_of(self)
        if not folds or folds == self.folds:  # the plan's own are among the options
            return dependencies
        dumped = [fold.model_dump(mode="json") for fold in folds]
        return {**dependencies, "folds": fingerprint({"folds": dumped})}


def read_plan(path: Path) -> dict[str, object]:
    """The changes to the default plan in a TOML file.

    Raises:
        InputError: the file is missing or not TOML, or has an unknown key or a wrong value.
    """
    content = read_toml(path)
    try:
        QueryPlan.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        if problem["type"] == "extra_forbidden":
            key = ".".join(map(str, problem["loc"]))
            guess = str(unknown("key", key, setting_names(QueryPlan), of="a query plan"))
            raise InputError(guess, path=path) from error
        key, wrong = first_problem(QueryPlan, error)
        raise InputError(f"'{key}' cannot be {problem['input']!r}: {wrong}.", path=path) from error
    return content


QUERY_FORMAT = 17
"""Raise it when the same topic, plan and knowledge bases make another query."""
_DEFAULT = Path(__file__).with_name("default-folds.toml")


def weights_for(topic: Topic, plan: QueryPlan) -> Weights:
    """The weights for a topic: those of the fold that did not see it, or the plan's."""
    folds = folds_of(plan)
    if not folds:
        return plan
    mark = topic_mark(topic, plan)
    return next((fold.weights for fold in folds if mark in fold.topics), plan)


def topic_mark(topic: Topic, plan: Weights) -> str:
    """The name of a topic in a fold: its disease and its gene, in lower case."""
    texts = (", ".join(topic.values(part.field)) for part in (plan.disease, plan.gene))
    return " | ".join(" ".join(text.lower().split()) for text in texts)


def folds_of(plan: QueryPlan) -> tuple[Fold, ...]:
    """The folds of a plan: those that it brings, or the default's with the default's weights."""
    if not plan.held_out or plan.folds:
        return plan.folds if plan.held_out else ()
    return _default_folds() if plan == QueryPlan() else ()


@dataclass(frozen=True)
class ChosenOn:
    """The number of topics that a query plan was chosen on, `of` all.

    `held_out` is True if they are searched with weights that were chosen without them; else there
    is a `reason`.
    """

    topics: int
    of: int
    held_out: bool
    reason: str = ""

    def __str__(self) -> str:
        topics = "this topic" if self.of == 1 else f"{self.topics:,} of these {self.of:,} topics"
        subject = "it" if self.of == 1 else "each of them"
        sentence = f"the query plan was chosen on {topics}"
        if self.held_out:
            return f"{sentence}: {subject} is searched with weights that were chosen without it"
        return (
            f"WARNING: {sentence}, and {subject} is searched with weights that have seen it, "
            f"because {self.reason}: its scores are better than they would be on other topics."
        )

    def as_json(self) -> dict[str, object]:
        """For metadata."""
        return {"topics": self.topics, "held_out": self.held_out}


def _changed(plan: Options, usual: Options, prefix: str = "") -> Iterator[str]:
    for name in type(plan).model_fields:
        value, usual_value = getattr(plan, name), getattr(usual, name)
        if isinstance(value, Options):
            yield from _changed(value, usual_value, f"{prefix}{name}.")
        elif value != usual_value:
            yield prefix + name


@lru_cache(maxsize=1)
def _default_folds() -> tuple[Fold, ...]:
    content = read_toml(_DEFAULT)
    return QueryPlan.model_validate(content).folds
