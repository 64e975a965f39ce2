"""Where rerankers learn from: training collections, the topics' own folds, pre-training.

Everything is found and checked here before `pipeline.rerank` fits anything.
"""

from irplatform.training_topics.candidates import TrainingCandidates, find_candidates
from irplatform.training_topics.checks import (
    check_cross_validation,
    check_repetitions,
    warning_of_fields,
)
from irplatform.training_topics.collections import (
    all_to_learn_from,
    check_same_documents,
    find_training,
    to_fuse_on,
    topics_to_tune_on,
)
from irplatform.training_topics.pretraining import (
    MESH_QUERIES,
    check_pretraining,
    declared_pretraining,
    pretraining_set,
)

__all__ = [
    "MESH_QUERIES",
    "TrainingCandidates",
    "all_to_learn_from",
    "check_cross_validation",
    "check_pretraining",
    "check_repetitions",
    "check_same_documents",
    "declared_pretraining",
    "find_candidates",
    "find_training",
    "pretraining_set",
    "to_fuse_on",
    "topics_to_tune_on",
    "warning_of_fields",
]
