"""The keywords of Python's functions, as an editor completes them.

Made by docs/generate_keywords.py from the settings of `irplatform.experiment`: change those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.experiment.arguments import AnyPath, AnySystem, Names, Paths, Systems
    from irplatform.plugin.retrievers import Retriever
    from irplatform.workers.distribution import Count

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Share: TypeAlias = float | Literal["auto"] | None


class RetrieverOptions(TypedDict, total=False):
    """Keywords of `irplatform.retriever`."""

    settings: Mapping[str, object] | None
    """Set an option of a retriever or reranker (see `rerankers show`); repeat for several."""
    config: AnyPath | None
    """A TOML file of such settings; single ones take precedence."""
    expand: Names
    """Expand queries with these knowledge bases, such as mesh,doid,hgnc, or none. Default: only for
    rerankers made for it (graphene)."""
    query_plan: AnyPath | None
    """A TOML file with the weights of expanded queries."""
    seed: int
    """Random seed."""
    vectors: AnyPath | None
    """A file of published word vectors (word2vec, GloVe, fastText)."""
    vectors_text: Paths
    """A further text file to train word vectors on (.txt, .jsonl, .tsv, also .gz); repeatable."""
    device: Device
    """Device for models: auto, cpu, cuda or mps."""
    threads: int | None
    """Threads for indexing, searching, reading, tokenizing and transformers on the CPU; default:
    all cores."""
    model_threads: int
    """CPU threads of torch; another number trains other weights."""


class RerankerOptions(RetrieverOptions, total=False):
    """Keywords of `irplatform.reranker`."""

    preset: str | None
    """Named settings of rerankers, such as paper; your own settings take precedence."""
    first_stages: Systems[Retriever] | AnyPath | Sequence[AnyPath | AnySystem[Retriever]]
    """What is reranked: the results of a retriever (default: bm25), of several fused (bm25+rm3),
    exactly the judged documents (judged), those that an ir_datasets collection brings (scoreddocs),
    or a run file. `platform run` takes several."""
    index: AnyPath | None
    """An existing Anserini index with stored documents, to search in place of the collection's
    documents."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does: for collections
    whose topics are documents."""
    depth: int
    """Documents to retrieve per topic."""
    fusion: Literal["auto", "ranks", "scores", "combsum", "combmnz", "isr", "borda"]
    """How several retrievers are fused: by reciprocal ranks whose weights training topics choose
    (auto), or with equal weights by a method of `platform fuse`, such as ranks."""
    rerank_depth: int
    """Top documents of each retriever to rerank."""
    train_on: Names
    """Collections to train on; default: the collection's training partner. Several collections must
    have the same documents."""
    train_topics: int | None
    """Learn from N training topics, drawn at random by the seed; default: all."""
    checkpoint: AnyPath | None
    """A folder written by `platform train`."""
    members: int
    """Models per reranker, with different seeds, whose scores are averaged."""
    pretrain: str | None
    """Pre-train on MeSH headings as queries (mesh), on a collection with the same documents, or not
    (none). Default: mesh for rerankers made for it (graphene)."""
    pretrain_queries: int
    """MeSH-term queries to draw."""


class ExplainOptions(RerankerOptions, total=False):
    """Keywords of `irplatform.explain`."""

    interpolate: Share
    """Weight of the first stage in the final scores, from 0 (reranker alone) to 1 (first stage
    alone); auto chooses it on validation topics."""
    workers: Count
    """Processes that score topics, train members and read documents, or 'ray' for those of a Ray
    cluster; default: several where they surely pay."""


class RunOptions(ExplainOptions, total=False):
    """Keywords of `irplatform.run`."""

    topics: Names
    """Some topics, for a quick look. Such runs are marked, and have their own folder."""
    seeds: int
    """Number of training runs with different seeds; report mean and spread."""
    measures: Names
    """Measures, such as nDCG@20,AP; default: the collection's."""
    run_dir: AnyPath | None
    """Folder for the run files; default: runs/COLLECTION, for several collections or first stages
    runs/matrix."""
    written_depth: int | None
    """Results per topic in run files, which are what is scored; default: all that were ranked."""
    compress: bool
    """Write run files with gzip (NAME.run.gz), a quarter of the size; all commands read them."""
    tag: str | None
    """Run tag, the last column of run files; default: the system's name."""
    resume: bool
    """Resume an interrupted run (default)."""
    force: bool
    """Replace existing runs of the same name that were made with other settings or code."""


