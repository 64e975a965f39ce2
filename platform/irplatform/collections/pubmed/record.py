"""An article of PubMed, as plain values, and as a document of a collection."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from irplatform.plugin import Document

if TYPE_CHECKING:
    from irplatform.plugin import FieldValue

_NOT_FIELDS = ("pmid", "version", "title", "abstract")


@dataclass(frozen=True, slots=True)
class Article:
    """An article. What its record lacks is empty.

    Attributes:
        pmid: its number in PubMed.
        version: of its record; nearly always 1.
        title: in English, without the brackets that mark a translation.
        abstract: its sections with their labels ("METHODS: …"), without a copyright notice.
        mesh: names of the MeSH descriptors that indexers gave it.
        mesh_major: those that are its main subjects, by themselves or by a qualifier.
        mesh_qualified: descriptors with a qualifier, as in "Neoplasms/genetics".
        supplementary: MeSH supplementary concepts (rare diseases, protocols, organisms).
        chemicals: names of substances.
        genes: symbols in old records (1991 to 1995).
        publication_types: "Journal Article", "Randomized Controlled Trial"…
        keywords: of authors and other sources.
        journal: its abbreviated title, as in "N Engl J Med".
        year: of publication, four digits.
        date: of publication as far as it is known: "2017", "2017-03" or "2017-03-09".
        language: three-letter codes; an article can have several.
        vernacular_title: the title in the article's own language.
        doi: the digital object identifier.
        pmc: its number in PubMed Central, as in "PMC1234567".
        book: the book that it is a chapter of, or that it is.
    """

    pmid: str
    version: int = 1
    title: str = ""
    abstract: str = ""
    mesh: tuple[str, ...] = ()
    mesh_major: tuple[str, ...] = ()
    mesh_qualified: tuple[str, ...] = ()
    supplementary: tuple[str, ...] = ()
    chemicals: tuple[str, ...] = ()
    genes: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    journal: str = ""
    year: str = ""
    date: str = ""
    language: tuple[str, ...] = ()
    vernacular_title: str = ""
    doi: str = ""
    pmc: str = ""
    book: str = ""

    def document(self, names: tuple[str, ...] | None = None) -> Document:
        """The article as a document with its PMID as id."""
        values: dict[str, FieldValue] = {}
        for name in FIELDS if names is None else names:
            if value := getattr(self, name):
                values[name] = value
        return Document(self.pmid, self.title, self.abstract, values)


FIELDS = tuple(field.name for field in fields(Article) if field.name not in _NOT_FIELDS)
"""Names of an article's fields, beside id, title and abstract."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """An article that was removed from PubMed."""

    pmid: str
