"""Which citing sentences become queries, and which of their cited articles are relevant.

The rules are DeepSenSe's (Lo et al., Datasets), looked at in the order in which they are reported;
a sentence counts for the first one that leaves it nothing to cite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from irplatform.judgments.citations import report as reasons
from irplatform.judgments.citations.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.judgments.citations.articles import CitingArticle, CitingSentence
    from irplatform.judgments.citations.report import Report
    from irplatform.judgments.citations.settings import CitationSettings
    from irplatform.judgments.citations.targets import Targets

_CitedWorks: TypeAlias = dict[int, list[tuple[tuple[str, ...], Target | None]]]
"""Position in the reference list to the works there, and their documents."""


class Judge:
    """Decides which sentences of an article are kept, and counts the rest.

    Args:
        targets: what can be cited.
        settings: the limits.
        report: takes the counts.
        years: whether documents have years, so that later ones can be recognized.
    """

    def __init__(
        self, targets: Targets, settings: CitationSettings, report: Report, *, years: bool
    ) -> None:
        self.targets = targets
        self.settings = settings
        self.report = report
        limits = settings.describe()
        self.short, self.long, self.short_article = (
            text.format(**limits) for text in (reasons.SHORT, reasons.LONG, reasons.SHORT_ARTICLE)
        )
        has_collection = targets.by_identifier is not None
        rules = [self.short, self.long, reasons.NOWHERE, reasons.UNRESOLVED]
        rules += [reasons.OUTSIDE, self.short_article] * has_collection
        rules += [reasons.NOT_EARLIER] * years
        report.removed.update(dict.fromkeys(rules, 0))

    def __call__(self, article: CitingArticle) -> Iterator[tuple[CitingSentence, list[str]]]:
        """Yield the sentences that are kept, with the ids of the documents that they cite."""
        cited_works = {
            int(position): [(work, self.targets.find(work)) for work in works]
            for position, works in article.references.items()
        }
        self._count(article, cited_works)
        for sentence in article.citing:
            cited = self._cited(article, sentence, cited_works)
            if isinstance(cited, str):
                self.report.removed[cited] += 1
            else:
                yield sentence, cited

    def _cited(
        self,
        article: CitingArticle,
        sentence: CitingSentence,
        cited_works: _CitedWorks,
    ) -> list[str] | str:
        """The documents that a sentence cites, or the reason to remove it."""
        if not self.settings.least <= sentence.words <= self.settings.most:
            return self.short if sentence.words < self.settings.least else self.long
        if not sentence.cites:
            return reasons.NOWHERE
        works = [pair for position in sentence.cites for pair in cited_works[position]]
        targets = [target for _, target in works if target is not None]
        if not targets:
            identified = any(self.targets.identified(work) for work, _ in works)
            outside = identified and self.targets.by_identifier is not None
            return reasons.OUTSIDE if outside else reasons.UNRESOLVED
        least = self.settings.least_cited
        long_enough = [t for t in targets if t.words is None or t.words >= least]
        if not long_enough:
            return self.short_article
        earlier = [t for t in long_enough if not (t.year and article.year) or t.year < article.year]
        return list(dict.fromkeys(target.id for target in earlier)) or reasons.NOT_EARLIER

    def _count(self, article: CitingArticle, cited_works: _CitedWorks) -> None:
        read, references = self.report.read, self.report.references
        read["articles"] += 1
        read[reasons.UNMARKED] += bool(article.listed and not article.citing)
        read["sentences"] += article.sentences
        read["citing sentences"] += len(article.citing)
        read["marks that point to no reference"] += article.unknown_marks
        references["listed"] += article.listed
        references["cited in the text"] += len(cited_works)
        for works in cited_works.values():
            in_file = any(i.startswith(("pmid:", "doi:")) for work, _ in works for i in work)
            identified = any(self.targets.identified(work) for work, _ in works)
            references["with a PMID or DOI in the file"] += in_file
            references["with a PMID or DOI from the table"] += identified and not in_file
            if self.targets.by_identifier is not None:
                in_collection = any(target is not None for _, target in works)
                references["in the collection"] += in_collection
