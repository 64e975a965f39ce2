"""From grouped clicks to graded judgments: the filters on documents, then weights and levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from irplatform.errors import check_least
from irplatform.judgments.clicks.levels import (
    Formula,
    Weights,
    levels,
    weighted_clicks,
    written,
)

if TYPE_CHECKING:
    import polars as pl

    from irplatform.judgments.clicks.report import Counts

FEW_DOCUMENTS = "too few documents"
FEW_CLICKED = "too few clicked"
REASONS = (FEW_DOCUMENTS, FEW_CLICKED)
"""Reasons to refuse a query, looked at after those in its words."""


@dataclass(frozen=True)
class JudgingRules:
    """How clicks become judgments; the defaults are those of the WWW 2018 paper.

    Attributes:
        min_documents: the fewest different documents shown for a query.
        min_clicked: the fewest of them with a click that weighs anything.
        weights: what a click weighs.
        formula: from weights to levels.
    """

    min_documents: int = 21
    min_clicked: int = 3
    weights: Weights = field(default_factory=Weights)
    formula: Formula = "2018"

    def __post_init__(self) -> None:
        for name in ("min_documents", "min_clicked"):
            check_least(name, getattr(self, name), 1)


def judge(rows: pl.DataFrame, rules: JudgingRules, counts: Counts) -> pl.DataFrame:
    """Judge the documents of some queries.

    Args:
        rows: all rows of these queries, see `grouping.grouped`.
        rules: filters, weights and levels.
        counts: is told how many queries and lines were refused for which reason.

    Returns:
        `id`, `query`, `doc_id` and `level` (0: shown and not clicked), ordered by id, then level
        descending, then document.
    """
    import polars as pl

    queries = (
        _with_weights(rows, rules.weights)
        .group_by("id", "query", "refused")
        .agg(
            pl.col("lines").sum(),
            pl.len().alias("documents"),
            (pl.col("weight") > 0).sum().alias("clicked"),
            pl.col("abstract", "fulltext", "without").sum(),
        )
    )
    reason = (
        pl.when(pl.col("refused") != "")
        .then("refused")
        .when(pl.col("documents") < rules.min_documents)
        .then(pl.lit(FEW_DOCUMENTS))
        .when(pl.col("clicked") < rules.min_clicked)
        .then(pl.lit(FEW_CLICKED))
        .otherwise(pl.lit(""))
    )
    queries = queries.with_columns(reason.alias("reason"))
    for name, number, lines in (
        queries.group_by("reason").agg(pl.len(), pl.col("lines").sum()).iter_rows()
    ):
        counts.queries[name] += number
        counts.lines[name] += lines
    kept_queries = _with_weights(queries.filter(pl.col("reason") == ""), rules.weights)
    totals = kept_queries.select("id", "query", pl.col("weight").alias("total"))
    documents = _with_weights(rows.filter(pl.col("refused") == ""), rules.weights)
    documents = documents.join(totals, on=["id", "query"])
    level = written(levels(documents["weight"], documents["total"], rules.formula))
    return (
        documents.select("id", "query", "doc_id")
        .with_columns(pl.Series("level", level))
        .sort("id", "query", "level", "doc_id", descending=[False, False, True, False])
    )


def _with_weights(rows: pl.DataFrame, weights: Weights) -> pl.DataFrame:
    """Rows with their weighted clicks.

    Those of a query are made of its sums of clicks, which are whole numbers: its total then does
    not depend on the order in which its documents are added.
    """
    import polars as pl

    if "without" not in rows.columns:
        clicks_without = pl.when(pl.col("available") == 0).then("abstract").otherwise(0)
        rows = rows.with_columns(clicks_without.alias("without"))
    weight = weighted_clicks(rows["abstract"], rows["fulltext"], rows["without"], weights)
    return rows.with_columns(pl.Series("weight", weight))
