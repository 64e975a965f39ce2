"""The keywords of Python's functions, as an editor completes them.

Made by docs/generate_keywords.py from the settings of `irplatform.analysis`: change those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.topics import TopicFilter
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnyQrels, Names, Paths


class EvaluateOptions(TypedDict, total=False):
    """Keywords of `irplatform.evaluate`."""

    collection: AnyCollection | None
    """The collection whose judgments to use; default: the one that the runs are of."""
    qrels: AnyQrels | None
    """A file of judgments to use instead: TREC (four columns), BEIR (three), sampled (five), JSON
    lines or BioASQ; or a pool that was judged."""
    sources: str | None
    """Whose judgments of a pool, or of a file with sources, count: people (the default), people-
    first (machines' where no person judged), machines, or names of sources."""
    sampled_qrels: AnyPath | None
    """A file of sampled judgments for infNDCG and infAP, with or without other judgments."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does: for collections
    whose topics are documents."""
    measures: Names
    """Measures, such as nDCG@20,AP; default: those that the runs were reported by, or the
    collection's."""
    trec_eval: int
    """The trec_eval release to agree with. Release 9 rounds scores to 32 bits before ranking."""
    among: str | None
    """Average only over topics with a relevant document in the first N results of this run file,
    such as runs/demo/bm25.run@1000."""
    relevant: Literal["seen", "unseen"] | None
    """Average only over topics that share relevant documents with training topics (seen), or that
    share none (unseen)."""
    topics: TopicFilter | None
    """Which of the judged topics count, in place of these two."""
    names: Names
    """Names of the runs in tables, one per run in the same order; default: the file names."""


class CompareOptions(TypedDict, total=False):
    """Keywords of `irplatform.compare`."""

    collection: AnyCollection | None
    """The collection whose judgments to use; default: the one that the runs are of."""
    qrels: AnyQrels | None
    """A file of judgments to use instead: TREC (four columns), BEIR (three), sampled (five), JSON
    lines or BioASQ; or a pool that was judged."""
    sources: str | None
    """Whose judgments of a pool, or of a file with sources, count: people (the default), people-
    first (machines' where no person judged), machines, or names of sources."""
    sampled_qrels: AnyPath | None
    """A file of sampled judgments for infNDCG and infAP, with or without other judgments."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does: for collections
    whose topics are documents."""
    measures: Names
    """Measures, such as nDCG@20,AP; default: those that the runs were reported by, or the
    collection's."""
    baseline: str | None
    """The run to compare with; default: the first, or that of a run's row in a matrix."""
    all_pairs: bool
    """Compare every two runs."""
    test: Literal["t-test", "randomization", "wilcoxon", "bootstrap"]
    """The paired test over topics."""
    correction: Literal["holm", "bonferroni", "benjamini-hochberg", "none"]
    """The correction for the number of pairs, measure by measure."""
    seed: int
    """Seed of randomization, bootstrap and rank intervals."""
    different_documents: bool
    """Compare runs whose metadata record different documents, too."""
    among: str | None
    """Average only over topics with a relevant document in the first N results of this run file,
    such as runs/demo/bm25.run@1000."""
    relevant: Literal["seen", "unseen"] | None
    """Average only over topics that share relevant documents with training topics (seen), or that
    share none (unseen)."""
    topics: TopicFilter | None
    """Which of the judged topics count, in place of these two."""
    group_by: str | None
    """Also compare groups of topics by a field, such as disease, or by query-length."""
    bounds: bool | None
    """Show condensed lists, and bounds for unjudged and tied documents; or leave them out, which is
    quicker. By default sentences use them, for up to two million results."""
    names: Names
    """Names of the runs in tables, one per run in the same order; default: the file names."""


class ReportOptions(CompareOptions, total=False):
    """Keywords of `irplatform.write_report`."""

    depth: int | None
    """Documents to show of each ranking; default: 100, fewer for many topics."""
    explain: bool
    """Show rerankers' explanations of their first documents, or not, which is quicker."""
    plots: AnyPath | None
    """A folder for the plots, as SVG, PDF and PNG."""
    title: str
    """The title; default: the collection's, and systems."""
    force: bool
    """Replace a file of the same name that is no report."""


class FuseOptions(TypedDict, total=False):
    """Keywords of `irplatform.fuse_runs`."""

    by: Literal["ranks", "scores", "combsum", "combmnz", "isr", "borda"] | None
    """What a run adds to the score of a document. ranks: 1 / (k + rank), the reciprocal rank (RRF).
    scores: the standardized score; the lowest, where it did not find it. combsum: the score,
    normalized as `norm` says (CombSUM). combmnz: the same; the sum is multiplied by the weights of
    the runs that found it (CombMNZ). isr: 1 / rank²; multiplied by the same. borda: points, as many
    as there are documents for rank 1, one less for each next (Borda). Default: ranks; on training
    topics the best."""
    norm: Literal["min-max", "max", "sum", "zmuv", "rank", "borda"] | None
    """How combsum and combmnz normalize the scores of a topic; zmuv is the z-score; default: min-
    max, on training topics the best."""
    k: float | None
    """The k of 1 / (k + rank); a larger one weighs top ranks less; default: 60."""
    weights: Sequence[float] | None
    """The weight of each run, such as 4,1; 0 leaves a run out; default: equal weights."""
    train_on: AnyCollection | None
    """A collection, or a file of judgments, whose topics choose method and weights. Without runs
    over them, each topic of the runs is fused as the topics of other folds choose."""
    train_runs: Paths
    """Runs of the same systems over the training topics, in the same order."""
    depth: int
    """Documents per topic."""
    tag: str
    """The run tag, the last column of the file."""
    force: bool
    """Replace a run that was made with other settings."""


class PoolOptions(TypedDict, total=False):
    """Keywords of `irplatform.pool_runs`."""

    method: Literal["depth", "stratified", "move-to-front", "worth"]
    """depth: the first documents of every run. stratified: a sample of strata by rank, for infNDCG
    and infAP. move-to-front: the runs that keep bringing relevant documents, in rounds. worth: what
    tells the runs apart, in rounds."""
    depth: int | None
    """Documents of a topic of each run that can be pooled; default: 20 for worth and for depth
    without a budget, else 100."""
    budget: int | None
    """Documents to judge, of all topics together; default: all that are pooled."""
    strata: Names
    """Strata of a stratified sample: down to which rank, and which share of its documents is
    judged; default: 10:1,100:0.2, the first ten ranks of every run whole, and a fifth of the rest
    down to 100. A budget scales the shares."""
    batch: int | None
    """Documents of a round of move-to-front and worth; default: a tenth of the budget."""
    judged: AnyQrels | None
    """A file of judgments that there are already, as TREC's or as written here. Their documents are
    left out, and methods that learn learn from them. Without runs: what the next round of POOL
    learns from."""
    seed: int
    """Random seed of the order of judging, and of samples."""
