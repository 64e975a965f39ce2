"""The Word Mover's Distance of a query to many texts, and its relaxed lower bound.

The distance (Kusner, Sun, Kolkin and Weinberger, ICML 2015, eq. 1) is the least cost of moving the
weights of one text's words to those of the other's, where moving a word to another costs their
Euclidean distance. A solver for optimal transport (POT's network simplex) finds it text by text;
everything before that is done for all texts at once.

Two steps make the problems smaller and leave their value as it is. Weight that both texts have on
the same word stays where it is: the cost is a metric, for which the least cost depends on the
difference of the two weightings only (Kantorovich and Rubinstein). And where the weight of one word
is left to be moved, there is only one way to do it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from irplatform.text.arrays import Float64, Int64
    from irplatform_baselines.bags import Bags

_MOST_STEPS = 10_000_000
"""Of the solver, which stops with a warning there; real texts need some thousands."""


def exact(weights: Float64, costs: Float64, shared: Int64, texts: Bags) -> Float64:
    """The Word Mover's Distance of a query to texts, none of which is empty.

    Args:
        weights: [q], the shares of the query's distinct words, adding up to 1.
        costs: [q, w], the distance of each to every word that a text may have.
        shared: [w], which word of the query a word is, or -1.
        texts: the texts, with numbers of words below w.

    Returns:
        float64 [texts].
    """
    sources = np.tile(weights, (len(texts), 1))
    targets = texts.weights.copy()
    query_words = shared[texts.words]
    both = np.flatnonzero(query_words >= 0)
    cells = texts.owners[both], query_words[both]
    common = np.minimum(sources[cells], targets[both])
    sources[cells] -= common
    targets[both] -= common
    distances = np.zeros(len(texts))
    for number in range(len(texts)):
        part = slice(texts.offsets[number], texts.offsets[number + 1])
        left = np.flatnonzero(targets[part])
        moved = np.flatnonzero(sources[number])
        if len(left):
            distances[number] = _least_cost(
                sources[number, moved],
                targets[part][left],
                costs[moved[:, None], texts.words[part][left]],
            )
    return distances


def _least_cost(sources: Float64, targets: Float64, costs: Float64) -> float:
    if 1 in costs.shape:
        return float(sources @ costs @ targets / targets.sum())
    from ot import emd2

    return float(
        emd2(
            sources,
            targets,
            costs,
            numItermax=_MOST_STEPS,
            center_dual=False,  # the duals are not asked for
            check_marginals=False,  # both add up to the same: as much was taken from either
        )
    )


def relaxed(weights: Float64, costs: Float64, words: Int64, offsets: Int64) -> Float64:
    """The relaxed distance (Kusner et al., section 4): a lower bound of the exact one.

    Every word moves all of its weight to the nearest word of the other text; of the two directions,
    the dearer one counts. A text's words are read as they come, each as often as it occurs: putting
    equal ones together first would take longer.

    Args:
        weights: [q], as `exact` takes them.
        costs: [q, w], likewise.
        words: the words of all texts, one text behind the other, none of which is empty.
        offsets: where each text begins; one more than there are texts.

    Returns:
        float64 [texts].
    """
    begins = offsets[:-1]
    nearest = np.minimum.reduceat(np.take(costs, words, axis=1), begins, axis=1)
    from_texts = np.add.reduceat(costs.min(axis=0)[words], begins) / np.diff(offsets)
    from_query = np.add.reduce(weights[:, None] * nearest, axis=0)
    return np.asarray(np.maximum(from_query, from_texts))
