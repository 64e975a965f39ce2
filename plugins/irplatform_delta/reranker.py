"""The reranker that the harness sees: Delta's training, scoring and weight files."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.features import ReadsFeatures
from irplatform.training import NeuralReranker, load_into
from irplatform_delta.options import PAPER, DeltaOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.features import Features, SideFeatures
    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform_delta.closest_words import Encoder
    from irplatform_delta.network import DeltaNetwork


class Delta(ReadsFeatures, NeuralReranker):
    """Delta (2018): convolutions over the differences between document and query words.

    For every document word, the vector difference to the closest query word with three similarity
    features; three convolutions of width 3, max-pooling, and a feed-forward stage that also reads
    lexical match features. Trained with a pairwise hinge loss.
    """

    model = "delta"
    Options = DeltaOptions
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning Model for Textual "
        "Relevance in Biomedical Information Retrieval. WWW 2018, sections 3 and 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: DeltaOptions

    network: DeltaNetwork
    _encoder: Encoder
    _side: SideFeatures
    _table: Tensor

    def prepare(self, resources: Resources) -> None:
        """Take forward index, word vectors and features, and make an untrained network."""
        from irplatform.features import SideFeatures
        from irplatform_delta.closest_words import Encoder
        from irplatform_delta.network import DeltaNetwork, Sizes

        options = self.options
        vectors = resources.vectors(options.vectors)
        self._encoder = Encoder(resources.forward_index(), vectors, options, resources.device)
        self._side = SideFeatures(options.features, options.feature_settings, resources)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            lexical=len(options.lexical) + self._side.width,
            filters=options.filters,
            convolutions=options.convolutions,
            hidden=options.hidden,
            difference=options.difference,
            delta_features=options.delta_features,
        )
        self.start(resources, lambda: DeltaNetwork(sizes, options.slope, options.dropout))

    def options_of_pretraining(self) -> DeltaOptions:
        """Without features, which have weights of 0 when what follows begins."""
        return self.options.model_copy(update={"features": (), "feature_settings": {}})

    def fit(self, data: TrainingData) -> None:
        """Train on pairs of documents, stopping early on validation nDCG@20."""
        from irplatform_delta.task import DeltaTask

        with self.encoding(data) as advance:
            task = DeltaTask(
                self.network,
                self._encoder,
                self.options,
                data,
                self._side,
                self.resources.seed,
                advance,
            )
        task.standardize_lexical()
        self.train(task, self.options.loop, data)

    def save(self, folder: Path) -> None:
        """Write the weights, and what the features learned."""
        self._side.save(folder)
        super().save(folder)

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they belong to a network of other sizes.

        Those of pre-training know no features: `fit` has to follow.
        """
        if self._side.width and not self._side.saved_in(folder):
            weights = self.saved_weights(folder, self._identity_with(()))
            load_into(self.network, self.network.widened(weights), folder / self._file)
            self.weights_changed()
        else:
            self._side.load(folder)
            super().load(folder)

    def identity(self) -> dict[str, Any]:
        """The network's sizes and all features of the last layer."""
        return self._identity_with(self._side.columns)

    def _identity_with(self, more_features: Sequence[str]) -> dict[str, Any]:
        """The same if these features stood behind the lexical ones."""
        features = [*self.options.lexical, *more_features]
        sizes = replace(self.network.sizes, lexical=len(features))
        return {**asdict(sizes), "features": features}

    def weights_changed(self) -> None:
        """Compute what the first convolution makes of every word vector."""
        import torch

        with torch.inference_mode():
            self._table = self.network.tabulate(self._encoder.vectors)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """One float per document, not bounded; features may be computed for all topics at once."""
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
                scores = self.network.plain(
                    self._encoder.vectors, encoded.words, encoded.documents, encoded.lexical
                )
            else:
                scores = self.network.tabulated(
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

        vectors = self.resources.vectors(self.options.vectors)
        words = list(dict.fromkeys(tokenize(topic.query)[: self.options.query_words]))
        encoded = self._encoder.encode(topic, documents.ids)
        with torch.inference_mode():
            explainer = Explainer(
                self.network,
                self._table,
                encoded.with_features(self._side.matrix(topic, documents.ids)),
                vectors.words,
                list(zip(words, vectors.rows(words).tolist(), strict=True)),
                (*self.options.lexical, *self._side.columns),
            )
            return [explainer.explain(number) for number in range(len(documents))]
