"""Graded judgments from a click log, as in Mohan, Fiorini, Kim, Lu (BioNLP 2017 and WWW 2018).

Three subsets of the test queries measure robustness (WWW 2018, 4.1). In `neg20`, at least 20
documents that are not relevant have all the query's words in the title, so matching words cannot
reject them. In `one-new-word` and `all-new-words`, one or all of the query's words occur in no
training or validation query. Words are Delta's tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from irplatform.building.click_judgments import (
    KEPT,
    QUERY_REASONS,
    REASONS,
    Counts,
    JudgingRules,
    QueryRules,
    judge,
    mark,
)
from irplatform.building.click_log import grouped, prepare, read_log
from irplatform.building.judgments import (
    SPLITS,
    Report,
    Shares,
    split_of,
    write_reference,
    write_report,
)
from irplatform.collections.beir import LEVELS_HEADER, BeirWriter, qrels_path, write_measures
from irplatform.errors import InputError
from irplatform.files.reading import numbered_lines
from irplatform.files.writing import atomic_folder
from irplatform.registry.loading import registry
from irplatform.spelling import option
from irplatform.system.console import notice, progress
from irplatform.text.tokenizer import tokenize
from irplatform.workers.distribution import batched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from irplatform.data import Collection, Document

NEG20, ONE_NEW, ALL_NEW = "test-neg20", "test-one-new-word", "test-all-new-words"
_TITLES = 20
_PAIRS = 1_000_000
"""Pairs of query and document that are held at a time, in some 300 MB. For each further million the
documents are read once more."""
_AT_ONCE = 100_000
MEASURES = ("nDCG-exp@20", "AP", "P@5")
SHARES = Shares(60, 20, 20)
_LEAST_KNOWN = 0.5
"""Least share of judgments whose documents a collection has: a closed pool has only some."""


@dataclass(frozen=True)
class ClickSettings:
    """Filters, levels and split of judgments from clicks; by default those of the 2018 paper."""

    queries: QueryRules = field(default_factory=QueryRules)
    judging: JudgingRules = field(default_factory=JudgingRules)
    shares: Shares = SHARES
    seed: int = 42

    def describe(self) -> dict[str, Any]:
        """The settings for the report."""
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
            "split": str(self.shares),
            "seed": self.seed,
        }


def from_clicks(
    log: Path, out: Path, settings: ClickSettings, collection: str | None = None
) -> Report:
    """Make a folder in BEIR layout of a click log; it appears when it is complete.

    Without the `collection` of the log's documents the folder cannot be searched, and there is no
    subset `neg20`.

    Raises:
        InputError: a bad line or setting, no such collection, or no query is left.
    """
    resolved = registry().documents_of(collection) if collection else None
    counts = Counts()
    reasons = (*QUERY_REASONS, *REASONS)
    with atomic_folder(out) as folder:
        with BeirWriter(folder) as files:
            writer = SplitWriter(files, settings.shares, settings.seed)
            for rows in grouped(_prepared(log, settings.queries), folder.parent / "parts"):
                writer.write(judge(rows, settings.judging, counts))
        if not counts.queries[KEPT]:
            refused = [f"{n:,} {reason}" for reason in reasons if (n := counts.queries[reason])]
            of = f"of {counts.queries.total():,}, {', '.join(refused)}"
            raise InputError(f"no query is left: {of}.", path=log)
        write_measures(folder, MEASURES)
        notes = _check_coverage(folder, resolved, log) if resolved else []
        notes += _write_subsets(folder, writer, resolved)
        if collection:
            write_reference(collection, folder, seen_from=out)
        read = {"queries": counts.queries.total(), "lines": counts.lines.total()}
        record = {
            "log": log.name,
            "options": settings.describe(),
            "read": read,
            "removed": {reason: counts.of(reason) for reason in reasons},
            "kept": counts.of(KEPT),
            "splits": writer.counts,
            "notes": notes,
        }
        filters: dict[str, dict[str, int]] = {
            "in the log": read,
            **{f"removed: {reason}": counts.of(reason) for reason in reasons},
            "kept": counts.of(KEPT),
        }
        table = [(name, *(f"{n:,}" for n in numbers.values())) for name, numbers in filters.items()]
        return write_report(folder, record, [("", "queries", "lines"), *table])


def held_out_queries(collection: str) -> frozenset[str]:
    """The `mark`s of a collection's topics."""
    topics = registry().collection(collection).load_topics()
    return frozenset(mark(topic.query) for topic in topics)


def _prepared(log: Path, rules: QueryRules) -> Iterator[pl.DataFrame]:
    with progress(f"reading {log.name}", unit="lines") as advance:
        for lines in read_log(log):
            yield prepare(lines, rules)
            advance(lines.height)


def _check_coverage(folder: Path, collection: Collection, log: Path) -> list[str]:
    notice(f"looking for the judged documents in {collection.id}")
    count, judged = known_judgments(folder, (document.id for document in collection.corpus))
    message = (
        f"{judged - count:,} of the {judged:,} judgments name documents that {collection.id} lacks"
    )
    if count < _LEAST_KNOWN * judged:
        raise InputError(f"{message}. Is this a log of another collection?", path=log)
    return [message] if count < judged else []


