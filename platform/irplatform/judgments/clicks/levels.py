"""From clicks to levels of relevance, by the formulas of the two Delta papers.

A document's weighted clicks are μ·Ab + (1 − μ)·FT + (1/λ)·Ab·[no full text], for Ab clicks on its
abstract and FT on its full text (Mohan et al., BioNLP 2017, appendix A): reading the full text
counts for more, and having none is not held against a document. The levels of 2017 are these
weights. Those of 2018 (WWW 2018, section 4.1) are the document's share p of the query's weighted
clicks, scaled to 1 + 99·p, so that levels of different queries can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError

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
