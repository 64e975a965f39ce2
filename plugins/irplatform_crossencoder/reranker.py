"""The cross-encoder: a transformer reads query and document together and says how well they fit.

Query and document are given as a pair of sequences to a fine-tuned sequence classifier (Nogueira
and Cho, 2019, section 3). Documents are title and abstract, cut to what the model can read; they
are scored in batches of similar length, all topics of a call together, so that little is padding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import Documents, Reranker, Resources, Topic
from irplatform.training.in_threads import passes_at_a_time
from irplatform.training.linear_layers import multiply_by_numpy
from irplatform.training.pretrained import content, model_folder
from irplatform_crossencoder.options import CrossEncoderOptions
from irplatform_crossencoder.reading import Reader, score_topics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class CrossEncoder(Reranker):
    """A sequence-classification model of the user's, in Hugging Face format.

    It is used as it is: nothing is trained, and nothing is downloaded without being asked for.
    """

    Options = CrossEncoderOptions
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderOptions

    _reader: Reader
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        """Open the model.

        Raises:
            InputError: there is none, or it cannot be used.
        """
        from irplatform_crossencoder.model import open_classifier

        model = open_classifier(model_folder("cross-encoder", self.options))
        multiply_by_numpy(model.network.to(resources.device), resources.device)
        self._reader = Reader(model, self.options, resources.device, passes_at_a_time(resources))
        self._resources = resources

    def depends_on(self) -> Mapping[str, object]:
        """The model's files.

        Raises:
            InputError: there is no model.
        """
        return content(model_folder("cross-encoder", self.options))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """One logit (or probability) per document; those of similar length are read together."""
        scores = score_topics(self._reader, batch, self._resources)
        if self.options.output == "probability":
            return [logits.sigmoid().tolist() for logits in scores]
        return [logits.tolist() for logits in scores]
