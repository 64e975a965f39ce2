"""Makes articles in JATS XML."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cited:
    """An entry of a reference list: what is said of the cited article."""

    pmid: str = ""
    doi: str = ""
    title: str = ""

    def xml(self, number: int) -> str:
        """The `ref` element."""
        ids = "".join(
            f'<pub-id pub-id-type="{kind}">{value}</pub-id>'
            for kind, value in (("pmid", self.pmid), ("doi", self.doi))
            if value
        )
        title = f"<article-title>{self.title}</article-title>" if self.title else ""
        citation = f"<mixed-citation>{title}{ids}</mixed-citation>"
        return f'<ref id="B{number}"><label>{number}</label>{citation}</ref>'


def mark(number: int) -> str:
    """A reference mark."""
    return f'[<xref ref-type="bibr" rid="B{number}">{number}</xref>]'


def article(doi: str, sentences: list[str], cited: list[Cited]) -> str:
    """An article of one section."""
    references = "".join(entry.xml(number) for number, entry in enumerate(cited, start=1))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.0//EN" "JATS-archivearticle1.dtd">\n'
        "<article>\n<front><article-meta>"
        f'<article-id pub-id-type="doi">{doi}</article-id>'
        "<pub-date><year>2012</year></pub-date></article-meta></front>\n"
        f"<body><sec><title>Results</title><p>{' '.join(sentences)}</p></sec></body>\n"
        f"<back><ref-list>{references}</ref-list></back>\n</article>\n"
    )
