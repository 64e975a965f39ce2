"""Options of learning to rank: which features, which learners, what they learn from."""

from __future__ import annotations

from typing import Any, Literal

from irplatform.plugin import Field, Options

DEFAULT_FEATURES = (
    "lexical", "stems", "fields", "embedding", "first-stage", "query-parts", "concepts", "genes",
    "demographics", "treatment", "document",
)  # fmt: skip


class PoolOptions(Options):
    """Which documents of a training topic are learned from."""

    relevant: Literal["candidates", "judged"] = Field(
        "candidates", description="documents that the first stage found, or all judged"
    )
    rejected: int = Field(1000, ge=0, description="judged documents of grade 0, at most")
    unjudged_share: float = Field(0.3, ge=0, lt=1, description="share of unjudged among grade 0")
    unjudged: int = Field(40, ge=0, description="most unjudged candidates of a topic")
    head: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of unjudged ones from the first stage's best, if none is judged 0",
    )
    head_depth: int = Field(60, gt=0, description="number of the first stage's best")


class TreeOptions(Options):
    """Gradient-boosted trees."""

    trees: int = Field(300, gt=0, description="number of trees")
    rate: float = Field(0.03, gt=0, le=1, description="learning rate")
    leaves: int = Field(15, gt=1, description="leaves of a tree")
    leaf_documents: int = Field(20, gt=0, description="fewest documents of a leaf")
    feature_share: float = Field(0.3, gt=0, le=1, description="share of features a tree may use")
    document_share: float = Field(0.7, gt=0, le=1, description="share of documents a tree sees")
    l2: float = Field(5.0, ge=0, description="L2 regularization of leaf values")
    cutoff: int = Field(20, gt=0, description="rank at which LambdaMART's nDCG is cut")


class LinearOptions(Options):
    """The pairwise linear model."""

    l2: float = Field(3.0, ge=0, description="L2 regularization of standardized weights")


class NetworkOptions(Options):
    """The pairwise network."""

    units: int = Field(64, gt=0, description="of the hidden layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="of features and of units")
    rate: float = Field(0.003, gt=0, description="Adam's learning rate at first")
    decay: float = Field(0.01, ge=0, description="weight decay")
    epochs: int = Field(40, gt=0, description="times that a topic is seen, at most")
    steps: int = Field(20_000, gt=0, description="topics seen in all, at most, but each once")


class NeighbourOptions(Options):
    """Scores are mixed with those of similar candidates."""

    share: float = Field(0.0, ge=0, lt=1, description="share of similar candidates' mean score")
    count: int = Field(10, gt=0, description="how many candidates are similar")


class LtrOptions(Options):
    """Options of `ltr` and `lexical`."""

    features: tuple[str, ...] = Field(DEFAULT_FEATURES, description="see `platform features list`")
    settings: dict[str, dict[str, Any]] = Field({}, description="their options, by name")
    stack: tuple[str, ...] = Field((), description="rerankers to learn from, out of fold")
    learner: Literal["trees", "linear", "network", "average"] = Field(
        "average",
        description="LambdaMART, a pairwise model, or the average of all and of regression trees",
    )
    folds: int = Field(5, gt=1, description="folds of training topics for features that learn")
    apart: str = Field("citing_id", description="topics that share this field share a fold")
    hide_judged: bool = Field(
        True, description="hide a fold's judged documents from groups that learn"
    )
    memory_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="share of the learners that read remembered features; the others do not",
    )
    pool: PoolOptions = Field(PoolOptions(), description="the documents that are learned from")
    tree: TreeOptions = Field(TreeOptions(), description="the trees")
    linear: LinearOptions = Field(LinearOptions(), description="the linear model")
    network: NetworkOptions = Field(NetworkOptions(), description="the network")
    neighbours: NeighbourOptions = Field(
        NeighbourOptions(), description="mix with similar documents"
    )
