"""From an article in JATS to its citing sentences and what they cite.

Sentences come from the paragraphs of the body: not from abstracts (which hardly cite), captions,
tables, footnotes or supplements, whose sentences lean on what they stand beside.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from irplatform.building.citations.references import ReferenceList, normalized
from irplatform.building.citations.sentences import marked_text, sentences_of
from irplatform.building.citations.xml import plain_text
from irplatform.system.digests import number_of
from irplatform.text import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_BODY = frozenset(
    """
    caption fig fig-group table-wrap table-wrap-group table-wrap-foot fn
    supplementary-material ref-list ack sub-article response
    """.split()  # noqa: SIM905 - a list would take a page
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True)
class CitingSentence:
    """A sentence that cites.

    Attributes:
        number: its place among the sentences of the article, from 1.
        section: the title of the section of the body that it is in, or "".
        text: without reference marks.
        words: how many are left of it without stop words, see `settings`.
        cites: keys of `CitingArticle.references`.
    """

    number: int
    section: str
    text: str
    words: int
    cites: tuple[int, ...]


@dataclass(frozen=True)
class CitingArticle:
    """What is kept of an article.

    Attributes:
        id: its DOI, else its PMC id or PMID, else the name of its file.
        year: of its first publication, or "".
        file: where it was read.
        sentences: how many sentences its body has.
        listed: how many references its list has.
        unknown_marks: marks that point to no reference.
        citing: the sentences that cite.
        references: position in the list to identifiers, per work cited; see `references`.
    """

    id: str
    year: str
    file: str
    sentences: int
    listed: int
    unknown_marks: int
    citing: tuple[CitingSentence, ...]
    references: dict[str, tuple[tuple[str, ...], ...]]

    def as_json(self) -> dict[str, Any]:
        """The article as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> CitingArticle:
        """The article that `as_json` was called on."""
        citing = tuple(CitingSentence(**s | {"cites": tuple(s["cites"])}) for s in record["citing"])
        references = {
            position: tuple(tuple(work) for work in works)
            for position, works in record["references"].items()
        }
        return cls(**record | {"citing": citing, "references": references})


def read_article(article: Any, file: str) -> CitingArticle:
    """Find an article's citing sentences.

    Args:
        article: an `article` element.
        file: where it was read.
    """
    references = ReferenceList(article)
    citing = []
    number = unknown = 0
    for section, paragraph in _paragraphs(article):
        marked = marked_text(paragraph, references)
        unknown += marked.unknown
        for sentence in sentences_of(marked):
            number += 1
            if sentence.citing:
                words = len(content_words(sentence.text))
                citing.append(CitingSentence(number, section, sentence.text, words, sentence.cites))
    cited = sorted({position for sentence in citing for position in sentence.cites})
    return CitingArticle(
        id=_identifier(article, file),
        year=_year(article),
        file=file,
        sentences=number,
        listed=len(references.references),
        unknown_marks=unknown,
        citing=tuple(citing),
        references={str(p): references.references[p].works for p in cited},
    )


def _paragraphs(article: Any) -> Iterator[tuple[str, Any]]:
    """The section title and the element of every paragraph of the body."""
    body = article.find("body")
    if body is None:
        return
    for part in body:
        title = part.find("title") if part.tag == "sec" else None
        section = "" if title is None else plain_text(title)
        for paragraph in part.iter("p"):
            within = takewhile(lambda above: above is not body, paragraph.iterancestors())
            if not any(above.tag in _NOT_BODY for above in within):
                yield section, paragraph


def _identifier(article: Any, file: str) -> str:
    identifiers = {
        str(e.get("pub-id-type")): plain_text(e)
        for e in article.iterfind("front//article-meta/article-id")
    }
    if doi := normalized("doi", identifiers.get("doi", "")):
        return "".join(doi.removeprefix("doi:").split())
    for kind, key in (("pmcid", "pmcid"), ("pmcid", "pmc"), ("pmid", "pmid")):
        if identifier := normalized(kind, identifiers.get(key, "")):
            return identifier.partition(":")[2]
    # Files of several folders, and articles of one file, may share its name.
    content = " ".join(str(text) for text in article.itertext())
    return f"{''.join(file.rsplit('/', 1)[-1].split())}-{number_of(content) % 16**8:08x}"


def _year(article: Any) -> str:
    dates = article.iterfind("front//article-meta/pub-date/year")
    years = [match[0] for date in dates if (match := _YEAR.search(plain_text(date)))]
    return min(years, default="")
