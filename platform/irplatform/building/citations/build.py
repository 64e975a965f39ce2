"""`platform qrels from-citations`: from full text to a folder of queries and judgments.

The articles are read once (`extraction`), then what they cite is looked up (`identifiers`,
`targets`), then the sentences are judged one article at a time. Memory holds the identifiers of the
articles, citing and cited, and nothing else that grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.building.citations.articles import CitingArticle
from irplatform.building.citations.judge import (
    OUTSIDE,
    UNMARKED,
    UNRESOLVED,
    Judge,
    Report,
    SplitCounts,
    read_table,
)
from irplatform.building.citations.references import Targets, search_corpus
from irplatform.building.citations.sources import extract, find_sources, read_back
from irplatform.building.pubmed_articles import write_reference
from irplatform.building.splits import SPLITS, split_of
from irplatform.collections.writing import BeirWriter, write_measures
from irplatform.errors import InputError, counted
from irplatform.lucene.dates import PUBLISHED_BEFORE
from irplatform.registry.loading import registry
from irplatform.system.console import notice
from irplatform.system.writing import atomic_folder, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.building.citations.judge import CitationSettings
    from irplatform.data import Collection

REPORT = "report.json"
MEASURES = ("Success@1", "Success@10", "Success@20", "Success@100")


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
        collection: only sentences that cite one of its documents are kept. Without it the cited
            articles go by PMID or DOI, and the folder is no collection that can be searched.
        ids: a table of PMIDs, PMC ids and DOIs.
        workers: processes that read articles; by default one per core.

    Raises:
        InputError: a file cannot be read, there is no such collection, or no sentence is left.
    """
    resolved = registry().documents_of(collection) if collection else None
    if settings.titles and resolved is None:
        raise InputError("articles are sought by title in a collection: give --collection, too.")
    report = Report(settings.describe())
    sources = find_sources(paths)
    with atomic_folder(out) as folder:
        extracted = extract(sources, skip_unreadable=settings.skip_unreadable, workers=workers)
        targets = _targets(extracted, resolved, ids, settings)
        _write(folder, extracted, targets, settings, report)
        if not report.kept:
            raise _nothing_left(sources, report)
        if collection:
            write_reference(collection, folder, seen_from=out)
        else:
            report.notes.append(
                "without --collection, all cited articles with a PMID or DOI count, however short, "
                "and there is nothing to search"
            )
        write_measures(folder, MEASURES)
        write_json(folder / REPORT, report.as_json())
    return report


def _nothing_left(sources: Sequence[Path], report: Report) -> InputError:
    reasons = {why: n for why, n in report.removed.items() if n} or {"none cites": 0}
    if unread := report.read["files left out"]:
        reasons = {"files could not be read": unread, **reasons}
    listed = ", ".join(f"{n:,}: {why}" if n else why for why, n in reasons.items())
    help_ = " --ids TABLE, or --collection with --titles, finds more of the cited articles."
    hint = help_ if {UNRESOLVED, OUTSIDE} & reasons.keys() else ""
    if unmarked := report.read[UNMARKED]:
        hint += (
            f" In {counted(unmarked, 'article')} no <xref> points to the references; numbers in "
            "the text alone, such as [3], are not read as marks."
        )
    if len(sources) == 1:
        return InputError(f"no sentence is left ({listed}).{hint}", path=sources[0])
    return InputError(f"no sentence of {len(sources):,} files is left ({listed}).{hint}")


def _targets(
    extracted: Path, collection: Collection | None, ids: Path | None, settings: CitationSettings
) -> Targets:
    identifiers = {
        name
        for article in _articles(extracted)
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


def _articles(extracted: Path) -> Iterator[CitingArticle]:
    return (article for article in read_back(extracted) if isinstance(article, CitingArticle))


def _write(
    folder: Path, extracted: Path, targets: Targets, settings: CitationSettings, report: Report
) -> None:
    seen: set[str] = set()
    years = targets.by_identifier is not None and any(
        target.year for target in targets.by_identifier.values()
    )
    report.splits.update({split: SplitCounts() for split in SPLITS})
    judge = Judge(targets, settings, report, years=years)
    with BeirWriter(folder) as files:
        for article in read_back(extracted):
            if isinstance(article, str):
                notice(f"left out: {article}")
                report.read["files left out"] += 1
                continue
            if article.id in seen:
                report.read["articles read before"] += 1
                continue
            seen.add(article.id)
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
                report.splits[split].judgments += len(cited)
            report.splits[split].sentences += sentences
            report.splits[split].articles += bool(sentences)
    if targets.by_identifier is not None and not years:
        report.notes.append(
            "the cited documents have no field 'year', so that nothing is known to be from before "
            "the citing article"
        )
