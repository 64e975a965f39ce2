"""The fine-tuning of a transformer: lists of documents, their loss, and steps of AdamW."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from irplatform.training import Lists, ListSampler, Validator
from irplatform.training.distributed import peers_of
from irplatform.training.losses import listwise_logistic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from irplatform.plugin import LabelledTopic, Resources, TrainingData
    from irplatform_encoders.crossencoder_options import VanillaBertOptions
    from irplatform_encoders.crossencoder_reading import Reader, Step


@dataclass(frozen=True)
class ReadLists:
    """Lists of documents as a network reads them.

    Attributes:
        step: the documents of all lists, one list after the other.
        grades: of the documents of each list, int64.
    """

    step: Step
    grades: Sequence[Tensor]


class ListsTask:
    """What the training loop needs. Texts are read just before they are learned from."""

    def __init__(
        self, reader: Reader, options: VanillaBertOptions, data: TrainingData, resources: Resources
    ) -> None:
        self.module: torch.nn.Module = reader.model.network
        self.advance: Callable[[int], None] = lambda _: None
        self._reader = reader
        self._loop = options.loop
        self._resources = resources
        self._sampler = ListSampler(data.training, options.lists, resources.seed)
        self._validator = Validator(
            data.validation, options.validation_topics, options.validation_depth
        )
        batches = sum(1 for _ in self.batches(0))
        self._steps = math.ceil(batches / peers_of(data.workspace).size)
        self.all_steps = self._loop.epochs * self._steps
        self._shown = 0

    def batches(self, epoch: int) -> Iterator[Lists]:
        """The epoch's lists."""
        return self._sampler.batches(epoch, self._loop.batch_size)

    def read(self, batch: Lists) -> ReadLists:
        """The texts of some lists as token ids."""
        pools = [self._sampler.pools[number] for number in batch.topic]
        lists = list(zip(pools, batch.documents, strict=True))
        queries = [pool.labelled.topic.query for pool, places in lists for _ in places]
        documents = self._resources.documents(
            [pool.doc_ids[place] for pool, places in lists for place in places]
        )
        pairs = self._reader.encode(
            [(query, document.text) for query, document in zip(queries, documents, strict=True)]
        )
        grades = [torch.from_numpy(pool.grades[places]) for pool, places in lists]
        return ReadLists(self._reader.step(pairs), grades)

    def loss(self, batch: ReadLists) -> Tensor:
        """RankNet's loss over all pairs of a list, in the mean over the lists."""
        scores = self._reader.forward_to_train(batch.step)
        per_list = torch.split(scores, [len(grades) for grades in batch.grades])
        losses = map(listwise_logistic, per_list, batch.grades)
        return torch.stack([*losses]).mean()

    def validate(self) -> float:
        """Mean nDCG@20 over the validation topics, of the best mixture with the first stage."""
        return self._validator(lambda number: self._scores(self._validator.topics[number]))

    def _scores(self, labelled: LabelledTopic) -> npt.NDArray[np.float32]:
        documents = self._resources.documents(labelled.candidates)
        query = labelled.topic.query
        pairs = self._reader.encode([(query, document.text) for document in documents])
        scores: npt.NDArray[np.float32] = self._reader.scores(pairs).numpy()
        return scores

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW; biases and norms are not decayed, and what begins at random has its own rate."""
        loop, new = self._loop, self._reader.model.new
        groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
        for name, parameter in self.module.named_parameters():
            rate = loop.head_learning_rate if name in new else loop.learning_rate
            decay = loop.weight_decay if parameter.ndim > 1 else 0.0
            groups.setdefault((rate, decay), []).append(parameter)
        return torch.optim.AdamW(
            {"params": parameters, "lr": rate, "largest": rate, "weight_decay": decay}
            for (rate, decay), parameters in groups.items()
        )

    def before_step(self, optimizer: torch.optim.Optimizer, epoch: int, step: int) -> None:
        """Cut the gradient, and set the rates: up over the warm-up, then down to 0."""
        torch.nn.utils.clip_grad_norm_(self.module.parameters(), self._loop.longest_gradient)
        taken = epoch * self._steps + step
        share = rate_share((taken + 0.5) / self.all_steps, self._loop.warmup)
        for group in optimizer.param_groups:
            group["lr"] = group["largest"] * share
        self.advance(taken + 1 - self._shown)
        self._shown = taken + 1


def rate_share(done: float, warmup: float) -> float:
    """Which share of the largest rate a step has.

    Returns:
        0 to 1.
    """
    return done / warmup if done < warmup else (1 - done) / (1 - warmup)
