"""The options of GRAPHENE, and the paper's values as a preset (Zhao et al., CIKM 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from irplatform.kit import ConceptOptions, LoopSettings, PairSampler, VectorOptions
from irplatform.plugin import Field, Options

if TYPE_CHECKING:
    from collections.abc import Mapping


PAPERS_FIELDS = ("disease", "gene", "treatment", "demographic", "mesh")
"""A topic's fields that the preset "paper" reads, where topics have them."""


class DecoderSettings(Options):
    """The title decoder, which is trained together with the encoder and not used afterwards."""

    on: bool = Field(True, description="generate titles while the encoder is trained")
    weight: float = Field(0.5, ge=0, le=1, description="share of its loss [paper]")
    vocabulary: int = Field(4000, gt=0, description="words it chooses from, the most frequent ones")
    hidden: int = Field(64, gt=0, description="width of its LSTM")
    title_words: int = Field(16, gt=0, description="words of a title that are generated")
    share: float = Field(0.25, gt=0, le=1, description="share of documents with written titles")


class GrapheneOptions(Options):
    """Options of GRAPHENE; `[paper]` marks a value of Zhao et al., CIKM 2019."""

    projection: int | None = Field(
        64, gt=0, description="word vectors are projected to so many numbers; none [paper]: not"
    )
    hidden: int = Field(64, gt=0, description="width of the LSTM, in each direction")
    layers: int = Field(1, gt=0, description="layers of the LSTM [paper: 3]")
    document_words: int = Field(100, gt=0, description="words read of a document")
    graph: bool = Field(True, description="use the document–concept graph (ablation)")
    graph_width: int = Field(64, gt=0, description="width of states in the graph [paper: 16]")
    graph_l2: float = Field(0.0, ge=0, description="L2 of its first layer's weights [paper: 5e-4]")
    links: Literal["shares", "ones"] = Field(
        "shares",
        description="weights of a document's concepts: (1 + ln count) · IDF, adding up to 1, "
        "or 1 each [paper, equation 2]",
    )
    self_loop: float = Field(1.0, ge=0, description="weight of a concept beside its neighbours")
    reward: float = Field(1.6, ge=0, description="weight of a concept of the query [paper]")
    vector: int = Field(256, gt=0, description="width of the vectors of documents and queries")
    filters: int = Field(128, gt=0, description="filters of the query's convolution")
    shortcut: bool = Field(True, description="add weighted means of word vectors to both [ours]")
    normalized: bool = Field(True, description="vectors of texts have length 1 [ours]")
    query_fields: tuple[str, ...] = Field(
        ("disease", "gene", "treatment", "mesh"),
        description="fields of a topic to read; the query where it has none",
    )
    query_words: int = Field(32, gt=0, description="words of a field that are read")
    expansion: bool = Field(True, description="read other names of the concepts in a field too")
    expansion_names: int = Field(6, gt=0, description="other names of a concept that are read")
    narrower: int = Field(1, ge=0, description="is-a steps below a topic's concepts that match")
    dropout: float = Field(0.2, ge=0, lt=1, description="of documents' and queries' vectors")
    loss: Literal["hinge", "softmax"] = Field("softmax", description="loss of pairs [paper: hinge]")
    margin: float = Field(1.0, gt=0, description="difference of scores that costs nothing")
    others: int = Field(32, ge=0, description="in-batch negatives of a relevant document")
    features: tuple[str, ...] = Field((), description="feature groups in the last layer [ours]")
    feature_settings: dict[str, dict[str, Any]] = Field({}, description="their options, by name")
    feature_l2: float = Field(3.0, ge=0, description="L2 regularization of the features' weights")
    tune_encoder: bool = Field(False, description="train a pre-trained encoder further [paper]")
    decoder: DecoderSettings = Field(DecoderSettings(), description="the title decoder")
    train_words: bool = Field(False, description="train the word vectors, too [paper]")
    unjudged: Literal["candidates", "random"] = Field(
        "candidates",
        description="unjudged documents to learn from, such as all negatives of pre-training: "
        "candidates of the first stage, or any of the collection [paper]",
    )
    pairs: PairSampler.Settings = Field(
        PairSampler.Settings(), description="how training pairs are drawn"
    )
    loop: LoopSettings = Field(
        LoopSettings(optimizer="adam", learning_rate=0.001, batch_size=64, epochs=15, patience=4),
        description="optimizer and stopping",
    )
    pretraining: LoopSettings = Field(
        LoopSettings(optimizer="adam", learning_rate=0.002, batch_size=64, epochs=6, patience=2),
        description="the same for pre-training",
    )
    validation_topics: int = Field(150, gt=0, description="for early stopping; 150 in pre-training")
    validation_depth: int = Field(500, gt=0, description="candidates of each; 50 in pre-training")
    stored_documents: int = Field(2_000_000, ge=0, description="most documents to store vectors of")
    concepts: ConceptOptions = Field(ConceptOptions(), description="the document–concept graph")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors")


_LOOP = {
    "optimizer": "adagrad",
    "learning_rate": 0.001,
    "epochs": 50,
    "patience": 50,
    "validate_on": "alone",
}

_PAPER: Mapping[str, object] = {
    "projection": None,
    "hidden": 100,
    "layers": 3,
    "document_words": 400,
    "dropout": 0.5,
    "features": [],
    "loss": "hinge",
    "shortcut": False,
    "normalized": False,
    "others": 0,
    "query_fields": list(PAPERS_FIELDS),
    "narrower": 0,
    "graph_width": 16,
    "graph_l2": 5e-4,
    "links": "ones",
    "train_words": True,
    "unjudged": "random",
    "pairs": {"relevant": "judged", "unjudged_share": 0.0, "weighting": "none"},
    "tune_encoder": True,
    "decoder": {"share": 1.0, "vocabulary": 20_000, "hidden": 100},
    "loop": _LOOP,
    "pretraining": _LOOP,
    "vectors": {"dimensions": 100},
}

PRESETS: Mapping[str, Mapping[str, object]] = {
    "paper": _PAPER,
    "paper-small": {
        **_PAPER,
        "hidden": 64,
        "layers": 1,
        "document_words": 100,
        "decoder": {"share": 0.25, "vocabulary": 4000, "hidden": 64},
        "loop": {**_LOOP, "optimizer": "adam", "epochs": 15, "patience": 4},
        "pretraining": {
            **_LOOP,
            "optimizer": "adam",
            "learning_rate": 0.002,
            "epochs": 6,
            "patience": 2,
        },
    },
}
"""The paper's sizes, inputs and training, for a GPU; docs/graphene.md names what remains ours. The
small one has our optimizer, and sizes that two cores bear.

The graph's width and L2 are Kipf and Welling's (ICLR 2017), which section 5.4 refers to.
"""


def for_pretraining(options: GrapheneOptions) -> GrapheneOptions:
    """The options of pre-training, which do not change with those of the training that follows."""
    usual = GrapheneOptions()
    return options.model_copy(
        update={
            "loop": options.pretraining,
            "pairs": PairSampler.Settings(
                relevant="judged",
                unjudged_share=1.0,
                pairs_per_topic=1,
                negatives_per_topic=20,
            ),
            "validation_depth": 50,
            "validation_topics": 150,
            "query_fields": usual.query_fields,
            "stored_documents": usual.stored_documents,
            "features": (),
            "feature_settings": {},
            "feature_l2": usual.feature_l2,
            "tune_encoder": False,
        }
    )
