"""`platform qrels from-clicks`: from a click log to a folder of graded judgments."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.collections.beir_files import BeirWriter, write_measures
from irplatform.collections.corpus_reference_files import write_reference
from irplatform.console import notice, progress
from irplatform.errors import InputError
from irplatform.judgments.clicks import judge as judging
from irplatform.judgments.clicks import queries, subsets
from irplatform.judgments.clicks.coverage import known_judgments
from irplatform.judgments.clicks.folder import SplitWriter, negatives_of_test, write_subset
from irplatform.judgments.clicks.grouping import grouped, prepare
from irplatform.judgments.clicks.judge import JudgingRules, judge
from irplatform.judgments.clicks.log import read_log
from irplatform.judgments.clicks.queries import QueryRules
from irplatform.judgments.clicks.report import KEPT, Counts, Report, SplitCounts
from irplatform.judgments.splits import Shares
from irplatform.registry import registry
from irplatform.storage import atomic_folder, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from irplatform.collections import Collection

MEASURES = ("nDCG-exp@20", "AP", "P@5")
"""Those of the papers' tables."""
REPORT = "report.json"
SHARES = Shares(60, 20, 20)
"""The papers' split of the queries."""
_LEAST_KNOWN = 0.5
"""Share of the judgments whose documents a collection must have: a closed pool has only some."""


@dataclass(frozen=True)
class ClickSettings:
    """How judgments are made of a log; the defaults are those of the WWW 2018 paper.

    Attributes:
        queries: which queries are kept by their words.
        judging: which are kept by their documents, and how clicks become grades.
        shares: of train, dev and test.
        seed: of the split.
    """

    queries: QueryRules = field(default_factory=QueryRules)
    judging: JudgingRules = field(default_factory=JudgingRules)
    shares: Shares = SHARES
    seed: int = 42

    def describe(self) -> dict[str, Any]:
        """The settings, flat, without the held-out queries themselves."""
        words = asdict(self.queries)
        held_out = len(words.pop("held_out"))
        judging = asdict(self.judging)
        return {
            **words,
            "queries held out": held_out,
            "min_documents": judging["min_documents"],
            "min_clicked": judging["min_clicked"],
            "levels": judging["formula"],
            "mu": judging["weights"]["mu"],
            "lambda": judging["weights"]["lambda_"],
            "split": "/".join(map(str, asdict(self.shares).values())),
            "seed": self.seed,
        }


def from_clicks(
    log: Path, out: Path, settings: ClickSettings, collection: str | None = None
) -> Report:
    """Make a folder in BEIR layout of a click log.

    Args:
        log: see `log.read_log`.
        out: the folder to make; it appears when it is complete.
        settings: filters, weights, levels and split.
        collection: whose documents the log is about; without it the folder is no collection that
            can be searched, and the subset `neg20` cannot be told.

    Raises:
        InputError: a bad line or setting, no such collection, or no query is left.
    """
    resolved = registry().documents_of(collection) if collection else None
    counts = Counts()
    reasons = (*queries.REASONS, *judging.REASONS)
    with atomic_folder(out) as folder:
        with BeirWriter(folder) as files:
            writer = SplitWriter(files, settings.shares, settings.seed)
            for rows in grouped(_prepared(log, settings.queries), folder.parent / "parts"):
                writer.write(judge(rows, settings.judging, counts))
        if not counts.queries[KEPT]:
            raise InputError(f"no query is left: {_refused(counts, reasons)}.", path=log)
        write_measures(folder, MEASURES)
        lacking = _check_coverage(folder, resolved, log) if resolved else []
        splits, notes = _write_subsets(folder, writer, resolved)
        if collection:
            write_reference(collection, folder, seen_from=out)
        report = Report(log.name, settings.describe(), counts, reasons, splits, (*lacking, *notes))
        write_json(folder / REPORT, report.as_json())
    return report


def held_out_queries(collection: str) -> frozenset[str]:
    """The `mark`s of a collection's topics.

    Raises:
        InputError: there is no such collection.
    """
    topics = registry().collection(collection).load_topics()
    return frozenset(queries.mark(topic.query) for topic in topics)


def _prepared(log: Path, rules: QueryRules) -> Iterator[pl.DataFrame]:
    with progress(f"reading {log.name}", unit="lines") as advance:
        for lines in read_log(log):
            yield prepare(lines, rules)
            advance(lines.height)


def _check_coverage(folder: Path, collection: Collection, log: Path) -> list[str]:
    notice(f"looking for the judged documents in {collection.id}")
    known, judged = known_judgments(folder, (document.id for document in collection.corpus))
    message = (
        f"{judged - known:,} of the {judged:,} judgments name documents that {collection.id} lacks"
    )
    if known < _LEAST_KNOWN * judged:
        raise InputError(f"{message}. Is this a log of another collection?", path=log)
    return [message] if known < judged else []


def _write_subsets(
    folder: Path, writer: SplitWriter, collection: Collection | None
) -> tuple[dict[str, SplitCounts], list[str]]:
    """Write the subsets of the test split; the counts of all splits, and notes."""
    splits = dict(writer.counts)
    notes = [f"no query fell into the split {name}" for name, n in splits.items() if not n.queries]
    test = writer.test_queries
    if collection is None:
        notes.append(
            f"{subsets.NEG20} needs the documents' titles, and a run needs documents: give "
            "--collection"
        )
    elif test:
        notice(f"reading the titles of {collection.id}, for {subsets.NEG20}")
        matching = subsets.with_matching_negatives(
            test, negatives_of_test(folder), lambda: collection.corpus
        )
        splits[subsets.NEG20] = write_subset(folder, subsets.NEG20, matching)
    some, all_ = subsets.with_new_words(test, writer.known_words)
    for name, query_ids in ((subsets.ONE_NEW, some), (subsets.ALL_NEW, all_)):
        splits[name] = write_subset(folder, name, query_ids)
    return splits, notes


def _refused(counts: Counts, reasons: Sequence[str]) -> str:
    total = counts.queries.total()
    parts = [f"{number:,} {reason}" for reason in reasons if (number := counts.queries[reason])]
    return f"of {total:,}, " + ", ".join(parts)
