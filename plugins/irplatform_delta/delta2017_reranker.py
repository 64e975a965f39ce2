"""The reranker that the harness sees: training, scoring and weight files of Delta (2017)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.training import NeuralReranker
from irplatform_delta.delta2017_options import PAPER, Delta2017Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform_delta.closest_words import Encoder
    from irplatform_delta.delta2017_network import Delta2017Network


class Delta2017(NeuralReranker):
    """Delta (2017): a classifier over the differences between document and query words.

    For every document word, the vector difference to the closest query word with its length and the
    cosine; three full convolutions of width 3, max-pooling, and a classifier that also reads four
    overlap features. Trained with cross-entropy; scores are logits of the probability of relevance.
    """

    model = "delta-2017"
    Options = Delta2017Options
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. Deep Learning for Biomedical "
        "Information Retrieval: Learning Textual Relevance from Click Logs. BioNLP 2017, section 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: Delta2017Options

    network: Delta2017Network
    _encoder: Encoder

    def prepare(self, resources: Resources) -> None:
        """Take forward index and word vectors, and make an untrained network."""
        from irplatform_delta.closest_words import Encoder
        from irplatform_delta.delta2017_network import Delta2017Network, Sizes

        options = self.options
        vectors = resources.vectors(options.vectors)
        self._encoder = Encoder(resources.forward_index(), vectors, options, resources.device)
        sizes = Sizes(vectors.dimensions, len(options.lexical), options.filters)
        self.start(
            resources, lambda: Delta2017Network(sizes, options.dropout, options.classifier_dropout)
        )

    def identity(self) -> dict[str, Any]:
        """The network's sizes and the lexical features."""
        return {**asdict(self.network.sizes), "features": list(self.options.lexical)}

    def fit(self, data: TrainingData) -> None:
        """Train on samples of either class, stopping early on validation nDCG@20."""
        from irplatform_delta.delta2017_network import Delta2017Task

        with self.encoding(data) as advance:
            task = Delta2017Task(
                self.network, self._encoder, self.options, data, self.resources.seed, advance
            )
        self.train(task, self.options.loop, data)

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one logit each, higher is better, not bounded."""
        import torch

        if not documents:
            return []
        with torch.inference_mode():
            encoded = self._encoder.encode(topic, documents.ids)
            form = self.network.plain if self.options.form == "plain" else self.network
            logits = form(self._encoder.vectors, encoded.words, encoded.documents, encoded.lexical)
            values: list[float] = logits.tolist()
        return values
