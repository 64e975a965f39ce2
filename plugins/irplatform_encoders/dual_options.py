"""The options of the dual encoder: what it is made of, what it learns from, how it is searched."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - read at run time, to validate
from typing import Literal

from irplatform.plugin import Field, Options
from irplatform.text import VectorOptions
from irplatform.training import GroupSettings, LoopSettings
from irplatform_encoders.nearest_options import NearestOptions

SOURCES = "citing_id"
"""The column of sources where none is named; a file may lack this one."""


class SparseLoop(LoopSettings):
    """How long and with what steps to train."""

    optimizer: Literal["adagrad"] = Field(
        "adagrad", description="gradient descent method; this one takes sparse gradients of words"
    )


class PairsOptions(Options):
    """Training on pairs: texts that ask, and texts that they should find."""

    file: Path | None = Field(
        None, description="TSV file with a header, may be .gz; none trains on topics alone"
    )
    passages: int = Field(
        0,
        ge=0,
        description="passages of each document's abstract that should find its title, as pairs "
        "beside those of the file or without one",
    )
    passage_words: int = Field(24, gt=0, description="words of a passage")
    query: str = Field("sentence", description="its column of texts that ask")
    text: str = Field("cited_title", description="its column of texts that they should find")
    group: str = Field(
        SOURCES,
        description="its column that says which pairs are of one source, where it is there; pairs "
        "of the sources of topics, named so in the topics' fields, are left out",
    )
    marker: str = Field("[CIT]", description="what is cut from texts that ask")
    most: int = Field(500_000, gt=1, description="pairs of the file, and passages, at most")
    seed: int = Field(1, ge=0, description="of first weights and order, the same for all members")
    loop: SparseLoop = Field(
        SparseLoop(batch_size=512, epochs=4, patience=1), description="optimizer and stopping"
    )

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return self.file is not None or self.passages > 0

    def check(self) -> None:
        """Look at the file, where one is given."""
        from irplatform.training.text_pairs import check_text_pairs

        if self.file is not None:
            # A mistyped name would leave nothing out, and nobody would know.
            named = self.group if self.group != SOURCES else ""
            check_text_pairs(self.file, query=self.query, text=self.text, group=named)


class EncoderOptions(Options):
    """What both encoders are made of."""

    words: Literal["fixed", "learned"] = Field(
        "learned", description="word vectors: as they are, or where learning starts"
    )
    word_weights: Literal["idf", "learned"] = Field(
        "learned", description="weights of words: their IDF, or where learning starts"
    )
    projection: int | None = Field(
        None, gt=0, description="width of the encoded texts; none keeps that of the word vectors"
    )
    shared: bool = Field(False, description="queries and documents have the same projection")
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors to start from")
    pairs: PairsOptions = Field(PairsOptions(), description="training on pairs of texts")


class DualOptions(EncoderOptions):
    """Options of the reranker."""

    groups: GroupSettings = Field(
        GroupSettings(inside=2, outside=0, relevant="judged", groups_per_topic=3),
        description="how documents of training topics are drawn; those of the other topics of a "
        "batch are negatives, too",
    )
    validation_topics: int = Field(300, gt=0, description="topics that early stopping looks at")
    validation_depth: int = Field(100, gt=0, description="candidates of each that it looks at")
    stored_documents: int = Field(
        1_000_000,
        ge=0,
        description="keep the vectors of all documents where there are at most this many; "
        "otherwise the candidates' are computed per topic",
    )
    loop: SparseLoop = Field(
        SparseLoop(batch_size=768, epochs=10, patience=2),
        description="optimizer and stopping; a batch is counted in documents",
    )


class RetrieverOptions(NearestOptions, EncoderOptions):
    """Options of the retriever, which needs a trained model: `checkpoint`, or pairs."""

    checkpoint: Path | None = Field(
        None,
        description="folder of `platform train --reranker dual-encoder`; the model is then as "
        "it was trained, whatever the options of the encoders say",
    )
    folds: int = Field(
        3,
        gt=1,
        description="models that are trained on the file of pairs, each without a part of its "
        "sources; topics of these sources are searched with it",
    )
