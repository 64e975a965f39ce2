"""The parts of a run that are more than a call: searching, learning, reranking, explaining.

`api.run` tells the story; these modules hold its chapters.
"""

from irplatform.pipeline.assignment import FOLDS, RerankingTask, assign
from irplatform.pipeline.candidates import Candidates, search
from irplatform.pipeline.corpus import refuse_broken_corpus, refuse_silent_downloads
from irplatform.pipeline.explanation import explained, refuse_member
from irplatform.pipeline.reranked import (
    RerankedRun,
    apply_checkpoint,
    rerank,
    rerank_with_seeds,
    resources_with,
)

__all__ = [
    "FOLDS",
    "Candidates",
    "RerankedRun",
    "RerankingTask",
    "apply_checkpoint",
    "assign",
    "explained",
    "refuse_broken_corpus",
    "refuse_member",
    "refuse_silent_downloads",
    "rerank",
    "rerank_with_seeds",
    "resources_with",
    "search",
]
