"""The reranker that the harness sees: training, scoring and weight files of Delta (2017)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import Documents, Resources, Topic, TrainableReranker, TrainingData
from irplatform_delta2017.options import PAPER, Delta2017Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.text.closest_words import Encoder
    from irplatform_delta2017.network import Delta2017Network

_WEIGHTS = "delta-2017.safetensors"


class Delta2017(TrainableReranker):
    """Delta (2017): a classifier over the differences between document and query words.

    For every document word, the vector difference to the closest query word with its length and the
    cosine; three full convolutions of width 3, max-pooling, and a classifier that also reads four
    overlap features. Trained with cross-entropy; scores are logits of the probability of relevance.
    """

    Options = Delta2017Options
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. Deep Learning for Biomedical "
        "Information Retrieval: Learning Textual Relevance from Click Logs. BioNLP 2017, section 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: Delta2017Options

    _network: Delta2017Network
    _encoder: Encoder
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Take forward index and word vectors, and make an untrained network."""
        import torch

        from irplatform.text.closest_words import Encoder
        from irplatform_delta2017.network import Delta2017Network, Sizes

        self._resources = resources
        options = self.options
        vectors = resources.vectors(options.vectors)
        self._encoder = Encoder(resources.forward_index(), vectors, options, resources.device)
        torch.manual_seed(resources.seed)
        network = Delta2017Network(
            Sizes(vectors.dimensions, len(options.lexical), options.filters),
            options.dropout,
            options.classifier_dropout,
        )
        self._network = network.to(resources.device).eval()

    def fit(self, data: TrainingData) -> None:
        """Train on samples of either class, stopping early on validation nDCG@20."""
        from irplatform.training import run_shown
        from irplatform_delta2017.task import Delta2017Task

        topics = len(data.training) + len(data.validation)
        with self._resources.progress("encoding training topics", topics) as advance:
            task = Delta2017Task(
                self._network,
                self._encoder,
                self.options,
                data.training,
                data.validation,
                self._resources.seed,
                advance,
            )
        run_shown(task, self.options.loop, self._resources, data.workspace)

    def save(self, folder: Path) -> None:
        """Write the weights."""
        from irplatform.training import save_weights

        save_weights(folder / _WEIGHTS, self._network.state_dict(), self._identity())

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they belong to a network of other sizes."""
        from irplatform.training import load_weights

        self._network.load_state_dict(load_weights(folder / _WEIGHTS, self._identity()))

    def _identity(self) -> dict[str, Any]:
        return {
            "model": "delta-2017",
            **asdict(self._network.sizes),
            "features": list(self.options.lexical),
        }

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one logit each, higher is better, not bounded."""
        import torch

        if not documents:
            return []
        with torch.inference_mode():
            encoded = self._encoder.encode(topic, documents.ids)
            form = self._network.plain if self.options.form == "plain" else self._network
            logits = form(self._encoder.vectors, encoded.words, encoded.documents, encoded.lexical)
            values: list[float] = logits.tolist()
        return values
