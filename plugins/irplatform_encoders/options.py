"""The options of bi-, cross- and dual encoders, and of their indexes of vectors."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import Literal

from irplatform.kit import GroupSampler, ListSampler, LoopSettings, StepSettings, VectorOptions
from irplatform.plugin import Field, Options
from irplatform_encoders.pretrained import PretrainedOptions, TwoSidedOptions

_EXACT_BELOW = 1_000_000


class NearestOptions(Options):
    """The search of documents' vectors."""

    index: Literal["auto", "exact", "ivf"] = Field(
        "auto",
        description="compare all documents, or the nearest clusters (auto: from a million on)",
    )
    probes: int = Field(64, gt=0, description="clusters that a query looks at, if index is ivf")

    def compares_all(self, count: int) -> bool:
        return self.index == "exact" or (self.index == "auto" and count < _EXACT_BELOW)


class ReadingOptions(PretrainedOptions):
    """The reading of pairs of query and document."""

    max_length: int | None = Field(
        None, gt=8, description="tokens of query and document together, if not the model's"
    )
    query_tokens: int | None = Field(
        None, gt=0, description="tokens of a query; by default the longer of the two texts is cut"
    )
    batch_size: int = Field(
        32, gt=0, description="long documents that a GPU scores at once; of short ones more"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="bfloat16 takes half the memory and rounds scores",
    )


class CrossEncoderOptions(ReadingOptions):
    """Options of the cross-encoder: any that sentence-transformers' `CrossEncoder` loads."""

    query_prompt: str | None = Field(None, description="put before a query; by default the model's")
    label: str | None = Field(
        None,
        description="of several labels, the name or number (from 0) of the one that means "
        "relevant; by default the one whose name says so",
    )
    output: Literal["logit", "probability", "model"] = Field(
        "logit",
        description="logit of relevance (of several labels: log-odds), its probability, or what "
        "the model's activation function makes of it",
    )


class FineTuning(Options):
    """The steps of fine-tuning: AdamW, with rates that rise at first and then fall to 0."""

    learning_rate: float = Field(2e-5, gt=0, description="largest step size of the transformer")
    head_learning_rate: float = Field(1e-3, gt=0, description="that of a new layer on top")
    warmup: float = Field(0.1, ge=0, lt=1, description="share of all steps in which rates rise")
    weight_decay: float = Field(0.01, ge=0, description="of AdamW; biases and norms have none")
    longest_gradient: float = Field(1.0, gt=0, description="longer ones are cut to this norm")
    batch_size: int = Field(48, gt=0, description="documents of a step, at least one list")
    epochs: int = Field(5, gt=0, description="most epochs; rates reach 0 at the end of the last")
    patience: int = Field(5, gt=0, description="stop after so many epochs without a gain")
    validate_on: Literal["mixture", "alone"] = Field(
        "mixture",
        description="what is validated: the best mixture with the first stage, or the model alone",
    )


class Pretraining(Options):
    """The options of pre-training (`pretrain`), where topics are many."""

    learning_rate: float = Field(4e-5, gt=0, description="largest step size of the transformer")
    epochs: int = Field(1, gt=0, description="most epochs")
    relevant_per_topic: int = Field(1, gt=0, description="relevant documents of a topic per epoch")
    max_length: int = Field(256, gt=8, description="tokens of both, if fine-tuning has no fewer")


class VanillaBertOptions(ReadingOptions):
    """Options of the fine-tuned cross-encoder: a language model or a classifier to begin with."""

    max_length: int = Field(256, gt=8, description="tokens of query and document together")
    lists: ListSampler.Settings = Field(
        ListSampler.Settings(), description="lists of documents to learn from"
    )
    loop: FineTuning = Field(FineTuning(), description="steps and stopping")
    pretraining: Pretraining = Field(Pretraining(), description="steps of pre-training")
    validation_topics: int = Field(300, gt=0, description="most topics that epochs are judged on")
    validation_depth: int = Field(100, gt=0, description="best candidates of each to rank")


