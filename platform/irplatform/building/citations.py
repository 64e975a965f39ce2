"""Judgments from citations: a sentence that cites an article is a query, the article is relevant.

The rules and limits are DeepSenSe's (Lo, Tian, Tao, Hao, Zhang): sentences are taken from open
full text, cleaned, and split by citing article. Stop words and punctuation do not count against
the limits, but the query is the sentence as it was written. Rules apply in the order in which the
report lists them. Memory holds the identifiers of the articles, citing and cited.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from irplatform.building.citation_articles import CitingArticle, extract, find_sources, read_back
from irplatform.building.citation_targets import Target, Targets, read_table, search_corpus
from irplatform.building.judgments import (
    SPLITS,
    Report,
    Shares,
    split_of,
    write_reference,
    write_report,
)
from irplatform.collections.beir import BeirWriter, write_measures
from irplatform.errors import InputError, counted
from irplatform.files.writing import atomic_folder
from irplatform.lucene.dates import PUBLISHED_BEFORE
from irplatform.registry.loading import registry
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.building.citation_articles import CitingSentence
    from irplatform.data import Collection

MEASURES = ("Success@1", "Success@10", "Success@20", "Success@100")
UNMARKED = "articles without a mark of their references"
NOWHERE = "its marks point to no reference"
UNRESOLVED = "no cited article has a PMID or DOI"
OUTSIDE = "no cited article is in the collection"
NOT_EARLIER = "the cited article is not from an earlier year"
SHARES = Shares(80, 10, 10)
_CitedWorks: TypeAlias = dict[int, list[tuple[tuple[str, ...], Target | None]]]
"""Position in the reference list to the works there, and their documents."""


@dataclass(frozen=True)
class CitationSettings:
    """Limits, shares and seed of judgments from citations; the limits are DeepSenSe's.

    A sentence has `least` to `most` words without stop words, a cited article at least
    `least_cited` of title and abstract. `titles` finds documents by their title, too.
    """

    least: int = 5
    most: int = 50
    least_cited: int = 50
    titles: bool = False
    skip_unreadable: bool = False
    shares: Shares = SHARES
    seed: int = 42

    def __post_init__(self) -> None:
        if self.most < self.least:
            raise InputError(
                f"no sentence has at least {self.least} words and at most {self.most}: raise "
                f"{option('max_words')}, or lower {option('min_words')}."
            )


@dataclass
class _Counts:
    """Counts of a build; `removed` has the citing sentences removed, by reason."""

    read: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    splits: dict[str, Counter[str]] = field(
        default_factory=lambda: {
            split: Counter(articles=0, sentences=0, judgments=0) for split in SPLITS
        }
    )

    @property
    def sentence_count(self) -> int:
        """The number of sentences in all splits."""
        return sum(counts["sentences"] for counts in self.splits.values())


def from_citations(
    paths: Sequence[Path],
    out: Path,
    settings: CitationSettings,
    *,
    collection: str | None = None,
    ids: Path | None = None,
    workers: int | None = None,
) -> Report:
    """Make a folder in BEIR layout of citing sentences.

    Args:
        paths: files, folders and archives of articles in JATS.
        out: the folder to make; it appears when it is complete.
        settings: limits and split.
        collection: only sentences that cite one of its documents are kept. Without it, cited
            articles are PMIDs or DOIs, and the folder cannot be searched.
        ids: a table of PMIDs, PMC ids and DOIs.
        workers: processes that read articles; by default one per core.

    Raises:
        InputError: a file cannot be read, there is no such collection, or no sentence is left.
    """
    resolved = registry().documents_of(collection) if collection else None
    if settings.titles and resolved is None:
        raise InputError(
            f"articles are found by title in a collection: give {option('collection')}, too."
        )
    counts = _Counts()
    sources = find_sources(paths)
    with atomic_folder(out) as folder:
        extracted = extract(sources, skip_unreadable=settings.skip_unreadable, workers=workers)
        targets = _targets(extracted, resolved, ids, settings)
        notes = _write(folder, extracted, targets, settings, counts)
        if not counts.sentence_count:
            raise _nothing_left(sources, counts)
        if collection:
            write_reference(collection, folder, seen_from=out)
        else:
            notes.append(
                f"without {option('collection')}, all cited articles with a PMID or DOI count, "
                "however short, and there is nothing to search"
            )
        write_measures(folder, MEASURES)
        record = {
            "options": asdict(settings) | {"shares": str(settings.shares)},
            "read": counts.read,
            "references": counts.references,
            "removed": counts.removed,
            "kept": counts.sentence_count,
            "splits": counts.splits,
            "notes": notes,
        }
        return write_report(
            folder,
            record,
            _lines(counts.read),
            _lines(counts.references, "references "),
            [*_lines(counts.removed, "removed: "), ("kept", f"{counts.sentence_count:,}")],
        )


def _lines(counts: Mapping[str, int], prefix: str = "") -> list[tuple[str, ...]]:
    return [(f"{prefix}{name}", f"{number:,}") for name, number in counts.items()]


def _nothing_left(sources: Sequence[Path], counts: _Counts) -> InputError:
    reasons = {reason: n for reason, n in counts.removed.items() if n} or {"none cites": 0}
    if unread := counts.read["files left out"]:
        reasons = {"files could not be read": unread, **reasons}
    summary = ", ".join(f"{n:,}: {reason}" if n else reason for reason, n in reasons.items())
    help_ = (
        f" {option('ids', 'TABLE')}, or {option('collection')} with {option('titles', True)}, "
        "finds more of the cited articles."
    )
    hint = help_ if {UNRESOLVED, OUTSIDE} & reasons.keys() else ""
    if unmarked := counts.read[UNMARKED]:
        hint += (
            f" In {counted(unmarked, 'article')} no <xref> points to the references; numbers in "
            "the text alone, such as [3], are not read as marks."
        )
    path, of = (sources[0], "") if len(sources) == 1 else (None, f" of {len(sources):,} files")
    return InputError(f"no sentence{of} is left ({summary}).{hint}", path=path)


def _targets(
    extracted: Path, collection: Collection | None, ids: Path | None, settings: CitationSettings
) -> Targets:
    identifiers = {
        name
        for article in read_back(extracted)
        if isinstance(article, CitingArticle)
        for works in article.references.values()
        for work in works
        for name in work
        if settings.titles or not name.startswith("title:")
    }
    aliases = read_table(ids, identifiers) if ids else {}
    if collection is None:
        return Targets(aliases)
    identifiers.update(name for names in aliases.values() for name in names)
    return Targets(aliases, search_corpus(collection.corpus, identifiers), settings.titles)


def _write(
    folder: Path, extracted: Path, targets: Targets, settings: CitationSettings, counts: _Counts
) -> list[str]:
    """Write queries and judgments; return notes."""
    article_ids: set[str] = set()
    years = targets.by_identifier is not None and any(
        target.year for target in targets.by_identifier.values()
    )
    judge = Judge(targets, settings, counts, years=years)
    with BeirWriter(folder) as files:
        for article in read_back(extracted):
            if isinstance(article, str):
                notice(f"left out: {article}")
                counts.read["files left out"] += 1
                continue
            if article.id in article_ids:
                counts.read["articles read before"] += 1
                continue
            article_ids.add(article.id)
            split = split_of(article.id, settings.shares, settings.seed)
            sentences = 0
            for sentence, cited in judge(article):
                name = f"{article.id}#{sentence.number}"
                cites = {"citing_id": article.id, "section": sentence.section}
                metadata = {**cites, "year": article.year}
                if years and article.year:
                    metadata[PUBLISHED_BEFORE] = article.year
                files.query(name, sentence.text, metadata)
                files.judge(split, name, dict.fromkeys(cited, 1))
                sentences += 1
                counts.splits[split]["judgments"] += len(cited)
            counts.splits[split]["sentences"] += sentences
            counts.splits[split]["articles"] += bool(sentences)
    if targets.by_identifier is None or years:
        return []
    return [
        "the cited documents have no field 'year', so they are not known to be older than the "
        "citing article"
    ]


class Judge:
    """Decides which sentences of an article are kept, and counts the rest."""

    def __init__(
        self, targets: Targets, settings: CitationSettings, counts: _Counts, *, years: bool
    ) -> None:
        self.targets = targets
        self.settings = settings
        self.counts = counts
        self.short = f"fewer than {settings.least} words without stop words"
        self.long = f"more than {settings.most} words without stop words"
        self.short_article = (
            f"the cited article has fewer than {settings.least_cited} words of title and abstract"
        )
        rules = [self.short, self.long, NOWHERE, UNRESOLVED]
        if targets.by_identifier is not None:
            rules += [OUTSIDE, self.short_article]
        if years:
            rules.append(NOT_EARLIER)
        counts.removed.update(dict.fromkeys(rules, 0))

    def __call__(self, article: CitingArticle) -> Iterator[tuple[CitingSentence, list[str]]]:
        """Yield the sentences to keep, with the ids of the documents that they cite."""
        cited_works = {
            int(position): [(work, self.targets.find(work)) for work in works]
            for position, works in article.references.items()
        }
        self._count(article, cited_works)
        for sentence in article.citing:
            cited = self._cited(article, sentence, cited_works)
            if isinstance(cited, str):
                self.counts.removed[cited] += 1
            else:
                yield sentence, cited

    def _cited(
        self, article: CitingArticle, sentence: CitingSentence, cited_works: _CitedWorks
    ) -> list[str] | str:
        """The documents that a sentence cites, or the reason to remove it."""
        if not self.settings.least <= sentence.words <= self.settings.most:
            return self.short if sentence.words < self.settings.least else self.long
        if not sentence.cites:
            return NOWHERE
        works = [pair for position in sentence.cites for pair in cited_works[position]]
        targets = [target for _, target in works if target is not None]
        if not targets:
            identified = any(self.targets.identified(work) for work, _ in works)
            outside = identified and self.targets.by_identifier is not None
            return OUTSIDE if outside else UNRESOLVED
        least = self.settings.least_cited
        long_enough = [t for t in targets if t.words is None or t.words >= least]
        if not long_enough:
            return self.short_article
        earlier = [t for t in long_enough if not (t.year and article.year) or t.year < article.year]
        return list(dict.fromkeys(target.id for target in earlier)) or NOT_EARLIER

    def _count(self, article: CitingArticle, cited_works: _CitedWorks) -> None:
        read, references = self.counts.read, self.counts.references
        read["articles"] += 1
        read[UNMARKED] += bool(article.listed and not article.citing)
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
