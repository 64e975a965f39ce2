"""Vanilla BERT: a transformer is fine-tuned to read query and document together.

A sequence classifier, or a language model with a new layer on top ("Vanilla BERT" in MacAvaney et
al., SIGIR 2019, section 3), learns the order of lists of documents (Gao, Dai and Callan, ECIR 2021)
by RankNet's loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.system.digests import fingerprint
from irplatform.training import NeuralReranker, run_loop
from irplatform_encoders.crossencoder_options import VanillaBertOptions, for_pretraining
from irplatform_encoders.crossencoder_reading import Reader, score_topics
from irplatform_encoders.on_cpu import multiply_by_numpy, passes_at_a_time
from irplatform_encoders.pretrained import content, model_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Documents, Resources, Topic, TrainingData


class VanillaBert(NeuralReranker):
    """A transformer of the user's, fine-tuned on lists of documents of the training topics.

    It reads query and document together, as `cross-encoder` does. Begin with a language model or a
    classifier of your field.
    """

    model = "vanilla-bert"
    needs: Sequence[str] = ("torch", "transformers", "sentence_transformers", "safetensors")
    Options = VanillaBertOptions
    citation: ClassVar[str] = (
        "Sean MacAvaney, Andrew Yates, Arman Cohan, Nazli Goharian. CEDR: Contextualized "
        "Embeddings for Document Ranking. SIGIR 2019, section 3 (Vanilla BERT). Trained on lists: "
        "Luyu Gao, Zhuyun Dai, Jamie Callan. Rethink Training of BERT Rerankers in Multi-Stage "
        "Retrieval Pipeline. ECIR 2021."
    )
    options: VanillaBertOptions

    _reader: Reader
    _base: str

    def options_of_pretraining(self) -> VanillaBertOptions:
        """The options that pre-training heeds."""
        return for_pretraining(self.options)

    def check_training(self) -> None:
        """Open the model to begin with, before anything is searched for its training."""
        from irplatform_encoders.crossencoder_model import open_to_fine_tune

        open_to_fine_tune(self._folder())

    def depends_on(self) -> Mapping[str, object]:
        """The files of the model to begin with."""
        return content(self._folder())

    def prepare(self, resources: Resources) -> None:
        """Open the model to begin with."""
        from irplatform_encoders.crossencoder_model import open_to_fine_tune

        def network() -> Any:
            folder = self._folder()
            self._base = fingerprint(content(folder))  # now: files may change during a training
            model = open_to_fine_tune(folder)
            for note in model.notes:
                resources.notice(note)
            threads = passes_at_a_time(resources)
            self._reader = Reader(model, self.options, resources.device, threads)
            return model.network

        self.start(resources, network)
        multiply_by_numpy(self.network, resources.device)

    def identity(self) -> dict[str, Any]:
        """The files of the model that the weights began with."""
        return {"base": self._base}

    def fit(self, data: TrainingData) -> None:
        """Fine-tune on lists of documents, stopping early on validation nDCG@20.

        What ranks already stays as it is where no epoch is better.
        """
        from irplatform_encoders.crossencoder_task import ListsTask

        task = ListsTask(self._reader, self.options, data, self.resources)
        with self.resources.progress("fine-tuning", task.all_steps, "steps") as advance:
            task.advance = advance
            run_loop(
                task,
                self.options.loop,
                seed=self.resources.seed,
                workspace=data.workspace,
                keep_start=not self._reader.model.new,
            )

    def load(self, folder: Path) -> None:
        """Read weights that were fine-tuned."""
        super().load(folder)
        self._reader.model = replace(self._reader.model, new=frozenset())

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """One logit per document; those of similar length are read together."""
        return [logits.tolist() for logits in score_topics(self._reader, batch, self.resources)]

    def _folder(self) -> Path:
        return model_folder(self.model, self.options)
