"""The dual encoder's training task: topics must find their own documents among all of a batch.

Beside the negatives that are drawn for a topic, the documents of the other topics of a batch are
its negatives (in-batch negatives), unless they are relevant to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.training import Groups, GroupSampler, Validator

if TYPE_CHECKING:
    import numpy.typing as npt

    from irplatform.plugin import TrainingData
    from irplatform.text.arrays import Int64
    from irplatform_encoders.dual_encoder import Encoder
    from irplatform_encoders.dual_network import DualNetwork
    from irplatform_encoders.dual_options import DualOptions


_BLOCK = 512
"""Documents that are encoded at once for validation."""


class TopicsTask:
    """What the training loop needs."""

    def __init__(
        self, encoder: Encoder, options: DualOptions, data: TrainingData, seed: int
    ) -> None:
        self._encoder = encoder
        self._options = options
        self._sampler = GroupSampler(data.training, options.groups, encoder.index, seed)
        topics, pools = self._sampler.topics, self._sampler.pools
        self._queries = encoder.reader.texts(labelled.topic.query for labelled in topics)
        self._rows = [encoder.index.rows(pool.doc_ids) for pool in pools]
        judged = ([d for d, grade in t.judgments.items() if grade > 0] for t in topics)
        self._relevant = [set(encoder.index.rows(relevant).tolist()) for relevant in judged]
        self._validator = Validator(
            data.validation, options.validation_topics, options.validation_depth
        )
        self._candidates = self._validator.candidate_rows(encoder.index)

    @property
    def module(self) -> DualNetwork:
        """The network."""
        return self._encoder.network

    def batches(self, epoch: int) -> list[Groups]:
        """The epoch's groups."""
        return self._sampler.epoch(epoch).batches(self._options.loop.batch_size)

    def loss(self, batch: Groups) -> Tensor:
        """Mean cross-entropy of each topic's relevant document among all documents of the batch.

        The topic's other relevant documents are no negatives.
        """
        members = zip(batch.topic, batch.documents, strict=True)
        rows = np.stack([self._rows[topic][documents] for topic, documents in members])
        distinct, places = np.unique(rows, return_inverse=True)
        targets = torch.from_numpy(places.reshape(rows.shape)[:, 0]).to(self.module.device)
        queries = self.module.queries(self._queries.take(batch.topic))
        logits = self.module.logits(queries, self._encoder.encode(distinct))
        others = torch.from_numpy(self._other_relevant(batch.topic, rows[:, 0], distinct))
        logits = logits.masked_fill(others.to(logits.device), torch.finfo(logits.dtype).min)
        return functional.cross_entropy(logits, targets)

    def _other_relevant(
        self, topics: Int64, own_rows: Int64, documents: Int64
    ) -> npt.NDArray[np.bool_]:
        """Which documents are relevant to a topic beside its own, [topics, documents]."""
        place = {row: number for number, row in enumerate(documents.tolist())}
        mask = np.zeros((len(topics), len(documents)), dtype=np.bool_)
        for number, (topic, row) in enumerate(zip(topics, own_rows, strict=True)):
            for other in self._relevant[topic]:
                if other != row and other in place:
                    mask[number, place[other]] = True
        return mask

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics, of the best mixture with the first stage."""
        rows, of_topic = self._candidates.distinct, self._candidates.of_topic
        if not len(rows):
            return 0.0
        blocks = range(0, len(rows), _BLOCK)
        documents = np.concatenate([self._encoder.documents(rows[b : b + _BLOCK]) for b in blocks])
        queries = self._encoder.queries(t.topic.query for t in self._validator.topics)
        return self._validator(lambda number: documents[of_topic[number]] @ queries[number])
