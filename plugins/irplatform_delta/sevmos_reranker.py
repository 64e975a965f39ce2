"""The reranker that the harness sees: training, stored documents, scoring, weight files."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.training import NeuralReranker
from irplatform_delta.sevmos_options import PAPER, SevMosOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    from torch import Tensor

    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform.text import ForwardIndex, WordVectors
    from irplatform.text.arrays import Float32
    from irplatform_delta.sevmos_network import SevMosNetwork, Texts

_FORMAT = 1


class SevMos(NeuralReranker):
    """SevMos: query and document as vectors of their own, compared and classified.

    Each goes through its own convolutions and max-pooling; their bilinear similarity, both vectors
    and lexical match features go to a classifier. Document vectors do not depend on the query: they
    are computed once for the collection and stored. Scores are logits of the probability of
    relevance.
    """

    model = "sevmos"
    Options = SevMosOptions
    citation: ClassVar[str] = (
        "Aliaksei Severyn, Alessandro Moschitti. Learning to Rank Short Text Pairs with "
        "Convolutional Deep Neural Networks. SIGIR 2015, section 3; in the sizes of Mohan et al., "
        "BioNLP 2017, section 5.1.1, and WWW 2018, section 4.3.3."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: SevMosOptions

    network: SevMosNetwork
    _texts: Texts
    _index: ForwardIndex
    _word_vectors: WordVectors
    _stored: Float32 | None = None

    def prepare(self, resources: Resources) -> None:
        """Take forward index and word vectors, and make an untrained network."""
        from irplatform_delta.sevmos_network import SevMosNetwork, Sizes, Texts

        options = self.options
        self._word_vectors = resources.vectors(options.vectors)
        self._index = resources.forward_index()
        self._texts = Texts(self._index, self._word_vectors, options, resources.device)
        sizes = Sizes(
            dimensions=self._word_vectors.dimensions,
            lexical=len(options.lexical),
            filters=options.filters,
            layers=options.layers,
            width=options.width,
        )
        self.start(
            resources, lambda: SevMosNetwork(sizes, options.dropout, options.classifier_dropout)
        )

    def identity(self) -> dict[str, Any]:
        """The network's sizes and the lexical features."""
        return {**asdict(self.network.sizes), "features": list(self.options.lexical)}

    def fit(self, data: TrainingData) -> None:
        """Train on samples of either class, stopping early on validation nDCG@20."""
        from irplatform_delta.sevmos_network import SevMosTask

        with self.encoding(data) as advance:
            task = SevMosTask(
                self.network,
                self._texts,
                self._index,
                self.options,
                data,
                self.resources.seed,
                self.resources.device,
                advance,
            )
        task.standardize_lexical()
        self.train(task, self.options.loop, data)

    def weights_changed(self) -> None:
        """Forget the document vectors that the weights before have made."""
        self._stored = None

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one logit each, higher is better, not bounded."""
        import torch

        from irplatform.text import lexical_features

        if not documents:
            return []
        rows = self._index.rows(documents.ids)
        query = self._index.query_ids(topic.query)
        lexical = lexical_features(self._index, query, rows, self.options.lexical)
        with torch.inference_mode():
            query_vector = self._texts.vectors(self.network.query, self._texts.queries([topic]))
            logits = self.network.match(
                query_vector.expand(len(rows), -1),
                self._document_vectors(rows),
                torch.from_numpy(lexical).to(self.resources.device),
            )
            values: list[float] = logits.tolist()
        return values

    def _document_vectors(self, rows: npt.NDArray[np.int64]) -> Tensor:
        """Vectors of documents, from the store where the collection is small enough to have one."""
        import torch

        if self._index.count > self.options.stored_documents:
            return self._texts.vectors(self.network.document, self._texts.documents(rows))
        if self._stored is None:
            self._stored = self._store()
        return torch.from_numpy(self._stored[rows]).to(self.resources.device)

    def _store(self) -> Float32:
        import torch

        from irplatform.training.neural import stored_documents, vectors_digest, weights_digest

        stage = self.network.document

        def compute(rows: npt.NDArray[np.int64]) -> Float32:
            with torch.inference_mode():
                vectors = self._texts.vectors(stage, self._texts.documents(rows))
            array: Float32 = vectors.cpu().numpy()
            return array

        depends_on = {
            "format": _FORMAT,
            "weights": weights_digest(stage.state_dict()),
            "vectors": vectors_digest(self._word_vectors),
            "document_words": self.options.document_words,
            "device": self.resources.device,
            "model_threads": self.resources.model_threads,
        }
        return stored_documents(
            self.resources, "sevmos-documents", depends_on, compute, self.options.filters
        )