class TrainOptions(RetrieverOptions, total=False):
    """Keywords of `irplatform.train`."""

    preset: str | None
    """Named settings of rerankers, such as paper; your own settings take precedence."""
    first_stages: Systems[Retriever] | AnyPath | Sequence[AnyPath | AnySystem[Retriever]]
    """What is reranked: the results of a retriever (default: bm25), of several fused (bm25+rm3),
    exactly the judged documents (judged), those that an ir_datasets collection brings (scoreddocs),
    or a run file. `platform run` takes several."""
    index: AnyPath | None
    """An existing Anserini index with stored documents, to search in place of the collection's
    documents."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does: for collections
    whose topics are documents."""
    depth: int
    """Documents to retrieve per topic."""
    fusion: Literal["auto", "ranks", "scores", "combsum", "combmnz", "isr", "borda"]
    """How several retrievers are fused: by reciprocal ranks whose weights training topics choose
    (auto), or with equal weights by a method of `platform fuse`, such as ranks."""
    rerank_depth: int
    """Top documents of each retriever to rerank."""
    train_on: Names
    """Collections to train on; default: the collection's training partner. Several collections must
    have the same documents."""
    train_topics: int | None
    """Learn from N training topics, drawn at random by the seed; default: all."""
    members: int
    """Models per reranker, with different seeds, whose scores are averaged."""
    pretrain: str | None
    """Pre-train on MeSH headings as queries (mesh), on a collection with the same documents, or not
    (none). Default: mesh for rerankers made for it (graphene)."""
    pretrain_queries: int
    """MeSH-term queries to draw."""
    workers: Count
    """Processes that score topics, train members and read documents, or 'ray' for those of a Ray
    cluster; default: several where they surely pay."""


class TuneOptions(RetrieverOptions, total=False):
    """Keywords of `irplatform.tune`."""

    preset: str | None
    """Named settings of rerankers, such as paper; your own settings take precedence."""
    first_stages: Systems[Retriever] | AnyPath | Sequence[AnyPath | AnySystem[Retriever]]
    """What is reranked: the results of a retriever (default: bm25), of several fused (bm25+rm3),
    exactly the judged documents (judged), those that an ir_datasets collection brings (scoreddocs),
    or a run file. `platform run` takes several."""
    index: AnyPath | None
    """An existing Anserini index with stored documents, to search in place of the collection's
    documents."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does: for collections
    whose topics are documents."""
    depth: int
    """Documents to retrieve per topic."""
    fusion: Literal["auto", "ranks", "scores", "combsum", "combmnz", "isr", "borda"]
    """How several retrievers are fused: by reciprocal ranks whose weights training topics choose
    (auto), or with equal weights by a method of `platform fuse`, such as ranks."""
    rerank_depth: int
    """Top documents of each retriever to rerank."""
    interpolate: Share
    """Weight of the first stage in the final scores, from 0 (reranker alone) to 1 (first stage
    alone); auto chooses it on validation topics."""
    members: int
    """Models per reranker, with different seeds, whose scores are averaged."""
    measures: Names
    """Measures, such as nDCG@20,AP; default: the collection's."""
    resume: bool
    """Resume an interrupted run (default)."""
    workers: Count
    """Processes that score topics, train members and read documents, or 'ray' for those of a Ray
    cluster; default: several where they surely pay."""
