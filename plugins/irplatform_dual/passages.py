"""Passages of a collection's documents as pairs: a few words of an abstract must find the title.

Pairs that cost nothing (the inverse cloze task: Lee, Chang, Toutanova. Latent Retrieval for Weakly
Supervised Open Domain Question Answering. ACL 2019, section 4; with the title as what is found, as
in pairs of sentences and cited titles). They teach words of documents that no other pair is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.text.arrays import Int64, ragged
from irplatform_dual.bags import Bags

if TYPE_CHECKING:
    from irplatform_dual.bags import Reader
    from irplatform_dual.options import PairsOptions


def read_passages(reader: Reader, options: PairsOptions) -> tuple[Bags, Bags, Int64]:
    """Draw passages of the documents that have a title and an abstract.

    Where all documents are too many for `options.most`, some of them are drawn.

    Returns:
        Passages, the title of each, and the row of its document in the forward index.
    """
    random = np.random.default_rng([options.seed, 2_000_003])
    index = reader.index
    complete = (index.lengths("title") > 0) & (index.lengths("abstract") > 0)
    rows = np.flatnonzero(complete)
    if len(rows) > (most := options.most // max(options.passages, 1)):
        rows = np.sort(random.choice(rows, most, replace=False))
    titles, abstracts = reader.documents(rows, "title"), reader.documents(rows, "abstract")
    lengths = np.diff(abstracts.offsets)
    usable = np.flatnonzero((np.diff(titles.offsets) > 0) & (lengths > 0))
    which = np.repeat(usable, options.passages)
    spare = np.maximum(lengths[which] - options.passage_words, 0)
    starts = abstracts.offsets[which] + random.integers(0, spare + 1)
    sizes = np.minimum(lengths[which], options.passage_words)
    places, offsets = ragged(starts, sizes)
    return Bags(abstracts.words[places], offsets), titles.take(which), rows[which]
