"""The reranker that the harness sees: Delta's training, scoring and weight files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import (
    Documents,
    Resources,
    Topic,
    TrainableReranker,
    TrainingData,
)
from irplatform.plugin import Options as AnyOptions
from irplatform_delta.options import PAPER, DeltaOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.features import Features, SideFeatures
    from irplatform.text.closest_words import Encoder
    from irplatform_delta.network import DeltaNetwork

_WEIGHTS = "delta.safetensors"


class Delta(TrainableReranker):
    """Delta (2018): convolutions over the differences between document and query words.

    For every document word, the vector difference to the closest query word with three similarity
    features; three convolutions of width 3, max-pooling, and a feed-forward stage that also reads
    lexical match features. Trained with a pairwise hinge loss.
    """

    Options = DeltaOptions
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning Model for Textual "
        "Relevance in Biomedical Information Retrieval. WWW 2018, sections 3 and 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: DeltaOptions

    _network: DeltaNetwork
    _encoder: Encoder
    _side: SideFeatures
    _resources: Resources
    _table: Tensor

    def prepare(self, resources: Resources) -> None:
        """Take forward index, word vectors and features, and make an untrained network."""
        import torch

        from irplatform.features import SideFeatures
        from irplatform.text.closest_words import Encoder
        from irplatform_delta.network import DeltaNetwork, Sizes

        self._resources = resources
        vectors = resources.vectors(self.options.vectors)
        self._encoder = Encoder(resources.forward_index(), vectors, self.options, resources.device)
        self._side = SideFeatures(self.options.features, self.options.feature_settings, resources)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            lexical=len(self.options.lexical) + self._side.width,
            filters=self.options.filters,
            convolutions=self.options.convolutions,
            hidden=self.options.hidden,
            difference=self.options.difference,
            delta_features=self.options.delta_features,
        )
        torch.manual_seed(resources.seed)
        network = DeltaNetwork(sizes, self.options.slope, self.options.dropout)
        self._network = network.to(resources.device)

    @classmethod
    def options_of_pretraining(cls, options: AnyOptions) -> AnyOptions:
        """Without features, which have weights of 0 when what follows begins."""
        return options.model_copy(update={"features": (), "feature_settings": {}})

    def depends_on(self) -> Mapping[str, object]:
        """The knowledge bases that are installed, where features read them."""
        from irplatform.features import dependencies

        return dependencies(self.options.features)

    def fit(self, data: TrainingData) -> None:
        """Train on pairs of documents, stopping early on validation nDCG@20."""
        from irplatform.training import run_loop
        from irplatform_delta.task import DeltaTask

        topics = len(data.training) + len(data.validation)
        with self._resources.progress("encoding training topics", topics) as advance:
            task = DeltaTask(
                self._network,
                self._encoder,
                self.options,
                data,
                self._side,
                self._resources.seed,
                advance,
            )
        task.standardize_lexical()
        loop = self.options.loop
        with self._resources.progress("training", loop.epochs) as advance:
            run_loop(
                task,
                loop,
                seed=self._resources.seed,
                workspace=data.workspace,
                report=lambda _epoch, _loss, _measure: advance(1),
            )
        self._after_weights()

    def save(self, folder: Path) -> None:
        """Write the weights, and what the features learned."""
        from irplatform.training import save_weights

        self._side.save(folder)
        identity = self._identity(self._side.columns)
        save_weights(folder / _WEIGHTS, self._network.state_dict(), identity)

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they belong to a network of other sizes.

        Those of pre-training know no features: `fit` has to follow.
        """
        from irplatform.training import load_weights

        path = folder / _WEIGHTS
        if self._side.width and not self._side.saved_in(folder):
            weights = load_weights(path, self._identity(()))
            self._network.load_state_dict(self._network.widened(weights))
        else:
            self._side.load(folder)
            self._network.load_state_dict(load_weights(path, self._identity(self._side.columns)))
        self._after_weights()

    def _identity(self, more_features: Sequence[str]) -> dict[str, Any]:
        """What weights must belong to; `more_features` stand behind the lexical ones."""
        from dataclasses import asdict, replace

        features = [*self.options.lexical, *more_features]
        sizes = replace(self._network.sizes, lexical=len(features))
        identity = {"model": "delta", **asdict(sizes), "features": features}
        held: dict[str, Any] = json.loads(json.dumps(identity))
        return held

    def _after_weights(self) -> None:
        import torch

        self._network.eval()
        with torch.inference_mode():
            self._table = self._network.tabulate(self._encoder.vectors)

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, higher is better, not bounded."""
        return self.score_batch([(topic, documents)])[0]

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Score several topics; features may be computed for all at once."""
        features = self._side.matrices([(topic, documents.ids) for topic, documents in batch])
        return [
            self._score(topic, documents, values) if documents else []
            for (topic, documents), values in zip(batch, features, strict=True)
        ]

    def _score(self, topic: Topic, documents: Documents, features: Features) -> list[float]:
        import torch

        with torch.inference_mode():
            encoded = self._encoder.encode(topic, documents.ids).with_features(features)
            if self.options.form == "plain":
                scores = self._network.plain(
                    self._encoder.vectors, encoded.words, encoded.documents, encoded.lexical
                )
            else:
                scores = self._network.tabulated(
                    self._table, encoded.words, encoded.documents, encoded.lexical
                )
            values: list[float] = scores.tolist()
        return values

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """The closest document words of each query word with their δ, and lexical features.

        `gain` is how much lower the score would be without a word, or with a lexical feature at
        its mean over the training documents.
        """
        import torch

        from irplatform.text import tokenize
        from irplatform_delta.explanation import Explainer

        vectors = self._resources.vectors(self.options.vectors)
        words = list(dict.fromkeys(tokenize(topic.query)[: self.options.query_words]))
        encoded = self._encoder.encode(topic, documents.ids)
        with torch.inference_mode():
            explainer = Explainer(
                self._network,
                self._table,
                encoded.with_features(self._side.matrix(topic, documents.ids)),
                vectors.words,
                list(zip(words, vectors.rows(words).tolist(), strict=True)),
                (*self.options.lexical, *self._side.columns),
            )
            return [explainer.explain(number) for number in range(len(documents))]
