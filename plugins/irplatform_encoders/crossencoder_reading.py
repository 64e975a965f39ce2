"""Pairs of query and document in a sequence classifier: cut to fit, batched, scored, fine-tuned."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from irplatform.kit import ListSampler, Validator, pairwise_logistic, square_root
from irplatform_encoders.batches import batches, tokens_at_once
from irplatform_encoders.crossencoder_parts import Parts
from irplatform_encoders.on_cpu import in_float32, map_ahead, map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from irplatform.kit import Float32
    from irplatform.plugin import Documents, LabelledTopic, Resources, Topic, TrainingData
    from irplatform_encoders.crossencoder_model import Model
    from irplatform_encoders.options import ReadingOptions, VanillaBertOptions

    Encoded = dict[str, npt.NDArray[np.int32]]
    Padded = dict[str, Tensor]


_MOST = 1 << 30  # tokens, where nothing limits them
_CHARACTERS = 20  # characters per token that fits, more than almost any text has
_FORMATTED_AT_ONCE = 256
"""Pairs that are written into a chat template and padded together: it bounds the memory."""
_TRAINED_AT_ONCE = 8  # documents of a step that a CPU reads together: reading padding costs it time
_MOST_THREADS = 32  # that read at a time: each takes some tens of megabytes meanwhile
_TOKENIZED_AT_ONCE = 1024  # pairs; the next ones become tokens while these are scored


@dataclass(frozen=True)
class Step:
    """Pairs of a step of training, in parts of similar length."""

    parts: Sequence[Padded]
    places: Tensor


class Reader:
    """Feeds a model with pairs of query and document."""

    def __init__(
        self, model: Model, options: ReadingOptions, device: str, threads: int = 1, prompt: str = ""
    ) -> None:
        self.model = model
        self._prompt = prompt
        self._options = options
        self._device = device
        self._threads = min(threads, _MOST_THREADS)
        self._longest = min(options.max_length or _MOST, model.max_length or _MOST)
        self.short_numbers = options.precision == "bfloat16" and not in_float32(device)
        if self.short_numbers:
            _keep_top_in_float32(model.network)

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Pairs of a query and a document's text, cut to fit; a long text is read only so far."""
        if self.model.tokenizer.truncation_side != "right":  # the end is what fits
            return self._encoded(pairs)
        limit = _CHARACTERS * self._longest
        # Beside a long query, all words of a text say how much of either is cut.
        lengths = [limit if 2 * len(query) < self._longest else len(text) for query, text in pairs]
        encoded = self._encoded(
            [(q, _beginning(text, most)) for (q, text), most in zip(pairs, lengths, strict=True)]
        )
        short = [
            place
            for place, (pair, (_, text)) in enumerate(zip(encoded, pairs, strict=True))
            if len(text) > lengths[place] and len(pair["input_ids"]) < self._longest
        ]
        full_pairs = self._encoded([pairs[place] for place in short])
        for place, pair in zip(short, full_pairs, strict=True):
            encoded[place] = pair
        return encoded

    def _encoded(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        if not pairs:
            return []
        cut = {query: self._cut(query) for query in {query for query, _ in pairs}}
        columns = self._columns([(cut[query], text) for query, text in pairs])
        # A model reads one token at least, also of two empty texts between which it puts nothing.
        empty = {name: [0] for name in columns} | {
            "input_ids": [self.model.tokenizer.pad_token_id],
            "attention_mask": [1],
        }
        return [
            {name: np.array(ids[i] or empty[name], np.int32) for name, ids in columns.items()}
            for i in range(len(pairs))
        ]

    def _columns(self, pairs: Sequence[tuple[str, str]]) -> dict[str, list[list[int]]]:
        if self.model.formatter is not None:
            return self._formatted(pairs)
        columns: dict[str, list[list[int]]] = self.model.tokenizer(
            [query for query, _ in pairs],
            [text for _, text in pairs],
            truncation="longest_first",
            max_length=self._longest,
        )
        return columns

    def _formatted(self, pairs: Sequence[tuple[str, str]]) -> dict[str, list[list[int]]]:
        columns: dict[str, list[list[int]]] = {}
        for start in range(0, len(pairs), _FORMATTED_AT_ONCE):
            features = self.model.formatter.preprocess(
                list(pairs[start : start + _FORMATTED_AT_ONCE]),
                prompt=self._prompt or None,
                processing_kwargs={"text": {"max_length": self._longest}},
            )
            read = features["attention_mask"].bool()
            for name in ("input_ids", "token_type_ids", "attention_mask"):
                if name in features:
                    filled = zip(features[name], read, strict=True)
                    columns.setdefault(name, []).extend(row[mask].tolist() for row, mask in filled)
        return columns

    def _cut(self, query: str) -> str:
        """A query as text, cut if asked, with the prompt in front unless a template places it."""
        tokenizer, length = self.model.tokenizer, self._options.query_tokens
        if length is not None and hasattr(tokenizer, "decode"):
            tokens = tokenizer(query, add_special_tokens=False)["input_ids"]
            if len(tokens) > length:
                query = tokenizer.decode(tokens[:length], skip_special_tokens=True)
        return query if self.model.formatter is not None else self._prompt + query

    def padded(self, pairs: Sequence[Encoded]) -> Padded:
        """Pairs as one tensor per input of the network, as `tokenizer.pad` makes them, slowly."""
        tokenizer = self.model.tokenizer
        filler = {
            "input_ids": tokenizer.pad_token_id,
            "token_type_ids": tokenizer.pad_token_type_id,
            "attention_mask": 0,
        }
        longest = max(len(pair["input_ids"]) for pair in pairs)
        padded = {}
        for name in pairs[0]:
            rows = np.full((len(pairs), longest), filler.get(name, 0), np.int64)
            for row, pair in zip(rows, pairs, strict=True):
                ids = pair[name]
                if tokenizer.padding_side == "left":
                    row[longest - len(ids) :] = ids
                else:
                    row[: len(ids)] = ids
            padded[name] = torch.from_numpy(rows)
        return padded

    def forward(self, padded: Padded) -> Tensor:
        """Logits of relevance [n]; of several labels, the log-odds of the relevant one.

        Where the model's activation function is used, its values.
        """
        model: Any = self.model
        ahead = self._device.startswith("cuda")  # a GPU computes while texts are read
        inputs = {
            name: (values.pin_memory() if ahead else values).to(self._device, non_blocking=ahead)
            for name, values in padded.items()
        }
        with torch.autocast(
            torch.device(self._device).type, torch.bfloat16, enabled=self.short_numbers
        ):
            logits: Tensor = model.network(**inputs).logits.float()
        if model.activation is not None:
            activated: Tensor = model.activation(logits)
            return activated[:, model.label]
        if model.labels == 1:
            return logits[:, 0]
        others = [place for place in range(model.labels) if place != model.label]
        return logits[:, model.label] - logits[:, others].logsumexp(1)

    def step(self, pairs: Sequence[Encoded]) -> Step:
        """Pairs to train with: on a CPU in small parts; an accelerator is faster with one."""
        size = _TRAINED_AT_ONCE if self._device == "cpu" else max(len(pairs), 1)
        order = _by_length(pairs)
        parts = [order[start : start + size] for start in range(0, len(order), size)]
        padded = [self.padded([pairs[place] for place in part]) for part in parts]
        return Step(padded, torch.tensor(order).argsort())

    def forward_to_train(self, step: Step) -> Tensor:
        scores = torch.cat([self.forward(part) for part in step.parts])
        return scores[step.places.to(scores.device, non_blocking=True)]

    def scores(
        self, pairs: Sequence[Encoded], advance: Callable[[int], None] = lambda _: None
    ) -> Tensor:
        """Scores of many pairs, on the CPU; those of similar length are read together."""
        if not pairs:
            return torch.zeros(0)
        lengths = [len(pair["input_ids"]) for pair in pairs]
        texts, short = self._options.batch_size, self.short_numbers
        tokens = tokens_at_once(self._device, texts, self._longest, short=short)
        parts = batches(lengths, tokens)

        def score(places: Sequence[int]) -> Tensor:
            with torch.inference_mode():
                return self.forward(self.padded([pairs[place] for place in places]))

        tensors = []
        for places, scores in zip(parts, map_in_threads(score, parts, self._threads), strict=True):
            tensors.append(scores)
            advance(len(places))
        order = torch.tensor([place for places in parts for place in places])
        with torch.inference_mode():
            return torch.cat(tensors).cpu()[order.argsort()]

    def score_topics(
        self, batch: Sequence[tuple[Topic, Documents]], resources: Resources
    ) -> list[Tensor]:
        pairs = [(topic.query, document.text) for topic, docs in batch for document in docs]
        with resources.progress("scoring", len(pairs), "documents") as advance:
            scores = self.score_pairs(pairs, advance)
        return list(torch.split(scores, [len(documents) for _, documents in batch]))

    def score_pairs(
        self,
        pairs: Sequence[tuple[str, str]],
        advance: Callable[[int], None] = lambda _: None,
    ) -> Tensor:
        """Scores of pairs of a query and a text, on the CPU: float32 [n]."""
        size = _TOKENIZED_AT_ONCE
        parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
        scored = [self.scores(part, advance) for part in map_ahead(self.encode, parts)]
        return torch.cat(scored) if scored else torch.zeros(0)


def _beginning(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = max(text.rfind(space, 0, most) for space in " \n\t")
    return text[:end] if end > 0 else text


def _by_length(pairs: Sequence[Encoded]) -> list[int]:
    return sorted(range(len(pairs)), key=lambda place: len(pairs[place]["input_ids"]))


def round_weights(network: Any) -> None:
    """Round the linear layers of a transformer to bfloat16 once, not with every batch.

    The scores are those of autocast, which rounds the same numbers again and again.
    """
    model = network.reader.model if isinstance(network, Parts) else network
    last = threading.local()
    for layer in model.base_model.modules():
        if type(layer) is torch.nn.Linear:
            rounded = partial(_rounded, layer.bfloat16(), last)
            layer.forward = rounded  # type: ignore[method-assign]


def _rounded(layer: torch.nn.Linear, last: Any, values: Tensor) -> Tensor:
    if getattr(last, "values", None) is not values:  # queries, keys and values are made of one
        last.values, last.rounded = values, values.bfloat16()
    return torch.nn.functional.linear(last.rounded, layer.weight, layer.bias)


def _keep_top_in_float32(network: Any) -> None:
    """Compute what is on top of the transformer in float32: in bfloat16 most logits would tie."""
    children = (child for child in network.children() if child is not network.base_model)
    for child in network.on_top if isinstance(network, Parts) else children:
        child.forward = partial(_in_float32, child.forward)


def _in_float32(forward: Callable[..., Any], *values: Any, **keywords: Any) -> Any:
    def long(value: Any) -> Any:
        return value.float() if torch.is_tensor(value) and value.is_floating_point() else value

    device = next(v for v in (*values, *keywords.values()) if torch.is_tensor(v)).device
    with torch.autocast(device.type, enabled=False):
        return forward(*map(long, values), **{name: long(v) for name, v in keywords.items()})


@dataclass(frozen=True)
class ReadLists:
    """Lists of documents as a network reads them."""

    step: Step  # the documents of all lists, one list after the other
    grades: Sequence[Tensor]  # of the documents of each list, int64


class ListsTask:
    """Fine-tuning on lists of documents, whose texts are read just before they are learned from."""

    def __init__(
        self, reader: Reader, options: VanillaBertOptions, data: TrainingData, resources: Resources
    ) -> None:
        self.module: torch.nn.Module = reader.model.network
        self.advance: Callable[[int], None] = lambda _: None
        self.reader = reader
        self._loop = options.loop
        self._resources = resources
        self.sampler = ListSampler(data.training, options.lists, resources.seed)
        self._validator = Validator.of(data, options)
        self._steps = sum(1 for _ in self.batches(0))
        self.all_steps = self._loop.epochs * self._steps
        self._position = 0

    def batches(self, epoch: int) -> Iterator[ListSampler.Batch]:
        return self.sampler.batches(epoch, self._loop.batch_size)

    def read(self, batch: ListSampler.Batch) -> ReadLists:
        pools = [self.sampler.pools[number] for number in batch.topic]
        lists = list(zip(pools, batch.documents, strict=True))
        queries = [pool.labelled.topic.query for pool, places in lists for _ in places]
        documents = self._resources.documents(
            [pool.doc_ids[place] for pool, places in lists for place in places]
        )
        pairs = self.reader.encode(
            [(query, document.text) for query, document in zip(queries, documents, strict=True)]
        )
        grades = [torch.from_numpy(pool.grades[places]) for pool, places in lists]
        return ReadLists(self.reader.step(pairs), grades)

    def loss(self, batch: ReadLists) -> Tensor:
        """RankNet's loss over all pairs of a list, in the mean over the lists."""
        scores = self.reader.forward_to_train(batch.step)
        per_list = torch.split(scores, [len(grades) for grades in batch.grades])
        losses = map(listwise_logistic, per_list, batch.grades)
        return torch.stack([*losses]).mean()

    def validate(self) -> float:
        return self._validator(lambda number: self._scores(self._validator.topics[number]))

    def _scores(self, labelled: LabelledTopic) -> Float32:
        documents = self._resources.documents(labelled.candidates)
        query = labelled.topic.query
        pairs = self.reader.encode([(query, document.text) for document in documents])
        scores: Float32 = self.reader.scores(pairs).numpy()
        return scores

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW; biases and norms are not decayed, and what begins at random has its own rate."""
        loop, new = self._loop, self.reader.model.new
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
        steps = epoch * self._steps + step
        share = rate_share((steps + 0.5) / self.all_steps, self._loop.warmup)
        for group in optimizer.param_groups:
            group["lr"] = group["largest"] * share
        self.advance(steps + 1 - self._position)
        self._position = steps + 1


def rate_share(progress: float, warmup: float) -> float:
    """The share of the largest rate that a step has, 0 to 1."""
    return progress / warmup if progress < warmup else (1 - progress) / (1 - warmup)


def listwise_logistic(scores: Tensor, grades: Tensor) -> Tensor:
    """`pairwise_logistic` over all pairs of different grade of a list of documents.

    Pairs weigh the square root of the difference of their grades. Both tensors are [n]; grades are
    on the CPU, so that no step waits for a GPU, and at least two differ.
    """
    higher, lower = (grades[:, None] > grades[None]).nonzero(as_tuple=True)
    weight = square_root((grades[higher] - grades[lower]).to(scores.dtype))
    higher, lower, weight = (
        tensor.to(scores.device, non_blocking=True) for tensor in (higher, lower, weight)
    )
    return pairwise_logistic(scores[higher], scores[lower], weight)
