"""How a topic becomes a query: fields, weights, required parts and expansions, as data.

A plan is a model in which everything has a default. A TOML file or settings such as
`bm25.plan.gene.weight=2` change some of it. Every weight multiplies a BM25 score, except those of
words, headings, drugs and proximity: such a part counts by whether it is there, and not by how
rare it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from irplatform.errors import InputError, unknown
from irplatform.option_problems import first_problem
from irplatform.plugin import Options
from irplatform.registry.settings import setting_names
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.retrieval.querying.names import How

Part = Literal["disease", "gene", "treatment"]


def _weight(default: float, description: str) -> float:
    value: float = Field(default, ge=0, le=100, description=f"weight of {description}")
    return value


class SynonymWeights(Options):
    """How much a name counts, by what it is to the topic's own name, which counts 1."""

    synonym: float = _weight(1.0, "synonyms")
    narrow: float = _weight(0.5, "kinds of the disease")
    alias: float = _weight(0.6, "a gene's aliases and former symbols")

    def of(self, how: How) -> float:
        """The weight of a name."""
        if how in ("alias", "previous"):
            return self.alias
        return {"synonym": self.synonym, "narrow": self.narrow}.get(how, 1.0)


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
    """What a query is made of, and what weighs how much."""

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


def read_plan(path: Path) -> dict[str, object]:
    """What a TOML file changes in the default plan.

    Raises:
        InputError: the file is missing or not TOML, or has a key or a value that no plan has.
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
