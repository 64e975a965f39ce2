"""From grouped clicks to graded judgments: filters, weights, levels, and the report.

A document's weighted clicks are μ·Ab + (1 − μ)·FT + (1/λ)·Ab·[no full text], for Ab clicks on its
abstract and FT on its full text (Mohan et al., BioNLP 2017, appendix A): reading the full text
counts for more, and lacking one is no disadvantage. The levels of 2017 are these weights. Those of
2018 (WWW 2018, section 4.1) are the document's share p of the query's weighted clicks, scaled to
1 + 99·p, so that levels of different queries can be compared.

The papers keep "simple text searches, of up to seven words", without boolean expressions, author
searches and field tags (BioNLP 2017, section 3.1). Boolean operators are recognized in capitals
only, as in PubMed: "chronic headache and depression review" is one of the papers' test queries.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, check_least
from irplatform.training.topic_identity import query_mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

Formula = Literal["2018", "2017", "binary"]
Numbers: TypeAlias = npt.NDArray[np.float64]
_LARGEST = 999_999
"""The largest level that `read_qrels` reads."""
_DECIMALS = 6
"""Rounding hides binary fractions, such as 5.499999999999999, and the order of additions."""
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
"""Reasons to leave out a query, in the order in which they apply."""
FEW_DOCUMENTS = "too few documents"
FEW_CLICKED = "too few clicked"
REASONS = (FEW_DOCUMENTS, FEW_CLICKED)
"""Further reasons, which apply after those of its words."""
KEPT = ""


@dataclass(frozen=True)
class QueryRules:
    """Filters of queries by their words; the defaults are the papers'.

    Attributes:
        max_words: the most words, separated by white space.
        boolean: keep queries with boolean operators.
        tags: keep queries with field tags (authors', titles', …).
        held_out: `mark`s of queries to leave out, since they are evaluated on later.
    """

    max_words: int = 7
    boolean: bool = False
    tags: bool = False
    held_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise InputError("queries need at least one word: --max-words must be 1 or more.")


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
            raise InputError(f"mu is a share between 0 and 1, not {self.mu}.")
        if not self.lambda_ > 0:
            raise InputError(f"lambda must be above 0, not {self.lambda_}.")


@dataclass(frozen=True)
class JudgingRules:
    """Filters of queries by their documents, weights and levels, as in the WWW 2018 paper.

    Attributes:
        min_documents: the fewest different documents shown for a query.
        min_clicked: the fewest of them with a weight above 0.
        weights: of clicks.
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
        rows: all rows of these queries, see `click_log.grouped`.
        rules: filters, weights and levels.
        counts: takes the numbers of queries and lines left out, by reason.

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

    A query's are made of its sums of clicks, which are whole numbers, so that its total does not
    depend on the order of its documents.
    """
    import polars as pl

    if "without" not in rows.columns:
        clicks_without = pl.when(pl.col("available") == 0).then("abstract").otherwise(0)
        rows = rows.with_columns(clicks_without.alias("without"))
    weight = weighted_clicks(rows["abstract"], rows["fulltext"], rows["without"], weights)
    return rows.with_columns(pl.Series("weight", weight))


def weighted_clicks(
    abstract: npt.ArrayLike, fulltext: npt.ArrayLike, without: npt.ArrayLike, weights: Weights
) -> Numbers:
    """Weighted clicks.

    Args:
        abstract: clicks on abstracts, [n].
        fulltext: clicks on full texts, [n].
        without: clicks on the abstracts of documents without full text, [n]. All three are whole
            numbers, so that sums over a query do not depend on the order of its documents.
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
        totals: sums of the weighted clicks of their queries, [n].
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


@dataclass
class SplitCounts:
    """The numbers of a split's queries, judgments, and judgments with a level above 0."""

    queries: int = 0
    judgments: int = 0
    relevant: int = 0

    def add(self, queries: int, judgments: int, relevant: int) -> None:
        """Count some more."""
        self.queries += queries
        self.judgments += judgments
        self.relevant += relevant


@dataclass(frozen=True)
class Report:
    """The report of a build.

    Attributes:
        log: the log's file name.
        options: the filters, weights, shares and seed.
        counts: queries and lines, kept and left out.
        reasons: all reasons to leave out a query, in the order in which they apply.
        splits: the counts of each split, test subsets included.
        notes: further remarks for the user.
    """

    log: str
    options: Mapping[str, Any]
    counts: Counts
    reasons: tuple[str, ...]
    splits: Mapping[str, SplitCounts]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as one JSON object."""
        return {
            "log": self.log,
            "options": dict(self.options),
            "read": {"queries": self.counts.queries.total(), "lines": self.counts.lines.total()},
            "removed": {reason: self._of(reason) for reason in self.reasons},
            "kept": self._of(KEPT),
            "splits": {name: vars(counts) for name, counts in self.splits.items()},
            "notes": list(self.notes),
        }

    def filter_rows(self) -> list[tuple[str, ...]]:
        """The numbers that the filters removed, as a table of text."""
        record = self.as_json()
        removed = [
            (f"removed: {reason}", *_numbers(numbers))
            for reason, numbers in record["removed"].items()
        ]
        return [
            ("", "queries", "lines"),
            ("in the log", *_numbers(record["read"])),
            *removed,
            ("kept", *_numbers(record["kept"])),
        ]

    def split_rows(self) -> list[tuple[str, ...]]:
        """The counts of the splits, as a table of text."""
        rows = [(name, *_numbers(vars(counts))) for name, counts in self.splits.items()]
        return [("split", "queries", "judgments", "relevant"), *rows]

    def _of(self, reason: str) -> dict[str, int]:
        return {"queries": self.counts.queries[reason], "lines": self.counts.lines[reason]}


def _numbers(counts: Mapping[str, int]) -> list[str]:
    return [f"{count:,}" for count in counts.values()]
