"""The reranker that the harness sees: DeepSenSe's training, scoring and weight files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import Documents, Resources, Topic, TrainableReranker, TrainingData
from irplatform_deepsense.options import PRESETS, DeepSenSeOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform_deepsense.attention import Tables
    from irplatform_deepsense.encoding import Encoder
    from irplatform_deepsense.features import SideFeatures
    from irplatform_deepsense.network import DeepSenSeNetwork

_WEIGHTS = "deepsense.safetensors"


class DeepSenSe(TrainableReranker):
    """DeepSenSe: modified decomposable attention over a sentence, a title and an abstract.

    The words of sentence and title, and of sentence and abstract, attend to one another; each is
    compared with its counterpart; what comes out is pooled, joined with side features, and
    classified.
    """

    Options = DeepSenSeOptions
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = PRESETS
    citation: ClassVar[str] = (
        "Chun-chao Lo, Shubo Tian, Yuchuan Tao, Jie Hao, Jinfeng Zhang. Developing a More Accurate "
        "Biomedical Literature Retrieval Method using Deep Learning and Citations in PubMed "
        "Central Full-text Articles (DeepSenSe), “The deep learning model”, equations 1 to 16."
    )
    options: DeepSenSeOptions

    _network: DeepSenSeNetwork
    _encoder: Encoder
    _features: SideFeatures
    _resources: Resources
    _tables: Tables
    _loaded = False

    def prepare(self, resources: Resources) -> None:
        """Take forward index, word vectors and fields, and make an untrained network."""
        import torch

        from irplatform_deepsense.encoding import Encoder
        from irplatform_deepsense.features import side_features
        from irplatform_deepsense.network import DeepSenSeNetwork, Sizes

        self._resources = resources
        options = self.options
        vectors = resources.vectors(options.vectors)
        self._features = side_features(resources, options)
        self._encoder = Encoder(
            resources.forward_index(), vectors, options, self._features, resources.device
        )
        sizes = Sizes(
            dimensions=vectors.dimensions,
            features=len(self._features.names),
            projection=options.projection,
            compare=options.compare,
            compare_layers=options.compare_layers,
            side=options.side,
            classifier=options.classifier,
            compare_on=options.compare_on,
            product=options.product,
            signals=options.signals,
            pooling=options.pooling,
            shortcut=options.shortcut,
        )
        torch.manual_seed(resources.seed)
        self._network = DeepSenSeNetwork(sizes, options.dropout).to(resources.device)

    def fit(self, data: TrainingData) -> None:
        """Train on groups of documents, stopping early on validation nDCG@20."""
        from irplatform.training import run_loop
        from irplatform_deepsense.task import DeepSenSeTask

        if self.options.pairs.file is not None and not self._loaded:
            self._take_pretrained(data)
        topics = len(data.training) + self.options.validation_topics
        with self._resources.progress("encoding training topics", topics) as advance:
            task = DeepSenSeTask(
                self._network,
                self._encoder,
                self.options,
                self._resources.forward_index(),
                data.training,
                data.validation,
                self._resources.seed,
                advance,
            )
        task.standardize_features()
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

    def _take_pretrained(self, data: TrainingData) -> None:
        """Start from F and G as sentences and titles have taught them."""
        from irplatform_deepsense.pretraining import pretrained

        state = pretrained(
            self._resources,
            self._network,
            self._encoder,
            self.options,
            [*data.training, *data.validation],
        )
        self._network.load_state_dict(state, strict=False)

    def save(self, folder: Path) -> None:
        """Write the weights."""
        from irplatform.training import save_weights

        save_weights(folder / _WEIGHTS, self._network.state_dict(), self._identity())

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they belong to a network of other sizes."""
        from irplatform.training import load_weights

        self._network.load_state_dict(load_weights(folder / _WEIGHTS, self._identity()))
        self._loaded = True
        self._after_weights()

    def _identity(self) -> dict[str, Any]:
        from dataclasses import asdict

        identity = {"model": "deepsense", **asdict(self._network.sizes)}
        identity["features"] = list(self._features.names)
        held: dict[str, Any] = json.loads(json.dumps(identity))
        return held

    def _after_weights(self) -> None:
        import torch

        self._network.eval()
        with torch.inference_mode():
            self._tables = self._network.tabulate(self._encoder.vectors, self._encoder.idf)

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, higher is better: the logit of being cited."""
        import torch

        from irplatform_deepsense.scoring import score, score_plain

        if not documents:
            return []
        form = score if self.options.form == "tabulated" else score_plain
        with torch.inference_mode():
            encoded = self._encoder.encode(topic, documents.ids)
            values: list[float] = form(self._network, self._tables, encoded).tolist()
        return values
