"""From grouped clicks to graded judgments: filters, weights and levels.

A document's weighted clicks are μ·Ab + (1 − μ)·FT + (1/λ)·Ab·[no full text], for Ab clicks on its
abstract and FT on its full text (Mohan et al., BioNLP 2017, appendix A). The levels of 2017 are
these weights. Those of 2018 (WWW 2018, section 4.1) are 1 + 99·p for the document's share p of the
query's weighted clicks. Queries are filtered as in BioNLP 2017, section 3.1.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError
from irplatform.settings import check_least
from irplatform.spelling import option
from irplatform.training.topic_identity import query_mark

if TYPE_CHECKING:
    import polars as pl

Formula = Literal["2018", "2017", "binary"]
Numbers: TypeAlias = npt.NDArray[np.float64]
_LARGEST = 999_999
"""The largest level that `read_qrels` reads."""
_DECIMALS = 6
"""Rounding hides binary fractions, such as 5.499999999999999, and the order of additions."""
_BOOLEAN = re.compile(r"(?<!\w)(?:AND|OR|NOT)(?!\w)")
"""In capitals only, as in PubMed."""
# A field tag follows its words: "smith j[au]", "asthma [MeSH Terms:noexp]". Names of substances
# have brackets too, but go on after them or hold other numbers: "benzo[a]pyrene", "[18F]FDG".
_TAG = re.compile(r"\S\s*\[\s*(?:1au|[a-z][a-z /:-]*)\s*\](?![\w-])", re.IGNORECASE)
EMPTY = "no words"
LONG = "too many words"
BOOLEAN = "boolean operators"
TAGGED = "field tags"
HELD_OUT = "held out"
QUERY_REASONS = (EMPTY, LONG, BOOLEAN, TAGGED, HELD_OUT)
"""Reasons to leave out a query, in the order in which they apply."""
FEW_DOCUMENTS = "too few documents"
FEW_CLICKED = "too few clicked"
REASONS = (FEW_DOCUMENTS, FEW_CLICKED)
"""Further reasons, which apply after those of its words."""
KEPT = ""


@dataclass(frozen=True)
class QueryRules:
    """Filters of queries by their words; the defaults are the papers'.

    `boolean` and `tags` keep queries with boolean operators and field tags. `held_out` has the
    `mark`s of queries to leave out, since they are evaluated on later.
    """

    max_words: int = 7
    boolean: bool = False
    tags: bool = False
    held_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise InputError(
                f"queries need at least one word: {option('max_words')} must be 1 or more."
            )


@dataclass(frozen=True)
class Weights:
    """μ in [0, 1] and λ > 0 of a click's weight; the defaults are those of the 2017 paper."""

    mu: float = 0.33
    lambda_: float = 15.0

    def __post_init__(self) -> None:
        if not 0 <= self.mu <= 1:
            raise InputError(f"mu is a share between 0 and 1, not {self.mu}.")
        if not self.lambda_ > 0:
            raise InputError(f"lambda must be above 0, not {self.lambda_}.")


@dataclass(frozen=True)
class JudgingRules:
    """Filters of queries by their documents, weights and levels, as in the WWW 2018 paper.

    A query has at least `min_documents` different documents, and `min_clicked` with a weight.
    """

    min_documents: int = 21
    min_clicked: int = 3
    weights: Weights = field(default_factory=Weights)
    formula: Formula = "2018"

    def __post_init__(self) -> None:
        for name in ("min_documents", "min_clicked"):
            check_least(name, getattr(self, name), 1)


def judge(rows: pl.DataFrame, rules: JudgingRules, counts: Counts) -> pl.DataFrame:
    """Judge the documents of some queries (all rows of them), and count queries and lines.

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
    level = round_levels(levels(documents["weight"], documents["total"], rules.formula))
    return (
        documents.select("id", "query", "doc_id")
        .with_columns(pl.Series("level", level))
        .sort("id", "query", "level", "doc_id", descending=[False, False, True, False])
    )


def _with_weights(rows: pl.DataFrame, weights: Weights) -> pl.DataFrame:
    """Rows with their weighted clicks; a query's total does not depend on its documents' order."""
    import polars as pl

    if "without" not in rows.columns:
        clicks_without = pl.when(pl.col("available") == 0).then("abstract").otherwise(0)
        rows = rows.with_columns(clicks_without.alias("without"))
    weight = weighted_clicks(rows["abstract"], rows["fulltext"], rows["without"], weights)
    return rows.with_columns(pl.Series("weight", weight))


def weighted_clicks(
    abstract: npt.ArrayLike, fulltext: npt.ArrayLike, without: npt.ArrayLike, weights: Weights
) -> Numbers:
    """Weighted clicks [n] of clicks on abstracts, full texts, and abstracts without full text."""
    weighted: Numbers = (
        weights.mu * np.asarray(abstract, dtype=np.float64)
        + (1 - weights.mu) * np.asarray(fulltext, dtype=np.float64)
        + np.asarray(without, dtype=np.float64) / weights.lambda_
    )
    return weighted


def levels(weighted: npt.ArrayLike, totals: npt.ArrayLike, formula: Formula = "2018") -> Numbers:
    """Levels of relevance [n], by documents' weighted clicks and the totals of their queries.

    The formula "2018" gives 0 or (1, 100], "2017" the weights, "binary" 0 or 1.
    """
    clicks = np.asarray(weighted, dtype=np.float64)
    if formula == "2017":
        return clicks
    if formula == "binary":
        return (clicks > 0).astype(np.float64)
    sums = np.maximum(np.asarray(totals, dtype=np.float64), np.finfo(np.float64).tiny)
    return np.where(clicks > 0, 1 + 99 * clicks / sums, 0.0)


def round_levels(relevance: npt.ArrayLike) -> Numbers:
    """Levels with six decimals and at most six digits before the point; those above 0 stay so."""
    exact = np.asarray(relevance, dtype=np.float64)
    least = np.where(exact > 0, 10.0**-_DECIMALS, 0.0)
    return np.round(exact, _DECIMALS).clip(least, _LARGEST)


def refusal(query: str, rules: QueryRules) -> str | None:
    """The first reason to leave out a query, given as it was typed; None to keep it."""
    words = query.split()
    if not words:
        return EMPTY
    if len(words) > rules.max_words:
        return LONG
    if not rules.boolean and _BOOLEAN.search(query):
        return BOOLEAN
    if not rules.tags and _TAG.search(query):
        return TAGGED
    if rules.held_out and mark(query) in rules.held_out:
        return HELD_OUT
    return None


def normalize(query: str) -> str:
    """A query in the form that is compared and written: lower case, NFKC, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", query).lower().split())


def mark(query: str) -> str:
    """The same text for all queries of the same words, in any order."""
    return query_mark(normalize(query))


def query_id(query: str) -> str:
    """The id of a normalized query: 16 hexadecimal digits, the same in every log."""
    return hashlib.blake2b(query.encode(), digest_size=8).hexdigest()


@dataclass
class Counts:
    """The numbers of queries and lines that were kept (`KEPT`) or left out, by reason."""

    queries: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def of(self, reason: str) -> dict[str, int]:
        """Both numbers for a reason."""
        return {"queries": self.queries[reason], "lines": self.lines[reason]}
