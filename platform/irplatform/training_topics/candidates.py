"""A training collection after the first stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.pipeline import Candidates, search
from irplatform.reranking.training_set import TrainingSet
from irplatform.retrieval.candidates import CandidateSource, Retrieved
from irplatform.retrieval.fusion import Fusion, choose_fusion
from irplatform.training_topics.collections import check_same_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection, Qrels
    from irplatform.plugin import Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import RetrieverChoice


@dataclass(frozen=True)
class TrainingCandidates:
    """A training collection after the first stage.

    Attributes:
        id: the training collection's.
        training: its topics, with candidates.
        qrels: their judgments.
        validation: its validation topics and their judgments, where it has some apart.
    """

    id: str
    training: Candidates
    qrels: Qrels
    validation: tuple[Candidates, Qrels] | None = None

    @property
    def judged_topics(self) -> list[Topic]:
        """The topics that are learned from: some may have no relevant document."""
        return [topic for topic in self.training.topics if topic.id in self.qrels]

    def fusion(self) -> Fusion:
        """How to fuse the retrievers, as the training topics have it."""
        runs = self.training.first.runs
        return choose_fusion(runs, self.qrels) if len(runs) > 1 else Fusion()

    def training_set(self, fusion: Fusion, resources: CollectionResources) -> TrainingSet:
        """What rerankers learn from, over a first stage that is fused so."""
        training = self.training.fused(fusion).examples(self.qrels, resources)
        if self.validation is None:
            return TrainingSet(self.id, training)
        candidates, qrels = self.validation
        validation = candidates.fused(fusion).examples(qrels, resources)
        return TrainingSet(self.id, training, validation or None)


def find_candidates(
    training: Collection,
    retrievers: Sequence[RetrieverChoice],
    depth: int,
    rerank_depth: int,
    resources: CollectionResources,
    *,
    source: CandidateSource | None = None,
) -> TrainingCandidates:
    """Find candidates for the training topics, and the validation topics where there are.

    Args:
        training: the training collection.
        retrievers: the first stage.
        depth: documents that each retriever finds per topic.
        rerank_depth: how many of them are candidates.
        resources: the harness's resources.
        source: where the candidates of the training topics come from.

    Raises:
        InputError: the training collection has other documents, or no judgments.
    """
    source = source or Retrieved()
    check_same_documents(training, resources.corpus)

    def find(part: Collection, candidate_source: CandidateSource) -> tuple[Candidates, Qrels]:
        if part.load_qrels is None:
            raise InputError(f"'{part.id}' has no judgments to train on.")
        candidates = search(
            part, retrievers, depth, rerank_depth, resources, source=candidate_source
        )
        return candidates, part.load_qrels()

    validation = training.validation() if training.validation else None
    return TrainingCandidates(
        training.id,
        *find(training, source),
        find(validation, source.for_training()) if validation and validation.load_qrels else None,
    )
