"""Delta (2018), Delta (2017) and SevMos as rerankers: training, scores and weight files."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.kit import NeuralReranker, WeightFile
from irplatform.plugin import NamedSystem, Reads, Traits
from irplatform_delta.options import (
    PAPER_2018,
    PAPER_CLASSIFIERS,
    Delta2017Options,
    DeltaOptions,
    SevMosOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import (
        DeviceCandidates,
        Float32,
        Int64,
        SideFeatures,
        StoredVectors,
        WordVectors,
    )
    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform_delta.closest_words import Encoder
    from irplatform_delta.delta2017_network import Delta2017Network, Delta2017Task
    from irplatform_delta.network import DeltaNetwork, DeltaTask
    from irplatform_delta.sevmos_network import SevMosNetwork, SevMosTask, Texts


class Delta(NeuralReranker):
    """Delta (2018): convolutions over the differences between document and query words.

    For every document word, the vector difference to the closest query word and three similarity
    features; three convolutions, max-pooling, and a feed-forward stage that also reads lexical
    match features. Trained with a pairwise hinge loss.
    """

    model = "delta"
    Options = DeltaOptions
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. A Fast Deep Learning Model for Textual "
        "Relevance in Biomedical Information Retrieval. WWW 2018, sections 3 and 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER_2018}
    options: DeltaOptions

    network: DeltaNetwork
    encoder: Encoder
    _side: SideFeatures
    table: Tensor

    def prepare(self, resources: Resources) -> None:
        from irplatform.kit import SideFeatures
        from irplatform_delta.closest_words import Encoder
        from irplatform_delta.network import DeltaNetwork, Sizes

        options = self.options
        vectors = resources.vectors(options.vectors)
        self.encoder = Encoder(resources.forward_index(), vectors, options, resources.device)
        self._side = SideFeatures(options.features, options.feature_settings, resources)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            lexical=len(options.lexical) + self._side.width,
            **options.model_dump(include={*Sizes.__dataclass_fields__} - {"lexical"}),
        )
        self.start(resources, lambda: DeltaNetwork(sizes, options.slope, options.dropout))

    def traits(self) -> Traits:
        """Pre-trained without features, whose weights are 0 when what follows begins."""
        without = self.options.model_copy(update={"features": (), "feature_settings": {}})
        return replace(super().traits(), pretraining_options=without)

    def reads(self) -> Reads:
        names, settings = self.options.features, self.options.feature_settings
        groups = NamedSystem.several(
            "feature group", names, settings, settings_in="feature_settings"
        )
        return Reads(systems=groups)

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> DeltaTask:
        from irplatform_delta.network import DeltaTask

        side, seed = self._side, self.resources.seed
        task = DeltaTask(self.network, self.encoder, self.options, data, side, seed, advance)
        task.standardize_lexical()
        return task

    def save(self, folder: Path) -> None:
        self._side.save(folder)
        super().save(folder)

    def load(self, folder: Path) -> None:
        """Read the weights; those of pre-training know no features, so `fit` has to follow."""
        if self._side.width and not self._side.saved_in(folder):
            weights = self.saved_weights(folder, self._identity_with(()))
            WeightFile(folder / self._file).load_into(self.network, self.network.widened(weights))
            self.weights_changed()
        else:
            self._side.load(folder)
            super().load(folder)

    def describe_model(self) -> dict[str, Any]:
        return self._identity_with(self._side.columns)

    def _identity_with(self, more_features: Sequence[str]) -> dict[str, Any]:
        features = [*self.options.lexical, *more_features]
        sizes = replace(self.network.sizes, lexical=len(features))
        return {**asdict(sizes), "features": features}

    def weights_changed(self) -> None:
        import torch

        with torch.inference_mode():
            self.table = self.network.tabulate(self.encoder.vectors)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        features = self._side.matrices([(topic, documents.ids) for topic, documents in batch])
        score = self.network.tabulated
        return self.encoder.score(
            batch,
            lambda pool: score(self.table, pool.words, pool.documents, pool.lexical),
            features,
        )

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        """The closest document words of each query word, and the lexical features.

        `gain` is how much lower the score would be without a word, or with a feature at its mean.
        """
        import torch

        from irplatform.kit import tokenize
        from irplatform_delta.explanation import Explainer

        vectors = self.resources.vectors(self.options.vectors)
        words = list(dict.fromkeys(tokenize(topic.query)[: self.options.query_words]))
        encoded = self.encoder.encode(topic, documents.ids)
        with torch.inference_mode():
            explainer = Explainer(
                self.network,
                self.table,
                encoded.with_features(self._side.matrix(topic, documents.ids)),
                vectors.words,
                list(zip(words, vectors.rows(words).tolist(), strict=True)),
                (*self.options.lexical, *self._side.columns),
            )
            return [explainer.explain(number) for number in range(len(documents))]


class Delta2017(NeuralReranker):
    """Delta (2017): a classifier over the differences between document and query words.

    For every document word, the vector difference to the closest query word, its length and the
    cosine; three convolutions, max-pooling, and a classifier that also reads four overlap features.
    Trained with cross-entropy; scores are logits of the probability of relevance.
    """

    model = "delta-2017"
    Options = Delta2017Options
    citation: ClassVar[str] = (
        "Sunil Mohan, Nicolas Fiorini, Sun Kim, Zhiyong Lu. Deep Learning for Biomedical "
        "Information Retrieval: Learning Textual Relevance from Click Logs. BioNLP 2017, section 4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER_CLASSIFIERS}
    options: Delta2017Options

    network: Delta2017Network
    encoder: Encoder

    def prepare(self, resources: Resources) -> None:
        from irplatform_delta.closest_words import Encoder
        from irplatform_delta.delta2017_network import Delta2017Network, Sizes

        options = self.options
        vectors = resources.vectors(options.vectors)
        self.encoder = Encoder(resources.forward_index(), vectors, options, resources.device)
        sizes = Sizes(vectors.dimensions, len(options.lexical), options.filters)
        self.start(
            resources, lambda: Delta2017Network(sizes, options.dropout, options.classifier_dropout)
        )

    def describe_model(self) -> dict[str, Any]:
        return {**asdict(self.network.sizes), "features": list(self.options.lexical)}

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> Delta2017Task:
        from irplatform_delta.delta2017_network import Delta2017Task

        seed = self.resources.seed
        return Delta2017Task(self.network, self.encoder, self.options, data, seed, advance)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        vectors = self.encoder.vectors
        return self.encoder.score(
            batch, lambda pool: self.network(vectors, pool.words, pool.documents, pool.lexical)
        )


class SevMos(NeuralReranker):
    """SevMos: query and document as vectors, compared and classified.

    Each goes through convolutions and max-pooling; their bilinear similarity, both vectors and
    lexical match features go to a classifier. Document vectors are stored. Scores are logits of the
    probability of relevance.
    """

    model = "sevmos"
    Options = SevMosOptions
    citation: ClassVar[str] = (
        "Aliaksei Severyn, Alessandro Moschitti. Learning to Rank Short Text Pairs with "
        "Convolutional Deep Neural Networks. SIGIR 2015, section 3; in the sizes of Mohan et al., "
        "BioNLP 2017, section 5.1.1, and WWW 2018, section 4.3.3."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER_CLASSIFIERS}
    options: SevMosOptions

    network: SevMosNetwork
    _texts: Texts
    _word_vectors: WordVectors
    _stored: StoredVectors | None = None

    def prepare(self, resources: Resources) -> None:
        from irplatform_delta.sevmos_network import SevMosNetwork, Sizes, Texts

        options = self.options
        self._word_vectors = resources.vectors(options.vectors)
        index = resources.forward_index()
        self._texts = Texts(index, self._word_vectors, options, resources.device)
        sizes = Sizes(
            dimensions=self._word_vectors.dimensions,
            lexical=len(options.lexical),
            **options.model_dump(include={"filters", "layers", "width"}),
        )
        self.start(
            resources, lambda: SevMosNetwork(sizes, options.dropout, options.classifier_dropout)
        )

    def describe_model(self) -> dict[str, Any]:
        return {**asdict(self.network.sizes), "features": list(self.options.lexical)}

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> SevMosTask:
        from irplatform_delta.sevmos_network import SevMosTask

        seed = self.resources.seed
        task = SevMosTask(self.network, self._texts, self.options, data, seed, advance)
        task.standardize_lexical()
        return task

    def weights_changed(self) -> None:
        self._stored = None

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        from irplatform.kit import Reading, on_device

        documents = on_device(self._texts.index, self.resources.device)
        reading = Reading(self._texts.query, self.options.lexical)
        return documents.score(batch, reading, self._scores)

    def _scores(self, candidates: DeviceCandidates) -> Tensor:
        words, places = candidates.distinct(candidates.query, self._texts.size)
        queries = self._texts.encoded(self.network.query, words, places)
        documents = self._document_vectors(candidates)
        return self.network.match(queries[candidates.topic], documents, candidates.features)

    def _document_vectors(self, candidates: DeviceCandidates) -> Tensor:
        from irplatform.kit import StoredVectors

        if (
            self._texts.index.given_texts()
            or self._texts.index.count > self.options.stored_documents
        ):
            tokens = candidates.matrix(self.options.document_words)
            words, places = candidates.distinct(tokens, self._texts.size)
            return self._texts.encoded(self.network.document, words, places)
        if self._stored is None:
            self._stored = StoredVectors(self._store(), self.resources.device)
        return self._stored.of(candidates)

    def _store(self) -> Float32:
        import torch

        from irplatform.kit import WeightFile, stored_documents

        stage = self.network.document

        def compute(rows: Int64) -> Float32:
            with torch.inference_mode():
                vectors = self._texts.vectors(stage, self._texts.documents(rows))
            return vectors.cpu().numpy()

        depends_on = {
            "format": 1,
            "weights": WeightFile.digest(stage.state_dict()),
            "vectors": self._word_vectors.digest(),
            "document_words": self.options.document_words,
            "device": self.resources.device,
            "model_threads": self.resources.model_threads,
        }
        return stored_documents(
            self.resources, "sevmos-documents", depends_on, compute, self.options.filters
        )
