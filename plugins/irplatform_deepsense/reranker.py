"""DeepSenSe as a reranker: training, scores and weight files."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.kit import NeuralReranker, TextPairs, read_json
from irplatform.plugin import InputError, PairsFile, Reads
from irplatform_deepsense.options import PRESETS, DeepSenSeOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import DeviceCandidates
    from irplatform.plugin import Documents, Resources, TextPair, Topic, TrainingData
    from irplatform_deepsense.encoding import Encoder
    from irplatform_deepsense.features import Columns, FieldFeatures
    from irplatform_deepsense.network import DeepSenSeNetwork, Tables
    from irplatform_deepsense.task import DeepSenSeTask


_FIELDS = "fields.json"


class DeepSenSe(NeuralReranker):
    """DeepSenSe: modified decomposable attention over a sentence, a title and an abstract.

    The words of sentence and title, and of sentence and abstract, attend to one another and are
    compared; the results are pooled, joined with side features, and classified.
    """

    model = "deepsense"
    Options = DeepSenSeOptions
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = PRESETS
    citation: ClassVar[str] = (
        "Chun-chao Lo, Shubo Tian, Yuchuan Tao, Jie Hao, Jinfeng Zhang. Developing a More Accurate "
        "Biomedical Literature Retrieval Method using Deep Learning and Citations in PubMed "
        "Central Full-text Articles (DeepSenSe), “The deep learning model”, equations 1 to 16."
    )
    options: DeepSenSeOptions

    network: DeepSenSeNetwork
    encoder: Encoder
    features: FieldFeatures
    _tables: Tables
    _loaded = False

    def prepare(self, resources: Resources, columns: Columns | None = None) -> None:
        from irplatform_deepsense.encoding import Encoder
        from irplatform_deepsense.features import field_features
        from irplatform_deepsense.network import DeepSenSeNetwork, Sizes

        options = self.options
        vectors = resources.vectors(options.vectors)
        self.features = field_features(resources, options, columns)
        self.encoder = Encoder(
            resources.forward_index(), vectors, options, self.features, resources.device
        )
        sizes = Sizes(
            dimensions=vectors.dimensions,
            features=len(self.features.names),
            **options.model_dump(include={*Sizes.__dataclass_fields__}),
        )
        self.start(resources, lambda: DeepSenSeNetwork(sizes, options.dropout))

    def describe_model(self) -> dict[str, Any]:
        return {**asdict(self.network.sizes), "features": list(self.features.names)}

    def reads(self) -> Reads:
        from irplatform_deepsense.pairs import ARTICLE, SENTENCE, TITLE, read_sentences

        file, most = self.options.pairs.file, self.options.pairs.sentences
        if file is None:
            return Reads()

        def read(topics: Sequence[Topic]) -> Iterable[TextPair]:
            left_out = TextPairs.OfTopics.of(topics, ARTICLE)
            return chain.from_iterable(read_sentences(file, most, left_out))

        return Reads(
            pairs=PairsFile(file, read),
            check=TextPairs(file, SENTENCE, TITLE).check,
        )

    def fit(self, data: TrainingData) -> None:
        if self.options.pairs.file is not None and not self._loaded:
            self._take_pretrained(data)
        super().fit(data)

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> DeepSenSeTask:
        from irplatform_deepsense.task import DeepSenSeTask

        seed = self.resources.seed
        task = DeepSenSeTask(self.network, self.encoder, self.options, data, seed, advance)
        task.standardize_features()
        return task

    def _take_pretrained(self, data: TrainingData) -> None:
        from irplatform_deepsense.pairs import pretrained

        state = pretrained(
            self.resources,
            self.network,
            self.encoder,
            self.options,
            [*(labelled.topic for labelled in (*data.training, *data.validation)), *data.unseen],
        )
        self.network.load_state_dict(state, strict=False)

    def save(self, folder: Path) -> None:
        super().save(folder)
        content = json.dumps(self.features.columns.as_json())
        (folder / _FIELDS).write_text(content, encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Read the weights and how fields are read, which another collection may have others of."""
        columns = self._saved_columns(folder / _FIELDS)
        collection_columns = self.features.columns
        if columns is not None and columns.as_json() != collection_columns.as_json():
            lacking = [name for name in columns.fields if name not in collection_columns.fields]
            if lacking and self.encoder.index.held:  # else it scores texts, which may have them
                names = " and ".join(lacking)
                self.resources.notice(
                    f"{self.model}: it has learned from {names} of documents, which these have not"
                )
            self.prepare(self.resources, columns)
        super().load(folder)
        self._loaded = True

    def _saved_columns(self, path: Path) -> Columns | None:
        """The columns that were saved; None if the options leave out a field that they need."""
        from irplatform_deepsense.features import Columns

        try:
            columns = Columns.of_json(read_json(path))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("this does not say what is read of fields.", path=path) from error
        fields = {*self.options.numbers, *self.options.categories}
        return columns if fields >= {*columns.fields} else None

    def weights_changed(self) -> None:
        import torch

        with torch.inference_mode():
            self._tables = self.network.tabulate(self.encoder.vectors, self.encoder.idf)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        from irplatform.kit import Reading, on_device

        features, encoder = self.features, self.encoder
        reading = Reading(
            lambda topic: encoder.query(topic.query), features.lexical, features.matched
        )
        fields = [features.of_fields(documents.ids) for _, documents in batch]
        documents = on_device(encoder.index, encoder.device)
        return documents.score(batch, reading, self._scores, fields)

    def _scores(self, candidates: DeviceCandidates) -> Tensor:
        from irplatform_deepsense.task import score, score_on_device

        features = candidates.features
        if candidates.one_by_one:
            query = candidates.query[0]
            encoded = self.encoder.encode_rows(query, candidates.rows, features)
            return score(self.network, self._tables, encoded)
        texts = self.encoder.padded(candidates)
        return score_on_device(self.network, self._tables, texts, features)
