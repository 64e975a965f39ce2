"""The reranker that the harness sees: Delta's training, scoring and weight files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import Documents, Resources, Topic, TrainableReranker, TrainingData
from irplatform_delta.options import PAPER, DeltaOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

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
    _resources: Resources
    _table: Tensor

    def prepare(self, resources: Resources) -> None:
        """Take forward index and word vectors, and make an untrained network."""
        import torch

        from irplatform.text.closest_words import Encoder
        from irplatform_delta.network import DeltaNetwork, Sizes

        self._resources = resources
        vectors = resources.vectors(self.options.vectors)
        self._encoder = Encoder(resources.forward_index(), vectors, self.options, resources.device)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            lexical=len(self.options.lexical),
            filters=self.options.filters,
            convolutions=self.options.convolutions,
            hidden=self.options.hidden,
            difference=self.options.difference,
            delta_features=self.options.delta_features,
        )
        torch.manual_seed(resources.seed)
        network = DeltaNetwork(sizes, self.options.slope, self.options.dropout)
        self._network = network.to(resources.device)

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
                data.training,
                data.validation,
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
        """Write the weights."""
        from irplatform.training import save_weights

        save_weights(folder / _WEIGHTS, self._network.state_dict(), self._identity())

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they belong to a network of other sizes."""
        from irplatform.training import load_weights

        self._network.load_state_dict(load_weights(folder / _WEIGHTS, self._identity()))
        self._after_weights()

    def _identity(self) -> dict[str, Any]:
        from dataclasses import asdict

        identity = {"model": "delta", **asdict(self._network.sizes)}
        identity["features"] = list(self.options.lexical)
        held: dict[str, Any] = json.loads(json.dumps(identity))
        return held

    def _after_weights(self) -> None:
        import torch

        self._network.eval()
        with torch.inference_mode():
            self._table = self._network.tabulate(self._encoder.vectors)

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, higher is better, not bounded."""
        import torch

        if not documents:
            return []
        with torch.inference_mode():
            encoded = self._encoder.encode(topic, documents.ids)
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
        with torch.inference_mode():
            explainer = Explainer(
                self._network,
                self._table,
                self._encoder.encode(topic, documents.ids),
                vectors.words,
                list(zip(words, vectors.rows(words).tolist(), strict=True)),
                self.options.lexical,
            )
            return [explainer.explain(number) for number in range(len(documents))]
