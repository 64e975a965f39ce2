"""Feeds pairs of query and document to a sequence classifier, cut to fit, in batches."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform_encoders.on_cpu import in_float32, map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from torch import Tensor

    from irplatform.plugin import Documents, Resources, Topic
    from irplatform_encoders.crossencoder_model import Model
    from irplatform_encoders.crossencoder_options import ReadingOptions

    Encoded = dict[str, npt.NDArray[np.int32]]
    """A pair of query and document as token ids, [tokens] each, without padding."""
    Padded = dict[str, Tensor]
    """Several of them, [pairs, tokens of the longest] each, int64, on the CPU."""


_CHARACTERS = 20
"""Characters per token that fits, more than almost any text has."""
_FORMATTED_AT_ONCE = 256
"""Pairs that are written into a chat template and padded together: it bounds the memory."""
_TRAINED_AT_ONCE = 8
"""Documents of a step that a CPU reads together: reading padding costs it time."""
_SCORED_AT_ONCE = 128
"""Documents that all threads read at a time: each takes some tens of megabytes meanwhile."""


@dataclass(frozen=True)
class Step:
    """Pairs of a step of training, in parts of similar length."""

    parts: Sequence[Padded]
    places: Tensor


class Reader:
    """A model with the way in which it is fed."""

    def __init__(
        self, model: Model, options: ReadingOptions, device: str, threads: int = 1, prompt: str = ""
    ) -> None:
        self.model = model
        self._prompt = prompt
        self._options = options
        self._device = device
        self._threads = min(threads, max(1, _SCORED_AT_ONCE // options.batch_size))
        self._longest = min(options.max_length, model.max_length or options.max_length)
        self._short_numbers = options.precision == "bfloat16" and not in_float32(device)
        if self._short_numbers:
            _keep_top_in_float32(model.network)

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Pairs of a query and a document's text, cut to fit; queries are cut if they are long.

        Of a long text just the beginning is cut into tokens, and all of it where that is too short.
        """
        if self.model.tokenizer.truncation_side != "right":  # the end is what fits
            return self._encoded(pairs)
        limit = _CHARACTERS * self._longest
        encoded = self._encoded([(query, _beginning(text, limit)) for query, text in pairs])
        short = [
            place
            for place, (pair, (_, text)) in enumerate(zip(encoded, pairs, strict=True))
            if len(text) > limit and len(pair["input_ids"]) < self._longest
        ]
        whole = self._encoded([pairs[place] for place in short])
        for place, pair in zip(short, whole, strict=True):
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
        """What the network reads of some pairs, by the name of the input, without padding."""
        if self.model.formatter is not None:
            return self._formatted(pairs)
        columns: dict[str, list[list[int]]] = self.model.tokenizer(
            [query for query, _ in pairs],
            [text for _, text in pairs],
            truncation="only_second",
            max_length=self._longest,
        )
        return columns

    def _formatted(self, pairs: Sequence[tuple[str, str]]) -> dict[str, list[list[int]]]:
        """The same of a model that has a chat template."""
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
        """A query as text, so that query and document are joined in the tokenizer's own way.

        The prompt is in front of it, unless it has a place of its own in a chat template.
        """
        tokenizer, prompt = self.model.tokenizer, self._prompt
        if self.model.formatter is not None:
            prompt, length = "", self._options.query_tokens
        else:
            room = self._longest - tokenizer.num_special_tokens_to_add(pair=True)
            length = min(self._options.query_tokens + self._tokens(prompt), room // 2)
        text = prompt + query
        tokens = tokenizer(text, add_special_tokens=False, truncation=True, max_length=length)
        if len(tokens["input_ids"]) < length or not hasattr(tokenizer, "decode"):
            return text
        shortened: str = tokenizer.decode(tokens["input_ids"], skip_special_tokens=True)
        return shortened

    def _tokens(self, text: str) -> int:
        return len(self.model.tokenizer(text, add_special_tokens=False)["input_ids"])

    def padded(self, pairs: Sequence[Encoded]) -> Padded:
        """Pairs as one tensor per input of the network.

        What `tokenizer.pad` returns, which takes as long as cutting the texts into tokens.
        """
        import torch

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
        """How relevant the documents are, [n]: a logit, or of two the second minus the first."""
        import torch

        model: Any = self.model
        inputs = {name: _sent(values, self._device) for name, values in padded.items()}
        with torch.autocast(
            torch.device(self._device).type, torch.bfloat16, enabled=self._short_numbers
        ):
            logits: Tensor = model.network(**inputs).logits.float()
        return logits[:, 0] if model.labels == 1 else logits[:, 1] - logits[:, 0]

    def step(self, pairs: Sequence[Encoded]) -> Step:
        """Pairs to train with: on a CPU in small parts; an accelerator is faster with one."""
        import torch

        size = _TRAINED_AT_ONCE if self._device == "cpu" else max(len(pairs), 1)
        order = _by_length(pairs)
        parts = [order[start : start + size] for start in range(0, len(order), size)]
        padded = [self.padded([pairs[place] for place in part]) for part in parts]
        return Step(padded, torch.tensor(order).argsort())

    def forward_to_train(self, step: Step) -> Tensor:
        """What `forward` finds of the pairs of a step, in the order they came in."""
        import torch

        scores = torch.cat([self.forward(part) for part in step.parts])
        return scores[step.places.to(scores.device, non_blocking=True)]

    def scores(
        self, pairs: Sequence[Encoded], advance: Callable[[int], None] = lambda _: None
    ) -> Tensor:
        """The same of many, on the CPU; those of similar length are read together."""
        import torch

        if not pairs:
            return torch.zeros(0)
        order, size = _by_length(pairs), self._options.batch_size
        batches = [order[start : start + size] for start in range(0, len(order), size)]

        def score(places: Sequence[int]) -> Tensor:
            with torch.inference_mode():
                return self.forward(self.padded([pairs[place] for place in places]))

        found = []
        for places, scores in zip(
            batches, map_in_threads(score, batches, self._threads), strict=True
        ):
            found.append(scores)
            advance(len(places))
        with torch.inference_mode():
            return torch.cat(found).cpu()[torch.tensor(order).argsort()]


def _beginning(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    end = max(text.rfind(space, 0, most) for space in " \n\t")
    return text[:end] if end > 0 else text


def _by_length(pairs: Sequence[Encoded]) -> list[int]:
    return sorted(range(len(pairs)), key=lambda place: len(pairs[place]["input_ids"]))


def _sent(values: Tensor, device: str) -> Tensor:
    """Values on a device; a GPU is not waited for, so that it computes while texts are read."""
    if device.startswith("cuda"):
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def _keep_top_in_float32(network: Any) -> None:
    """Let what is on top of the transformer compute in float32, whatever is below.

    Logits in bfloat16 have so few digits that most of a thousand documents would tie.
    """
    for child in network.children():
        if child is not network.base_model:
            child.forward = partial(_in_float32, child.forward)


def _in_float32(forward: Callable[..., Any], *values: Any, **named: Any) -> Any:
    import torch

    def long(value: Any) -> Any:
        return value.float() if torch.is_tensor(value) and value.is_floating_point() else value

    device = next(v for v in (*values, *named.values()) if torch.is_tensor(v)).device
    with torch.autocast(device.type, enabled=False):
        return forward(*map(long, values), **{name: long(v) for name, v in named.items()})


def score_topics(
    reader: Reader, batch: Sequence[tuple[Topic, Documents]], resources: Resources
) -> list[Tensor]:
    """Scores of the documents of topics, [documents] each, with a display."""
    pairs = reader.encode(
        [(topic.query, document.text) for topic, documents in batch for document in documents]
    )
    with resources.progress("scoring", len(pairs), "documents") as advance:
        scores = reader.scores(pairs, advance)
    bounds = itertools.accumulate((len(documents) for _, documents in batch), initial=0)
    return [scores[start:end] for start, end in itertools.pairwise(bounds)]
