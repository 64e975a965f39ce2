"""DeepMatch as a reranker: training, scores and weight files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.kit import NeuralReranker
from irplatform_deepmatch.options import DeepMatchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform_deepmatch.network import DeepMatchNetwork, DeepMatchTask, Interactions


class DeepMatch(NeuralReranker):
    """DeepMatch: two-dimensional convolutions over the similarities of query and document words.

    The matrix of cosines goes through two stages of convolution and pooling, the second to a fixed
    grid, and a feed-forward stage. Trained with a pairwise hinge loss.
    """

    model = "deepmatch"
    Options = DeepMatchOptions
    citation: ClassVar[str] = (
        "Sendong Zhao, Chang Su, Andrea Sboner, Fei Wang. GRAPHENE: A Precise Biomedical "
        "Literature Retrieval Engine with Graph Augmented Deep Learning and External Knowledge "
        "Empowerment. CIKM 2019, baselines; after Zhengdong Lu, Hang Li. A Deep Architecture for "
        "Matching Short Texts. NIPS 2013."
    )
    options: DeepMatchOptions

    network: DeepMatchNetwork
    interactions: Interactions

    def prepare(self, resources: Resources) -> None:
        from irplatform_deepmatch.network import DeepMatchNetwork, Interactions, Sizes

        options = self.options
        self.interactions = Interactions(
            resources.forward_index(), resources.vectors(options.vectors), options, resources.device
        )
        sizes = Sizes(**options.model_dump(include={*Sizes.__dataclass_fields__}))
        self.start(resources, lambda: DeepMatchNetwork(sizes, options.dropout))

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> DeepMatchTask:
        from irplatform_deepmatch.network import DeepMatchTask

        return DeepMatchTask(
            self.network, self.interactions, self.options, data, self.resources.seed, advance
        )

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        import torch

        if not documents:
            return []
        with torch.inference_mode():
            matrices, present = self.interactions.of_topic(
                self.interactions.query(topic.query), self.interactions.documents(documents.ids)
            )
            values: list[float] = self.network(matrices, present).tolist()
        return values
