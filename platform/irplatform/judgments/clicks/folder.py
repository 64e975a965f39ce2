"""Queries with judgments, from clicks, in a folder in BEIR layout: its splits and subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.beir_files import LEVELS_HEADER, BeirWriter, qrels_path
from irplatform.judgments.clicks.report import SplitCounts
from irplatform.judgments.splits import SPLITS, Shares, split_of
from irplatform.text.tokenizer import tokenize
from irplatform.text_files import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl


class SplitWriter:
    """Writes queries and their judgments, each into its split.

    Attributes:
        counts: what was written, per split.
        known_words: the words of training and validation queries.
        test_queries: id to text.
    """

    def __init__(self, files: BeirWriter, shares: Shares, seed: int) -> None:
        self._files = files
        self.shares = shares
        self.seed = seed
        self.counts = {split: SplitCounts() for split in SPLITS}
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
            self.counts[split].add(splits.count(split), part.height, int((part["level"] > 0).sum()))
            if part.height:
                level = pl.col("level").cast(pl.String).str.strip_suffix(".0")
                part.select("id", "doc_id", level).write_csv(
                    self._files.qrels(split, levels=True),
                    separator="\t",
                    include_header=False,
                    quote_style="never",
                )


def write_subset(folder: Path, name: str, queries: frozenset[str]) -> SplitCounts:
    """Write the judgments of some test queries as a split of their own; no file for none."""
    counts = SplitCounts(queries=len(queries))
    if not queries:
        return counts
    with qrels_path(folder, name).open("wb") as file:
        file.write(LEVELS_HEADER)
        for line, query_id, _, level in _judgments(folder):
            if query_id in queries:
                counts.add(0, 1, int(level > 0))
                file.write(line)
    return counts


def negatives_of_test(folder: Path) -> Iterator[tuple[str, str]]:
    """Pairs of a test query's id and a document that was shown for it and not clicked."""
    for _, query_id, doc_id, level in _judgments(folder):
        if level == 0:
            yield query_id, doc_id


def _judgments(folder: Path) -> Iterator[tuple[bytes, str, str, float]]:
    path = qrels_path(folder, "test")
    if not path.exists():
        return
    for number, line in numbered_lines(path):
        if number > 1:
            query_id, doc_id, level = line.decode().rstrip("\n").split("\t")
            yield line, query_id, doc_id, float(level)
