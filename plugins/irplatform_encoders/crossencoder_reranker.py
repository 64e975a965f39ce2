"""Cross-encoders as rerankers: a transformer reads query and document together.

They are a pair of sequences of a sequence classifier (Nogueira and Cho, 2019, section 3): one that
the user brings, or a language model that is fine-tuned here ("Vanilla BERT" in MacAvaney et al.,
SIGIR 2019, section 3) on lists of documents (Gao, Dai and Callan, ECIR 2021) with RankNet's loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.kit import NeuralReranker, fingerprint, run_loop
from irplatform.plugin import Documents, Reads, Reranker, Resources, Topic, Traits
from irplatform_encoders.on_cpu import multiply_by_numpy, passes_at_a_time
from irplatform_encoders.options import CrossEncoderOptions, VanillaBertOptions, for_pretraining
from irplatform_encoders.pretrained import PACKAGES, content, model_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.plugin import TrainingData
    from irplatform_encoders.crossencoder_reading import Reader


_SATURATED = 10  # from this logit on, 32 bits have so few digits for sigmoids that documents tie
_SHARE = 1e-3


class CrossEncoder(Reranker):
    """A cross-encoder of the user's, in Hugging Face format, used as it is."""

    Options = CrossEncoderOptions
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderOptions

    reader: Reader
    _resources: Resources

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.crossencoder_model import open_classifier
        from irplatform_encoders.crossencoder_reading import Reader, round_weights

        options = self.options
        activated = options.output == "model"
        model = open_classifier(self._folder(), options.label, activated=activated)
        multiply_by_numpy(model.network.to(resources.device), resources.device)
        for note in model.notes:
            resources.notice(note)
        if (options.max_length or 0) > (model.max_length or math.inf):
            resources.notice(
                f"The model reads {model.max_length:,} tokens at most, fewer than "
                f"cross-encoder.max_length={options.max_length}"
            )
        prompt = model.prompt if options.query_prompt is None else options.query_prompt
        threads = passes_at_a_time(resources)
        self.reader = Reader(model, options, resources.device, threads, prompt)
        if self.reader.short_numbers:
            round_weights(model.network)
        self._resources = resources

    def traits(self) -> Traits:
        return Traits(packages=PACKAGES)

    def reads(self) -> Reads:
        return Reads(more=content(self._folder()))

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        scores = self.reader.score_topics(batch, self._resources)
        if self.options.output == "probability":
            return [probabilities(logits).tolist() for logits in scores]
        return [logits.tolist() for logits in scores]

    def _folder(self) -> Path:
        return model_folder("cross-encoder", self.options, "CrossEncoder")


def probabilities(logits: Tensor) -> Tensor:
    """The sigmoids of logits [n], in the order of the logits: float64 [n], 0 to 1.

    In the 32 bits of a run, all sigmoids of logits above 17 are 1. Where that makes ties, a
    thousandth of a score is the document's place by logit.
    """
    import torch

    sigmoids = logits.double().sigmoid()
    distinct, places = torch.unique(logits, return_inverse=True)
    rounded = distinct.double().sigmoid().float()
    if not ((rounded.diff() == 0) & (distinct[1:].abs() > _SATURATED)).any():
        return sigmoids
    mixed: Tensor = (sigmoids + _SHARE * places / (len(distinct) - 1)) / (1 + _SHARE)
    return mixed.clamp(max=1)


class VanillaBert(NeuralReranker):
    """A transformer of the user's, fine-tuned on lists of documents of the training topics.

    It reads query and document together. Begin with a language model or classifier of your field.
    """

    model = "vanilla-bert"
    Options = VanillaBertOptions
    citation: ClassVar[str] = (
        "Sean MacAvaney, Andrew Yates, Arman Cohan, Nazli Goharian. CEDR: Contextualized "
        "Embeddings for Document Ranking. SIGIR 2019, section 3 (Vanilla BERT). Trained on lists: "
        "Luyu Gao, Zhuyun Dai, Jamie Callan. Rethink Training of BERT Rerankers in Multi-Stage "
        "Retrieval Pipeline. ECIR 2021."
    )
    options: VanillaBertOptions

    reader: Reader
    _base: str

    def traits(self) -> Traits:
        return Traits(packages=PACKAGES, pretraining_options=for_pretraining(self.options))

    def reads(self) -> Reads:
        """The model to begin with, which is opened before anything is searched for its training."""
        from irplatform_encoders.crossencoder_model import open_to_fine_tune

        folder = self._folder()
        return Reads(more=content(folder), check=partial(open_to_fine_tune, folder))

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.crossencoder_model import open_to_fine_tune
        from irplatform_encoders.crossencoder_reading import Reader

        def network() -> Any:
            folder = self._folder()
            self._base = fingerprint(content(folder))  # now: files may change during a training
            model = open_to_fine_tune(folder)
            for note in model.notes:
                resources.notice(note)
            threads = passes_at_a_time(resources)
            self.reader = Reader(model, self.options, resources.device, threads)
            return model.network

        self.start(resources, network)
        multiply_by_numpy(self.network, resources.device)

    def describe_model(self) -> dict[str, Any]:
        return {"base": self._base}

    def fit(self, data: TrainingData) -> None:
        """Fine-tune; a classifier stays as it is where no epoch has a better validation nDCG@20."""
        from irplatform_encoders.crossencoder_reading import ListsTask

        task = ListsTask(self.reader, self.options, data, self.resources)
        with self.resources.progress("fine-tuning", task.all_steps, "steps") as advance:
            task.advance = advance
            run_loop(
                task,
                self.options.loop,
                seed=self.resources.seed,
                workspace=data.workspace,
                keep_start=not self.reader.model.new,
            )

    def load(self, folder: Path) -> None:
        super().load(folder)
        self.reader.model = replace(self.reader.model, new=frozenset())

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        return [logits.tolist() for logits in self.reader.score_topics(batch, self.resources)]

    def _folder(self) -> Path:
        return model_folder(self.model, self.options)
