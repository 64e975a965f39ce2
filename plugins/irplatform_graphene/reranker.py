"""GRAPHENE as a reranker: training, scores, explanations and weight files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import (
    Documents,
    NamedSystem,
    Reads,
    Resources,
    Topic,
    TrainableReranker,
    TrainingData,
    Traits,
)
from irplatform_graphene.options import PAPERS_FIELDS, PRESETS, GrapheneOptions, for_pretraining

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import DeviceCandidates, Float32
    from irplatform_graphene.model import Model
    from irplatform_graphene.reading import EncodedTopic

_WEIGHTS = "graphene.safetensors"
_FEATURE_WEIGHTS = "feature-weights.safetensors"
_FEATURES = "feature_"


class Graphene(TrainableReranker):
    """GRAPHENE: a BiLSTM and a document–concept graph against a convolution over topics' fields.

    A document's vector joins the mean of a BiLSTM's states with a graph convolution over its
    concepts, of which those that match the topic count more; the score is its distance from the
    topic's vector. `graphene` has additions of ours that train on few topics; `--preset paper` is
    the published model, `--preset paper-small` the same in a small size. `graphene-features` adds
    features of an expanded query.
    """

    Options = GrapheneOptions
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = PRESETS
    citation: ClassVar[str] = (
        "Sendong Zhao, Chang Su, Andrea Sboner, Fei Wang. GRAPHENE: A Precise Biomedical "
        "Literature Retrieval Engine with Graph Augmented Deep Learning and External Knowledge "
        "Empowerment. CIKM 2019, sections 3 and 4."
    )
    options: GrapheneOptions

    model: Model

    _resources: Resources
    _loaded = False
    _told_unknown = False

    def traits(self) -> Traits:
        scispacy = ("scispacy",) if self._reads_graph else ()
        return Traits(
            packages=("torch", "gensim", "safetensors", *scispacy),
            expanded_queries=True,
            pretraining="mesh",
            shares_pretraining="graphene",
            pretraining_options=for_pretraining(self.options),
        )

    def reads(self) -> Reads:
        from irplatform.kit import ConceptGraph

        names, settings = self.options.features, self.options.feature_settings
        concepts = ConceptGraph.identity(self.options.concepts) if self._reads_graph else None
        return Reads(
            systems=NamedSystem.several(
                "feature group", names, settings, settings_in="feature_settings"
            ),
            more={"concepts": concepts} if self._reads_graph else {},
        )

    @property
    def _reads_graph(self) -> bool:
        return self.options.graph or self.options.expansion

    def prepare(self, resources: Resources) -> None:
        from irplatform_graphene.model import Model

        self._resources = resources
        self.model = Model(resources, self.options)

    def fit(self, data: TrainingData) -> None:
        from irplatform.kit import run_loop
        from irplatform_graphene.task import GrapheneTask

        self._tell_fields_that_no_topic_has([topic.topic for topic in data.training])
        encoder = self.options.tune_encoder or not self._loaded
        task = GrapheneTask(self.model, data, self._resources.seed, encoder=encoder)
        seed, workspace = self._resources.seed, data.workspace
        run_loop(task, self.options.loop, seed=seed, workspace=workspace, shown=True)
        self.model.changed()

    def save(self, folder: Path) -> None:
        """Write the weights; the decoder, which only training needs, is not kept."""
        from irplatform.kit import WeightFile

        state = self.model.network.state_dict()
        core = {name: w for name, w in state.items() if not name.startswith(_FEATURES)}
        WeightFile(folder / _WEIGHTS).save(core, self.model.sizes())
        if len(core) < len(state):
            more = {name: w for name, w in state.items() if name.startswith(_FEATURES)}
            WeightFile(folder / _FEATURE_WEIGHTS).save(more, self._feature_identity())
            self.model.features.save(folder)

    def load(self, folder: Path) -> None:
        """Read the weights; after pre-training, those of features start as they are."""
        from irplatform.kit import WeightFile

        current = self.model.network.state_dict()
        state = WeightFile(folder / _WEIGHTS).load(self.model.sizes())
        if self.model.features.width and (folder / _FEATURE_WEIGHTS).exists():
            state |= WeightFile(folder / _FEATURE_WEIGHTS).load(self._feature_identity())
            self.model.features.load(folder)
        else:
            state |= {name: w for name, w in current.items() if name.startswith(_FEATURES)}
        WeightFile(folder).load_into(self.model.network, state)
        self.model.network.eval()
        self._loaded = True
        self.model.changed()

    def _feature_identity(self) -> dict[str, object]:
        return {"features": list(self.model.features.columns)}

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        from irplatform.kit import Reading, on_device

        features: Sequence[Float32] = ()
        if self.model.features.width:
            candidates = [(topic, documents.ids) for topic, documents in batch]
            features = self.model.features.matrices(candidates)
        if self.options.graph:
            self.model.reader.index.refuse_texts("concepts")
        documents = on_device(self.model.reader.index, self.model.device)
        return documents.score(batch, Reading(), self._scores, features)

    def _scores(self, candidates: DeviceCandidates) -> Tensor:
        topics = [self._read(topic) for topic in candidates.topics]
        return self.model.scores_of(topics, candidates)

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:
        from irplatform_graphene.explaining import explain

        explanations: list[Mapping[str, object]] = []
        for doc_id in documents.ids:
            (row,) = self.model.reader.index.rows([doc_id]).tolist()
            width = self.model.features.width
            features = self.model.features.matrix(topic, [doc_id]) if width else None
            explanations.append(explain(self.model, topic, row, features))
        return explanations

    def _tell_fields_that_no_topic_has(self, topics: Sequence[Topic]) -> None:
        """Missing fields mean that the whole query is read, perhaps for a misspelt name."""
        names = {name for topic in topics for name in topic.fields}
        fields = {*names, *PAPERS_FIELDS}  # few collections have all of the usual ones
        if strange := [name for name in self.options.query_fields if name not in fields]:
            self._resources.notice(
                f"query_fields: no training topic has a field {' or '.join(strange)}. They have: "
                f"{', '.join(sorted(names)) or 'no fields'}."
            )

    def _read(self, topic: Topic) -> EncodedTopic:
        encoded = self.model.topics.read(topic)
        rewards = self.model.concepts is not None and self.options.reward != 1
        none_to_reward = rewards and not len(encoded.matching)
        # A large collection has hundreds of such topics.
        if none_to_reward and not self._told_unknown:
            self._told_unknown = True
            self._resources.notice(
                f"topic {topic.id}: the knowledge bases know no concept in it, so that no concept "
                "of its documents is rewarded. Other such topics get no notice."
            )
        return encoded