def for_pretraining(options: VanillaBertOptions) -> VanillaBertOptions:
    """The options of pre-training, with other steps and lists."""
    pretraining = options.pretraining
    steps = {"learning_rate": pretraining.learning_rate, "epochs": pretraining.epochs}
    return options.model_copy(
        update={
            "max_length": min(options.max_length, pretraining.max_length),
            "loop": options.loop.model_copy(update=steps),
            "lists": options.lists.model_copy(
                update={"relevant_per_topic": pretraining.relevant_per_topic}
            ),
            "pretraining": Pretraining(),
        }
    )


class BiEncoderOptions(TwoSidedOptions):
    """Options of the bi-encoder: a sentence-transformers model."""

    pooling: Literal["mean", "cls"] | None = Field(
        None, description="makes a text's vector of its words', if the model's files do not say how"
    )
    similarity: Literal["cosine", "dot"] | None = Field(None, description="if not the model's")
    query_prompt: str | None = Field(None, description="put before a query; by default the model's")
    document_prompt: str | None = Field(
        None, description="put before documents, if not the model's"
    )
    max_length: int | None = Field(None, ge=9, description="tokens of a text, if not the model's")
    batch_size: int = Field(
        32, gt=0, description="long texts that a GPU encodes at once; of short ones more"
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32",
        description="numbers of 16 bits take half the memory and round scores",
    )


class BiEncoderSearchOptions(NearestOptions, BiEncoderOptions):
    """The same with those of the index."""


SOURCES = "citing_id"  # the column of sources where none is named; a file may lack this one


class SparseSteps(StepSettings):
    """Steps and stopping."""

    optimizer: Literal["adagrad"] = Field("adagrad", description="takes sparse gradients of words")


class SparseLoop(SparseSteps, LoopSettings):
    """The same for topics."""


class PairsOptions(Options):
    """Training on pairs: texts that ask, and texts that they should find."""

    file: Path | None = Field(None, description="TSV file with a header, may be .gz")
    passages: int = Field(0, ge=0, description="pairs of passage and title per document")
    passage_words: int = Field(24, gt=0, description="words of a passage")
    query: str = Field("sentence", description="its column of texts that ask")
    text: str = Field("cited_title", description="its column of texts that they should find")
    group: str = Field(SOURCES, description="its column of sources; those of topics are left out")
    marker: str = Field("[CIT]", description="what is cut from texts that ask")
    most: int = Field(500_000, gt=1, description="pairs of the file, and passages, at most")
    seed: int = Field(1, ge=0, description="of first weights and order, the same for all members")
    loop: SparseSteps = Field(
        SparseSteps(batch_size=512, epochs=4, patience=1), description="optimizer and stopping"
    )

    @property
    def has_source(self) -> bool:
        return self.file is not None or self.passages > 0

    def check(self) -> None:
        from irplatform.kit import TextPairs

        if self.file is not None:
            # A mistyped name would silently leave nothing out.
            group = self.group if self.group != SOURCES else ""
            TextPairs(self.file, self.query, self.text, group).check()


class EncoderOptions(Options):
    """Options of the dual encoder as a reranker and as a retriever."""

    words: Literal["fixed", "learned"] = Field("learned", description="word vectors")
    word_weights: Literal["idf", "learned"] = Field("learned", description="weights of words")
    projection: int | None = Field(None, gt=0, description="width of texts, if not the vectors'")
    shared: bool = Field(False, description="queries and documents have the same projection")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors to start from")
    pairs: PairsOptions = Field(PairsOptions(), description="training on pairs of texts")


class DualOptions(EncoderOptions):
    """Options of the reranker."""

    groups: GroupSampler.Settings = Field(
        GroupSampler.Settings(inside=2, outside=0, relevant="judged", groups_per_topic=3),
        description="how documents of training topics are drawn, for a batch of topics",
    )
    validation_topics: int = Field(300, gt=0, description="topics of early stopping")
    validation_depth: int = Field(100, gt=0, description="candidates of each")
    stored_documents: int = Field(1_000_000, ge=0, description="most documents to store vectors of")
    loop: SparseLoop = Field(
        SparseLoop(batch_size=768, epochs=10, patience=2),
        description="optimizer and stopping; a batch is counted in documents",
    )


class DualSearchOptions(NearestOptions, EncoderOptions):
    """Options of the retriever, which needs a trained model: `checkpoint`, or pairs."""

    checkpoint: Path | None = Field(None, description="folder that `platform train` wrote")
    folds: int = Field(3, gt=1, description="models trained on pairs, each without some sources")
