"""The reranker that the harness sees: training, stored documents, scoring, weight files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.plugin import Documents, Resources, Topic, TrainableReranker, TrainingData
from irplatform_encoders.dual_options import DualOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from irplatform.plugin import TextPair
    from irplatform_encoders.dual_encoder import Encoder, Learned

_WEIGHTS = "dual.safetensors"


class DualEncoder(TrainableReranker):
    """A small dual encoder: cosine of a query's and a document's vector.

    Either is a weighted mean of word vectors, projected; learned by softmax over the documents of a
    batch, from pairs of texts and from training topics. Document vectors do not depend on the
    query: they are computed once for the collection and stored.
    """

    Options = DualOptions
    needs = ("torch", "gensim", "safetensors")
    citation: ClassVar[str] = (
        "The two towers and their training: Vladimir Karpukhin et al. Dense Passage Retrieval for "
        "Open-Domain Question Answering. EMNLP 2020, section 3. Learned averages of word vectors "
        "as encoders: John Wieting, Mohit Bansal, Kevin Gimpel, Karen Livescu. Towards Universal "
        "Paraphrastic Sentence Embeddings. ICLR 2016, section 3."
    )
    options: DualOptions

    encoder: Encoder
    learned: Learned

    _resources: Resources
    _stored: npt.NDArray[np.float32] | None = None
    _loaded = False

    def prepare(self, resources: Resources) -> None:
        """Take forward index and word vectors, and make an untrained network."""
        from irplatform_encoders.dual_encoder import Encoder, Learned

        self._resources = resources
        self.encoder = Encoder(resources, self.options, resources.seed)
        self.learned = Learned.of()
        self._stored = None

    def options_of_pretraining(self) -> DualOptions:
        """All of them; InputError with a file of pairs, see `refuse_with_pretraining`."""
        from irplatform.training.text_pairs import refuse_with_pretraining

        refuse_with_pretraining(self.options.pairs.file)
        return self.options

    def check_training(self) -> None:
        """Look at the file of pairs, where one is given."""
        self.options.pairs.check()

    def pairs_learned(self, topics: Sequence[Topic]) -> Iterable[TextPair]:
        """Those of the file, where one is given, but for those that topics know."""
        from irplatform.training.text_pairs import PairsOfTopics
        from irplatform_encoders.dual_pairs import pairs_of_file

        pairs = self.options.pairs
        return pairs_of_file(pairs, PairsOfTopics.of(topics, pairs.group)) if pairs.file else ()

    def fit(self, data: TrainingData) -> None:
        """Train on pairs of texts, where there are any, and then on topics.

        Training stops early on the validation topics' nDCG@20, mixed with the first stage.
        """
        from irplatform.training import run_shown
        from irplatform.training.distributed import peers_of
        from irplatform.training.text_pairs import PairsOfTopics
        from irplatform_encoders.dual_encoder import Learned
        from irplatform_encoders.dual_pairs import pretrained
        from irplatform_encoders.dual_task import TopicsTask

        if self.options.pairs.given and not self._loaded:
            topics = [labelled.topic for labelled in (*data.training, *data.validation)]
            without = PairsOfTopics.of([*topics, *data.unseen], self.options.pairs.group)
            encoder, learned = pretrained(self._resources, self.options, without)
            self.encoder.network.load_state_dict(encoder.network.state_dict())
            self.learned |= learned
        self.encoder.network.sparse = peers_of(data.workspace).sparse_gradients
        task = TopicsTask(self.encoder, self.options, data, self._resources.seed)
        run_shown(task, self.options.loop, self._resources, data.workspace)
        self.learned |= Learned.of_topics(labelled.topic for labelled in data.training)
        self._stored = None

    def save(self, folder: Path) -> None:
        """Write the weights, and which queries they were learned from."""
        from irplatform.training import save_weights

        state = self.encoder.network.state_dict()
        save_weights(folder / _WEIGHTS, state, self.encoder.sizes())
        self.learned.save(folder)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote; InputError if it belongs to a network of other sizes."""
        from irplatform.training import load_into, load_weights
        from irplatform_encoders.dual_encoder import Learned

        state = load_weights(folder / _WEIGHTS, self.encoder.sizes())
        load_into(self.encoder.network, state, folder / _WEIGHTS)
        self.learned = Learned.load(folder)
        self._loaded = True
        self._stored = None

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one cosine each, −1 to 1; 0 where a text has no known word."""
        if not documents:
            return []
        rows = self.encoder.index.rows(documents.ids)
        (query,) = self.encoder.queries([topic.query])
        # A matrix product's last digit depends on how many documents there are.
        scores: list[float] = np.einsum("nd,d->n", self._documents(rows), query).tolist()
        return scores

    def _documents(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        if self.encoder.index.count > self.options.stored_documents:
            return self.encoder.documents(rows)
        if self._stored is None:
            self._stored = self.encoder.stored()
        return self._stored[rows]
