"""The cross-encoder: a transformer reads query and document together and says how well they fit.

Query and document are given as a pair of sequences to a fine-tuned sequence classifier (Nogueira
and Cho, 2019, section 3). Documents are title and abstract, cut to what the model can read; they
are scored in batches of similar length, all topics of a call together, so that little is padding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.plugin import Documents, Reranker, Resources, Topic
from irplatform.training.pretrained import content, model_folder, tell_how_slow
from irplatform_crossencoder.options import CrossEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from irplatform_crossencoder.model import Model


class CrossEncoder(Reranker):
    """A sequence-classification model of the user's, in Hugging Face format.

    It is used as it is: nothing is trained, and nothing is downloaded without being asked for.
    """

    Options = CrossEncoderOptions
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderOptions

    _model: Model
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Open the model.

        Raises:
            InputError: there is none, or it cannot be used.
        """
        from irplatform_crossencoder.model import open_model

        self._resources = resources
        self._model = open_model(model_folder("cross-encoder", self.options), resources.device)

    def depends_on(self) -> Mapping[str, object]:
        """The model's files.

        Raises:
            InputError: there is no model.
        """
        return content(model_folder("cross-encoder", self.options))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """One logit (or probability) per document; those of similar length are read together."""
        import torch

        encoded = [
            sequence
            for topic, documents in batch
            for sequence in self._encode(topic.query, [document.text for document in documents])
        ]
        tell_how_slow(self._resources, len(encoded))
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]["input_ids"]))
        scores = [0.0] * len(encoded)
        size = self.options.batch_size
        progress = self._resources.progress("scoring documents", len(order))
        with torch.inference_mode(), progress as advance:
            for start in range(0, len(order), size):
                part = order[start : start + size]
                values = self._forward([encoded[i] for i in part]).tolist()
                for place, value in zip(part, values, strict=True):
                    scores[place] = value
                advance(len(part))
        by_topic: list[Sequence[float]] = []
        start = 0
        for _, documents in batch:
            by_topic.append(scores[start : start + len(documents)])
            start += len(documents)
        return by_topic

    def _encode(self, query: str, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """Pairs of query and document as token ids, without padding."""
        if not texts:
            return []
        tokenizer = self._model.tokenizer
        longest = min(self.options.max_length, self._model.max_length or self.options.max_length)
        room = longest - tokenizer.num_special_tokens_to_add(pair=True)
        query_length = min(self.options.query_tokens, room // 2)
        tokens = tokenizer(
            query, add_special_tokens=False, truncation=True, max_length=query_length
        )
        # Cut as text, so that query and document are joined in the tokenizer's own way.
        if len(tokens["input_ids"]) == query_length and hasattr(tokenizer, "decode"):
            query = tokenizer.decode(tokens["input_ids"], skip_special_tokens=True)
        columns = tokenizer(
            [query] * len(texts), list(texts), truncation="only_second", max_length=longest
        )
        return [{name: columns[name][i] for name in columns} for i in range(len(texts))]

    def _forward(self, sequences: Sequence[dict[str, list[int]]]) -> Tensor:
        """Scores of sequences of similar length, [n]."""
        model: Any = self._model
        inputs = model.tokenizer.pad(list(sequences), return_tensors="pt").to(
            self._resources.device
        )
        logits: Tensor = model.network(**inputs).logits.float()
        scores = logits[:, 0] if model.labels == 1 else logits[:, 1] - logits[:, 0]
        return scores.sigmoid() if self.options.output == "probability" else scores
