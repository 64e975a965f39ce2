"""The options of DeepSenSe, and the values of the paper and of the authors' program as presets."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads it
from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import Any, Literal

from irplatform.kit import ALL18, GroupSampler, LexicalNames, LoopSettings, VectorOptions
from irplatform.plugin import Field, Options


class PairsOptions(Options):
    """Pre-training on pairs of a sentence and a title that it cites."""

    file: Path | None = Field(None, description="TSV file of sentences and cited titles")
    sentences: int = Field(60_000, gt=0, description="sentences that are read of it, at most")
    epochs: int = Field(1, gt=0, description="times that each is looked at")
    batch_size: int = Field(16, gt=1, description="sentences per step; each sees all their titles")
    neighbours: int = Field(4, gt=0, description="sentences of an article that share a batch")
    learning_rate: float = Field(0.001, gt=0, description="step size of Adam")
    seed: int = Field(1, ge=0, description="of first weights and order, the same for all members")


class DeepSenSeOptions(Options):
    """Options of DeepSenSe; `[paper]` marks a value of Lo et al., `[program]` of their program."""

    projection: int = Field(64, gt=0, description="width of F [paper: 500; program: 300]")
    compare: int = Field(64, gt=0, description="width of G [paper: 300; program: 500]")
    compare_layers: int = Field(1, gt=0, description="layers of G [paper: 1; program: 2]")
    compare_on: Literal["words", "projected"] = Field(
        "words", description="what is compared: word vectors [paper] or F of them [program]"
    )
    product: bool = Field(False, description="compare the product of both words, too [program]")
    signals: bool = Field(True, description="compare cosines and the IDF of words, too [ours]")
    pooling: Literal["sum", "mean"] = Field("mean", description="[paper: sum; program: mean]")
    side: tuple[int, int] = Field((32, 16), description="widths of L [program]")
    classifier: tuple[int, int] = Field((32, 16), description="of H [paper; program: 300, 300]")
    shortcut: bool = Field(True, description="add weighted side features to the score [ours]")
    dropout: float = Field(0.2, ge=0, lt=1, description="in every layer [paper]")
    query_words: int = Field(100, gt=0, description="words read of a sentence [paper]")
    title_words: int = Field(100, gt=0, description="words read of a title [paper]")
    abstract_words: int = Field(1000, gt=0, description="words read of an abstract [paper]")
    document_stop_words: bool = Field(False, description="read stop words of documents [paper]")
    lexical: LexicalNames = Field(ALL18, description="lexical match features [program: coverage]")
    numbers: tuple[str, ...] = Field(
        ("year", "citations", "impact_factor"),
        description="documents' fields of numbers, if they have them",
    )
    categories: tuple[str, ...] = Field(
        ("publication_types",), description="documents' fields of categories, if they have them"
    )
    loss: Literal["bce", "hinge", "softmax"] = Field(
        "softmax", description="cross-entropy [paper: bce; ours: among the negatives] or hinge loss"
    )
    groups: GroupSampler.Settings = Field(
        GroupSampler.Settings(), description="how training documents are drawn"
    )
    pairs: PairsOptions = Field(PairsOptions(), description="pre-training on sentences and titles")
    validation_topics: int = Field(100, gt=0, description="topics of early stopping")
    validation_depth: int = Field(100, gt=0, description="candidates of each")
    loop: LoopSettings = Field(
        LoopSettings(optimizer="adam", learning_rate=0.001, batch_size=128, epochs=6, patience=2),
        description="optimizer and stopping; a batch is counted in documents",
    )
    vectors: VectorOptions = Field(VectorOptions(), description="word vectors, fixed in training")


_COVERAGE = ["overlap_title", "overlap_abstract"]

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "paper": {
        "projection": 500,
        "compare": 300,
        "pooling": "sum",
        "signals": False,
        "shortcut": False,
        "lexical": [],
        "document_stop_words": True,
        "loss": "bce",
        "groups": {"inside": 1, "outside": 1, "relevant": "judged"},
        "loop": {
            "optimizer": "adam",
            "learning_rate": 0.01,
            "batch_size": 20,
            "epochs": 20,
            "patience": 20,
            "validate_on": "alone",
        },
    },
    "program": {
        "projection": 300,
        "compare": 500,
        "compare_layers": 2,
        "compare_on": "projected",
        "product": True,
        "signals": False,
        "shortcut": False,
        "classifier": [300, 300],
        "lexical": _COVERAGE,
        "document_stop_words": True,
        "loss": "bce",
        "groups": {"inside": 1, "outside": 1},
        "loop": {
            "optimizer": "adam",
            "learning_rate": 0.001,
            "batch_size": 20,
            "epochs": 20,
            "validate_on": "alone",
        },
    },
}
"""The published settings, where they differ from ours: the paper's, and the authors' program's."""
