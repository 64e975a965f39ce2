"""The cross-encoder: a transformer reads query and document together and says how well they fit.

Query and document are given as a pair of sequences to a fine-tuned sequence classifier (Nogueira
and Cho, 2019, section 3). Documents are title and abstract, cut to what the model can read; they
are scored in batches of similar length, all topics of a call together, so that little is padding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import Documents, Reranker, Resources, Topic
from irplatform_encoders.crossencoder_options import CrossEncoderOptions
from irplatform_encoders.crossencoder_reading import Reader, score_topics
from irplatform_encoders.on_cpu import multiply_by_numpy, passes_at_a_time
from irplatform_encoders.pretrained import content, model_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

_SATURATED = 10
"""From this logit on, 32 bits have so few digits for sigmoids that documents tie."""
_SHARE = 1e-3


class CrossEncoder(Reranker):
    """A sequence-classification model of the user's, in Hugging Face format.

    It is used as it is: nothing is trained, and nothing is downloaded without being asked for.
    """

    Options = CrossEncoderOptions
    needs = ("torch", "transformers", "sentence_transformers", "safetensors")
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderOptions

    _reader: Reader
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Open the model."""
        from irplatform_encoders.crossencoder_model import open_classifier

        options, given = self.options, self.options.model_fields_set
        model = open_classifier(self._folder())
        multiply_by_numpy(model.network.to(resources.device), resources.device)
        for note in model.notes:
            resources.notice(note)
        if "max_length" in given and options.max_length > (model.max_length or math.inf):
            resources.notice(
                f"The model reads {model.max_length:,} tokens at most, fewer than "
                f"cross-encoder.max_length={options.max_length}"
            )
        prompt = model.prompt if options.query_prompt is None else options.query_prompt
        threads = passes_at_a_time(resources)
        self._reader = Reader(model, options, resources.device, threads, prompt)
        self._resources = resources

    def depends_on(self) -> Mapping[str, object]:
        """The model's files."""
        return content(self._folder())

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """One logit (or probability) per document; those of similar length are read together."""
        scores = score_topics(self._reader, batch, self._resources)
        if self.options.output == "probability":
            return [probabilities(logits).tolist() for logits in scores]
        return [logits.tolist() for logits in scores]

    def _folder(self) -> Path:
        return model_folder("cross-encoder", self.options, "CrossEncoder")


def probabilities(logits: Tensor) -> Tensor:
    """The sigmoids of the logits of a topic's documents, in the order of the logits.

    In the 32 bits of a run, all sigmoids of logits above 17 are 1. Where that makes ties, a
    thousandth of a score is the document's place by logit.

    Args:
        logits: float32 [n].

    Returns:
        float64 [n], 0 to 1.
    """
    import torch

    sigmoids = logits.double().sigmoid()
    distinct, places = torch.unique(logits, return_inverse=True)
    rounded = distinct.double().sigmoid().float()
    if not ((rounded.diff() == 0) & (distinct[1:].abs() > _SATURATED)).any():
        return sigmoids
    mixed: Tensor = (sigmoids + _SHARE * places / (len(distinct) - 1)) / (1 + _SHARE)
    return mixed.clamp(max=1)
