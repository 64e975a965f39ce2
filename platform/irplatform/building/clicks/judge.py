"""From grouped clicks to graded judgments: the filters on documents, then weights and levels."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, check_least
from irplatform.training.topic_identity import query_mark

if TYPE_CHECKING:
    import polars as pl

    from irplatform.building.clicks.report import Counts


# From clicks to levels of relevance, by the formulas of the two Delta papers.
#
# A document's weighted clicks are μ·Ab + (1 − μ)·FT + (1/λ)·Ab·[no full text], for Ab clicks on
# its abstract and FT on its full text (Mohan et al., BioNLP 2017, appendix A): reading the full
# text counts for more, and having none is not held against a document. The levels of 2017 are
# these weights. Those of 2018 (WWW 2018, section 4.1) are the document's share p of the query's
# weighted clicks, scaled to 1 + 99·p, so that levels of different queries can be compared.

Formula = Literal["2018", "2017", "binary"]

Numbers: TypeAlias = npt.NDArray[np.float64]
_LARGEST = 999_999
"""Of levels, as `read_qrels` reads them."""
_DECIMALS = 6
"""So that binary fractions, as 5.499999999999999, and the order of additions leave no trace."""


@dataclass(frozen=True)
class Weights:
    """The parameters of a click's weight; the defaults are those of the 2017 paper.

    Attributes:
        mu: share of a click on the abstract against one on the full text, in [0, 1].
        lambda_: a click on the abstract of a document without full text weighs 1/λ more; > 0.
    """

    mu: float = 0.33
    lambda_: float = 15.0

    def __post_init__(self) -> None:
        if not 0 <= self.mu <= 1:
            raise InputError(f"mu is a share: it lies between 0 and 1, not at {self.mu}.")
        if not self.lambda_ > 0:
            raise InputError(f"lambda must be above 0, not {self.lambda_}.")


def weighted_clicks(
    abstract: npt.ArrayLike, fulltext: npt.ArrayLike, without: npt.ArrayLike, weights: Weights
) -> Numbers:
    """Weighted clicks.

    Args:
        abstract: clicks on abstracts, [n].
        fulltext: clicks on full texts, [n].
        without: those clicks on abstracts whose documents have no full text, [n]. Whole numbers
            all three, so that sums over a query do not depend on the order of its documents.
        weights: μ and λ.
    """
    weighted: Numbers = (
        weights.mu * np.asarray(abstract, dtype=np.float64)
        + (1 - weights.mu) * np.asarray(fulltext, dtype=np.float64)
        + np.asarray(without, dtype=np.float64) / weights.lambda_
    )
    return weighted


def levels(weighted: npt.ArrayLike, totals: npt.ArrayLike, formula: Formula = "2018") -> Numbers:
    """Levels of relevance.

    Args:
        weighted: weighted clicks of documents, [n].
        totals: the sum of the weighted clicks of each one's query, [n].
        formula: "2018" gives 0 or (1, 100]; "2017" the weights as they are; "binary" 0 or 1.
    """
    clicks = np.asarray(weighted, dtype=np.float64)
    if formula == "2017":
        return clicks
    if formula == "binary":
        return (clicks > 0).astype(np.float64)
    sums = np.maximum(np.asarray(totals, dtype=np.float64), np.finfo(np.float64).tiny)
    return np.where(clicks > 0, 1 + 99 * clicks / sums, 0.0)


def written(relevance: npt.ArrayLike) -> Numbers:
    """Levels as judgments hold them, with six decimals; what is above 0 stays above 0.

    Levels of 2017 grow with the log; judgments have at most six digits before the point.
    """
    exact = np.asarray(relevance, dtype=np.float64)
    least = np.where(exact > 0, 10.0**-_DECIMALS, 0.0)
    return np.round(exact, _DECIMALS).clip(least, _LARGEST)


# Which queries of a log are simple keyword queries, and when two are the same query.
#
# The papers keep "simple text searches, of up to seven words", without boolean expressions, author
# searches and field tags (Mohan et al., BioNLP 2017, section 3.1). Boolean operators are
# recognized in capitals only, as PubMed does: "chronic headache and depression review" is one of
# the papers' test queries.

_BOOLEAN = re.compile(r"(?<!\w)(?:AND|OR|NOT)(?!\w)")
# A field tag follows its words: "smith j[au]", "asthma [MeSH Terms:noexp]". Names of substances
# have brackets too, but go on after them or hold other numbers: "benzo[a]pyrene", "[18F]FDG".
_TAG = re.compile(r"\S\s*\[\s*(?:1au|[a-z][a-z /:-]*)\s*\](?![\w-])", re.IGNORECASE)

EMPTY = "no words"
LONG = "too many words"
BOOLEAN = "boolean operators"
TAGGED = "field tags"
HELD_OUT = "held out"
QUERY_REASONS = (EMPTY, LONG, BOOLEAN, TAGGED, HELD_OUT)
"""Reasons to refuse a query, in the order in which they are looked at."""


@dataclass(frozen=True)
class QueryRules:
    """Which queries are kept, by their words alone; the defaults are the papers'.

    Attributes:
        max_words: the most words, parted by white space.
        boolean: whether queries with boolean operators are kept.
        tags: whether queries with field tags (authors', titles', …) are kept.
        held_out: `mark`s of queries that are not kept, because something else is to be evaluated
            on them.
    """

    max_words: int = 7
    boolean: bool = False
    tags: bool = False
    held_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise InputError("queries need at least one word: --max-words must be 1 or more.")


def normalize(query: str) -> str:
    """A query as it is compared and written: lower case, NFKC, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", query).lower().split())


def mark(query: str) -> str:
    """Stands for a query's words, whatever their order and what is between them."""
    return query_mark(normalize(query))


def query_id(query: str) -> str:
    """16 hexadecimal digits that stand for a normalized query, the same in every log."""
    return hashlib.blake2b(query.encode(), digest_size=8).hexdigest()


def refusal(query: str, rules: QueryRules) -> str | None:
    """Why a query, as it was typed, is not kept: the first reason that holds, or None."""
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
