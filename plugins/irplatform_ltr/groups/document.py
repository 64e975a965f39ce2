"""What a document is, whatever the topic: length, year, kind of publication, headings, words.

Headings and words were chosen for what they say about an article (studies of patients, treatment
and prognosis against cell lines and mice), not for any topic.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from irplatform.lucene import BM25
from irplatform.lucene.index import DocumentQueries, heading_queries, scores_of
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.text.arrays import Float64, Int64
    from irplatform.text.forward_index import Field as TextField
    from irplatform_ltr.matching import StemmedIndex

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
    type_field: str = Field(
        "publication_types", description="the documents' field with publication types"
    )


class DocumentProperties(FeatureGroup):
    """Length, year, publication types, headings and telling words of a document.

    A heading counts where its words stand in a row in one of the document's: "Adult" in "Young
    Adult", too. Lucene's index of the headings is asked, which is much quicker than reading
    documents; they are read only where they have years or types.
    """

    Options = DocumentOptions
    options: DocumentOptions
    _resources: Resources
    _stems: StemmedIndex

    def traits(self) -> Traits:
        """Stems come from gensim."""
        return Traits(packages=("gensim",))

    def prepare(self, resources: Resources) -> None:
        """Take the stemmed view of the forward index."""
        from irplatform_ltr.matching import StemmedIndex

        self._resources = resources
        self._stems = StemmedIndex.of(resources)

    def names(self) -> tuple[str, ...]:
        """Properties, headings, words."""
        return (
            "title_length", "abstract_length", "year", "review", "trial", "case_report",
            "any_heading",
            *(f"heading {name}" for name in self.options.headings),
            *(f"word {name}" for name in self.options.words),
            *(f"title {name}" for name in self.options.words),
        )  # fmt: skip

    def compute_batch(
        self, batch: Sequence[tuple[Topic, Documents]]
    ) -> list[npt.NDArray[np.float32]]:
        """The properties, with one search for the headings of all; topics do not matter."""
        matrices = []
        for (_, documents), headings in zip(batch, self._headings(batch), strict=True):
            rows = self._stems.rows(documents.ids)
            columns = [
                *(np.log1p(self._stems.lengths(field)[rows]) for field in ("title", "abstract")),
                *self._years_and_types(documents).T,
                *headings.T,
                *self._counts(rows),
            ]
            matrices.append(np.asarray(np.stack(columns, axis=1), dtype=np.float32))
        return matrices

    def _headings(self, batch: Sequence[tuple[Topic, Documents]]) -> list[npt.NDArray[np.float32]]:
        """Whether documents have any of our headings, and each: [documents, 1 + headings]."""
        if not self._has(self.options.headings_field):
            width = 1 + len(self.options.headings)
            return [np.zeros((len(docs), width), dtype=np.float32) for _, docs in batch]
        index = self._resources.index()
        queries = heading_queries(index, self.options.headings_field, self.options.headings)
        requests = [DocumentQueries(documents.ids, queries) for _, documents in batch]
        scores = scores_of(index, requests, BM25(), self._resources.threads)
        has_heading = [(values > 0).astype(np.float32) for values in scores]
        return [np.hstack([h.max(axis=1, keepdims=True, initial=0), h]) for h in has_heading]

    def _years_and_types(self, documents: Documents) -> Float64:
        values = np.zeros((len(documents), 4))
        if self._has(self.options.year_field) or self._has(self.options.type_field):
            values[:] = [self._year_and_types(document) for document in documents]
        return values

    def _has(self, field: str) -> bool:
        return self._resources.index().documents_with(field) > 0

    def _year_and_types(self, document: Document) -> tuple[float, ...]:
        types = " ".join(document.values(self.options.type_field)).lower()
        years = " ".join(document.values(self.options.year_field))
        year = re.search(r"(?:19|20)\d\d", years)
        kinds = (float(kind in types) for kind in ("review", "trial", "case report"))
        return (float(year[0]) - 2000 if year else 0.0, *kinds)

    def _counts(self, rows: Int64) -> list[Float64]:
        """Per word, how often it occurs (log), then whether it is in the title."""
        stems = (self._stems.query_ids(word) for word in self.options.words)
        wanted = np.array([int(ids[0]) if len(ids) else -1 for ids in stems], dtype=np.int64)
        text, title = self._table(rows, "text", wanted), self._table(rows, "title", wanted)
        return [*np.log1p(text), *(title > 0).astype(np.float64)]

    def _table(self, rows: Int64, field: TextField, wanted: Int64) -> Float64:
        """How often each wanted stem occurs in a field: [wanted, documents]."""
        words, offsets = self._stems.tokens(rows, field)
        # Two words may have one stem.
        stems, place_of = np.unique(wanted, return_inverse=True)
        counts = np.zeros((len(stems), len(rows)))
        if len(stems):
            place = np.minimum(np.searchsorted(stems, words), len(stems) - 1)
            hit = np.flatnonzero(stems[place] == words)
            document = np.searchsorted(offsets, hit, side="right") - 1
            np.add.at(counts, (place[hit], document), 1)
        return np.asarray(counts[place_of])
