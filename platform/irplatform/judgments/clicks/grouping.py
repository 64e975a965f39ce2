"""Lines of the same query and document, added up in bounded memory.

What fits is grouped in memory; what does not is parted into files by the first digits of the
queries' ids, and every part is grouped on its own: a hash-partitioned aggregation (Graefe, ACM
Computing Surveys 1993, section 4.3). Ids are hashes, so parts are even; one that is still too large
is parted again by the digits that follow. The result comes in the order of the ids however often
that was done.
"""

from __future__ import annotations

import io
from contextlib import ExitStack
from itertools import chain
from typing import IO, TYPE_CHECKING

from irplatform.judgments.clicks.queries import QueryRules, normalize, query_id, refusal
from irplatform.text_files import blocks_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

MOST_ROWS = 500_000
"""Rows of (query, document) that are grouped in memory; about 300 MB at the peak."""
_DIGITS = 2
_LEVELS = 16 // _DIGITS
_BLOCK_BYTES = 1 << 24
_KEYS = ["id", "query", "refused", "doc_id"]
_COUNTS = ["lines", "abstract", "fulltext", "available"]


def prepare(lines: pl.DataFrame, rules: QueryRules) -> pl.DataFrame:
    """Normalize the queries of a block of the log, and reduce it to a row per pair.

    Args:
        lines: see `log.read_log`.
        rules: which queries are refused. Of those no documents are kept, only the number of lines.

    Returns:
        A frame with `id`, `query` (normalized), `refused` (the reason, or ""), `doc_id`, `lines`,
        `abstract` and `fulltext` clicks, and `available` (1 where any line says that there is a
        full text).
    """
    import polars as pl

    typed = lines["query"].unique().to_list()
    names = [normalize(query) for query in typed]
    normalized = pl.DataFrame(
        {
            "typed": typed,
            "query": names,
            "id": [query_id(name) for name in names],
            "refused": [refusal(query, rules) or "" for query in typed],
        },
        schema=dict.fromkeys(["typed", "query", "id", "refused"], pl.String),
    )
    kept = pl.col("refused") == ""
    opened = (pl.col("fulltext_clicks") > 0).cast(pl.Int64)
    available = pl.max_horizontal("has_fulltext", opened)
    return combine(
        lines.rename({"query": "typed"})
        .join(normalized, on="typed")
        .select(
            "id",
            "query",
            "refused",
            pl.when(kept).then("doc_id").otherwise(pl.lit("")).alias("doc_id"),
            pl.lit(1, dtype=pl.Int64).alias("lines"),
            pl.when(kept).then("abstract_clicks").otherwise(0).alias("abstract"),
            pl.when(kept).then("fulltext_clicks").otherwise(0).alias("fulltext"),
            pl.when(kept).then(available).otherwise(0).alias("available"),
        )
    )


def combine(rows: pl.DataFrame) -> pl.DataFrame:
    """Add up the rows of the same query, reason and document."""
    import polars as pl

    return rows.group_by(_KEYS).agg(
        pl.col("lines", "abstract", "fulltext").sum(), pl.col("available").max()
    )


def grouped(
    frames: Iterator[pl.DataFrame], scratch: Path, *, most_rows: int = MOST_ROWS, level: int = 0
) -> Iterator[pl.DataFrame]:
    """Add up rows that may be too many for the memory.

    Args:
        frames: as `prepare` returns them.
        scratch: a folder for the parts; they are removed when they have been read.
        most_rows: how many rows are held at a time.
        level: how many digits the ids have in common already, in twos.

    Yields:
        Frames with all the rows of some queries, ordered by query and document; the frames follow
        each other in the order of the ids.
    """
    import polars as pl

    pending: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        pending.append(frame)
        rows += frame.height
        if rows <= most_rows:
            continue
        pending = [combine(pl.concat(pending))]
        rows = pending[0].height
        # Where ids have no more digits a single query is left, as long as its documents are many.
        if rows > most_rows // 2 and level < _LEVELS:
            first = iter([pending.pop()])  # freed when it has been written
            parts = _part(chain(first, frames), scratch / f"level-{level}", level)
            for part in parts:
                part_frames = _read(part)
                yield from grouped(part_frames, scratch, most_rows=most_rows, level=level + 1)
                part.unlink()
            return
    if pending:
        yield combine(pl.concat(pending)).sort(_KEYS)


def _part(frames: Iterator[pl.DataFrame], folder: Path, level: int) -> list[Path]:
    """Write rows to a file for each value of the digits at a level; the files in their order."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, IO[bytes]] = {}
    digits = pl.col("id").str.slice(level * _DIGITS, _DIGITS).alias("digits")
    with ExitStack() as open_files:
        for frame in frames:
            parts = frame.with_columns(digits).partition_by(
                "digits", as_dict=True, include_key=False
            )
            for (name,), rows in parts.items():
                if name not in files:
                    file = (folder / f"{name}.tsv").open("wb")
                    files[name] = open_files.enter_context(file)
                rows.select(_KEYS + _COUNTS).write_csv(
                    files[name], separator="\t", include_header=False, quote_style="never"
                )
    return [folder / f"{name}.tsv" for name in sorted(files)]


def _read(part: Path) -> Iterator[pl.DataFrame]:
    import polars as pl

    schema = dict.fromkeys(_KEYS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64)
    for block in blocks_of_lines(part, _BLOCK_BYTES):
        yield pl.read_csv(
            io.BytesIO(block),
            separator="\t",
            has_header=False,
            quote_char=None,
            schema=schema,
        ).with_columns(pl.col(_KEYS).fill_null(""))