def _write_subsets(folder: Path, writer: SplitWriter, collection: Collection | None) -> list[str]:
    """Write and count the subsets of the test split; return notes."""
    splits = writer.counts
    notes = [f"no query fell into the split {n}" for n in SPLITS if not splits[n]["queries"]]
    test = writer.test_queries
    if collection is None:
        notes.append(
            f"{NEG20} needs the documents' titles, and a run needs documents: give "
            f"{option('collection')}"
        )
    elif test:
        notice(f"reading the titles of {collection.id}, for {NEG20}")
        negatives = ((query, doc) for _, query, doc, level in _judgments(folder) if level == 0)
        matching = with_matching_negatives(test, negatives, lambda: collection.corpus)
        splits[NEG20] = write_subset(folder, NEG20, matching)
    one_new, all_new = with_new_words(test, writer.known_words)
    for name, query_ids in ((ONE_NEW, one_new), (ALL_NEW, all_new)):
        splits[name] = write_subset(folder, name, query_ids)
    return notes


class SplitWriter:
    """Writes and counts queries and their judgments, each in its split.

    `known_words` are those of training and validation queries; `test_queries` maps ids to texts.
    """

    def __init__(self, files: BeirWriter, shares: Shares, seed: int) -> None:
        self._files = files
        self.shares = shares
        self.seed = seed
        self.counts = {split: _counts() for split in SPLITS}
        self.known_words: set[str] = set()
        self.test_queries: dict[str, str] = {}

    def write(self, judged: pl.DataFrame) -> None:
        """Write the judgments of some queries, as `judge` returns them."""
        import polars as pl

        queries = judged.select("id", "query").unique(maintain_order=True)
        splits = [split_of(id_, self.shares, self.seed) for id_ in queries["id"]]
        for (id_, text), split in zip(queries.iter_rows(), splits, strict=True):
            self._files.query(id_, text)
            if split == "test":
                self.test_queries[id_] = text
            else:
                self.known_words.update(tokenize(text))
        rows = judged.join(queries.with_columns(pl.Series("split", splits)), on=["id", "query"])
        for split in SPLITS:
            part = rows.filter(pl.col("split") == split)
            self.counts[split].update(
                queries=splits.count(split),
                judgments=part.height,
                relevant=int((part["level"] > 0).sum()),
            )
            if part.height:
                level = pl.col("level").cast(pl.String).str.strip_suffix(".0")
                part.select("id", "doc_id", level).write_csv(
                    self._files.qrels(split, levels=True),
                    separator="\t",
                    include_header=False,
                    quote_style="never",
                )


def _counts(queries: int = 0) -> Counter[str]:
    return Counter(queries=queries, judgments=0, relevant=0)


def write_subset(folder: Path, name: str, queries: frozenset[str]) -> Counter[str]:
    """Write the judgments of some test queries as a split, unless there are no queries."""
    counts = _counts(len(queries))
    if not queries:
        return counts
    with qrels_path(folder, name).open("wb") as file:
        file.write(LEVELS_HEADER)
        for line, query_id, _, level in _judgments(folder):
            if query_id in queries:
                counts.update(judgments=1, relevant=int(level > 0))
                file.write(line)
    return counts


def _judgments(folder: Path) -> Iterator[tuple[bytes, str, str, float]]:
    path = qrels_path(folder, "test")
    if not path.exists():
        return
    for number, line in numbered_lines(path):
        if number > 1:
            query_id, doc_id, level = line.decode().rstrip("\n").split("\t")
            yield line, query_id, doc_id, float(level)


def with_new_words(
    queries: Mapping[str, str], lexicon: set[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Ids of queries with at least one new word, and of those of which all words are new."""
    new = {id_: [word not in lexicon for word in tokenize(text)] for id_, text in queries.items()}
    ids = frozenset(id_ for id_, words in new.items() if any(words))
    return ids, frozenset(id_ for id_ in ids if all(new[id_]))


def with_matching_negatives(
    queries: Mapping[str, str],
    negatives: Iterable[tuple[str, str]],
    documents: Callable[[], Iterable[Document]],
    *,
    least: int = _TITLES,
    pairs_at_a_time: int = _PAIRS,
) -> frozenset[str]:
    """Queries with at least 20 documents that are not relevant but have all words in the title.

    `negatives` has pairs of query id and document id; `documents` streams the corpus.
    """
    matching: Counter[str] = Counter()
    for pairs in batched(negatives, pairs_at_a_time):
        queries_of: defaultdict[str, list[str]] = defaultdict(list)
        for query_id, doc_id in pairs:
            queries_of[doc_id].append(query_id)
        words = {
            id_: frozenset(tokenize(queries[id_])) for ids in queries_of.values() for id_ in ids
        }
        for document in documents():
            if not (ids := queries_of.pop(document.id, None)):
                continue
            title = frozenset(tokenize(document.title))
            matching.update(id_ for id_ in ids if words[id_] and words[id_] <= title)
    return frozenset(id_ for id_, count in matching.items() if count >= least)


def known_judgments(folder: Path, doc_ids: Iterable[str]) -> tuple[int, int]:
    """Count the judgments of documents that a collection has, and all judgments."""
    import polars as pl

    files = [path for split in SPLITS if (path := qrels_path(folder, split)).exists()]
    lines = pl.scan_csv(files, separator="\t", quote_char=None, infer_schema=False)
    counts = lines.group_by("corpus-id").len().collect()
    matches = 0
    for batch in batched(doc_ids, _AT_ONCE):
        documents = pl.DataFrame({"corpus-id": batch})
        matches += int(counts.join(documents, on="corpus-id", how="semi")["len"].sum())
    return matches, int(counts["len"].sum())
