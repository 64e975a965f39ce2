"""The parts of a run that are more than a call: searching, learning, reranking.

`api.run` tells the story; these modules hold its chapters.
"""

from irplatform.pipeline.candidates import Candidates, search
from irplatform.pipeline.corpus import refuse_broken_corpus, refuse_silent_downloads
from irplatform.pipeline.reranked import (
    FOLDS,
    RerankedRun,
    apply_checkpoint,
    assign,
    rerank,
    rerank_with_seeds,
    resources_with,
)

__all__ = [
    "FOLDS",
    "Candidates",
    "RerankedRun",
    "apply_checkpoint",
    "assign",
    "refuse_broken_corpus",
    "refuse_silent_downloads",
    "rerank",
    "rerank_with_seeds",
    "resources_with",
    "search",
]
