"""The settings of a run, each declared once: `irplatform.settings` says what comes of it.

This module imports nothing heavy: the command line makes its options from it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from irplatform.runs.fusion import fusion_methods
from irplatform.settings import (
    FIRST_STAGE,
    LEARNING,
    MACHINE,
    OUTPUT,
    RERANKING,
    WHAT,
    setting,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.workers.distribution import Count

MESH_QUERIES = 10_000
"""MeSH-term queries that are drawn for pre-training, by default."""
USUAL_STAGES = ("bm25",)
_RANKING = "run explain train tune reranker"
_ALL = f"{_RANKING} retriever serve"


@dataclass(frozen=True)
class DeclaredSettings:
    """The settings of a run as they are declared; `RunSettings` checks them."""

    collection: str = setting("", "A name, a path or an ir_datasets id.", names="collection")
    _: KW_ONLY
    collections: Sequence[str] = setting(
        (),
        "A name, a path or an ir_datasets id. Several stand in one table.",
        group=WHAT,
        takers="run",
        names="collection",
    )
    rerankers: Sequence[str] = setting(
        (),
        "Rerankers to apply; several are compared. LABEL=NAME gives one a label, so that it can "
        "come twice, each with settings under its label. Without any, the first stage is the "
        "result.",
        group=WHAT,
        takers="run",
        names="reranker",
    )
    topics: Sequence[str] = setting(
        (),
        "Some topics, for a quick look. Such runs are marked, and have their own folder.",
        group=WHAT,
        takers="run",
        names="topic",
        metavar="ID,…|first:N",
    )
    settings: Mapping[str, object] = setting(
        {},
        "Set an option of a retriever or reranker (see `rerankers show`); repeat for several.",
        group=WHAT,
        takers=_ALL,
        metavar="NAME=VALUE",
        keyword="Mapping[str, object] | None",
    )
    config: Path | None = setting(
        None,
        "A TOML file of such settings; single ones take precedence.",
        group=WHAT,
        takers=_ALL,
    )
    preset: str | None = setting(
        None,
        "Named settings of rerankers, such as paper; your own settings take precedence.",
        group=WHAT,
        takers="run explain train tune reranker serve",
        names="preset",
    )
    first_stages: Sequence[str] = setting(
        USUAL_STAGES,
        "What is reranked: the results of a retriever (default: bm25), of several fused "
        "(bm25+rm3), exactly the judged documents (judged), those that an ir_datasets collection "
        "brings (scoreddocs), or a run file. `platform run` takes several.",
        group=FIRST_STAGE,
        takers=_RANKING,
        names="stage",
        metavar="NAME[+NAME…]|judged|scoreddocs|RUN,…",
        keyword="Systems[Retriever] | AnyPath | Sequence[AnyPath | AnySystem[Retriever]]",
    )
    index: Path | None = setting(
        None,
        "An existing Anserini index with stored documents, to search in place of the collection's "
        "documents.",
        group=FIRST_STAGE,
        takers=_RANKING,
    )
    ignore_identical_ids: bool = setting(
        False,
        "Leave the document with a topic's own id out of its results, as BEIR does: for "
        "collections whose topics are documents.",
        group=FIRST_STAGE,
        takers=f"{_RANKING} search evaluate compare report",
    )
    depth: int = setting(
        1000, "Documents to retrieve per topic.", group=FIRST_STAGE, takers=_RANKING, least=1
    )
    expand: Sequence[str] = setting(
        (),
        "Expand queries with these knowledge bases, such as mesh,doid,hgnc, or none. Default: only "
        "for rerankers made for it (graphene).",
        group=FIRST_STAGE,
        takers=f"{_RANKING} retriever serve search",
        names="kb",
    )
    query_plan: Path | None = setting(
        None,
        "A TOML file with the weights of expanded queries.",
        group=FIRST_STAGE,
        takers=f"{_RANKING} retriever serve search",
    )
    fusion: str = setting(
        "auto",
        "How several retrievers are fused: by reciprocal ranks whose weights training topics "
        "choose (auto), or with equal weights by a method of `platform fuse`, such as ranks.",
        group=FIRST_STAGE,
        takers=_RANKING,
        choices=("auto", *fusion_methods()),
        metavar="auto|METHOD",
    )
    rerank_depth: int = setting(
        500,
        "Top documents of each retriever to rerank.",
        group=RERANKING,
        takers=_RANKING,
        least=1,
    )
    interpolate: float | None = setting(
        None,
        "Weight of the first stage in the final scores, from 0 (reranker alone) to 1 (first stage "
        "alone); auto chooses it on validation topics.",
        group=RERANKING,
        takers="run explain tune",
        words=("auto",),
        metavar="W",
        default_text="auto",
        keyword="Share",
    )
    train_on: Sequence[str] = setting(
        (),
        "Collections to train on; default: the collection's training partner. Several collections "
        "must have the same documents.",
        group=LEARNING,
        takers="run explain train reranker",
        names="collection",
    )
    train_topics: int | None = setting(
        None,
        "Learn from N training topics, drawn at random by the seed; default: all.",
        group=LEARNING,
        takers="run explain train reranker",
        least=1,
        metavar="N",
    )
    checkpoint: Path | None = setting(
        None,
        "A folder written by `platform train`.",
        group=LEARNING,
        takers="run explain reranker",
    )
    members: int = setting(
        5,
        "Models per reranker, with different seeds, whose scores are averaged.",
        group=LEARNING,
        takers=_RANKING,
        least=1,
    )
    seed: int = setting(
        42,
        "Random seed.",
        group=LEARNING,
        takers=f"{_RANKING} retriever",
        least=0,
        most=2**32 - 1,
    )
    vectors: Path | None = setting(
        None,
        "A file of published word vectors (word2vec, GloVe, fastText).",
        group=LEARNING,
        takers=f"{_RANKING} retriever",
    )
    vectors_text: Sequence[Path] = setting(
        (),
        "A further text file to train word vectors on (.txt, .jsonl, .tsv, also .gz); repeatable.",
        group=LEARNING,
        takers=f"{_RANKING} retriever",
    )
    pretrain: str | None = setting(
        None,
        "Pre-train on MeSH headings as queries (mesh), on a collection with the same documents, or "
        "not (none). Default: mesh for rerankers made for it (graphene).",
        group=LEARNING,
        takers="run explain train reranker",
        names="pretraining",
        metavar="mesh|COLLECTION|none",
    )
    pretrain_queries: int = setting(
        MESH_QUERIES,
        "MeSH-term queries to draw.",
        group=LEARNING,
        takers="run explain train reranker",
        least=10,
    )
    seeds: int = setting(
        1,
        "Number of training runs with different seeds; report mean and spread.",
        group=LEARNING,
        takers="run",
        least=1,
    )
    measures: Sequence[str] = setting(
        (),
        "Measures, such as nDCG@20,AP; default: the collection's.",
        group=OUTPUT,
        takers="run tune",
        names="measure",
    )
    run_dir: Path | None = setting(
        None,
        "Folder for the run files; default: runs/COLLECTION, for several collections or first "
        "stages runs/matrix.",
        group=OUTPUT,
        takers="run",
        recorded=False,
    )
    written_depth: int | None = setting(
        None,
        "Results per topic in run files, which are what is scored; default: all that were ranked.",
        group=OUTPUT,
        takers="run",
        least=1,
        metavar="N",
    )
    compress: bool = setting(
        False,
        "Write run files with gzip (NAME.run.gz), a quarter of the size; all commands read them.",
        group=OUTPUT,
        takers="run",
    )
    tag: str | None = setting(
        None,
        "Run tag, the last column of run files; default: the system's name.",
        group=OUTPUT,
        takers="run",
    )
    resume: bool = setting(
        True,
        "Resume an interrupted run (default).",
        group=OUTPUT,
        takers="run tune",
        recorded=False,
    )
    force: bool = setting(
        False,
        "Replace existing runs of the same name that were made with other settings or code.",
        group=OUTPUT,
        takers="run",
        recorded=False,
    )
    device: str = setting(
        "auto",
        "Device for models: auto, cpu, cuda or mps.",
        group=MACHINE,
        takers=_ALL,
        names="device",
        keyword="Device",
    )
    threads: int | None = setting(
        None,
        "Threads for indexing, searching, reading, tokenizing and transformers on the CPU; "
        "default: all cores.",
        group=MACHINE,
        takers=_ALL,
        least=1,
        recorded=False,
    )
    model_threads: int = setting(
        1,
        "CPU threads of torch; another number trains other weights.",
        group=MACHINE,
        takers=_ALL,
        least=1,
    )
    workers: Count = setting(
        None,
        "Processes that score topics, train members and read documents, or 'ray' for those of a "
        "Ray cluster; default: several where they surely pay.",
        group=MACHINE,
        takers="run explain train tune serve",
        words=("ray",),
        least=1,
        metavar="N|ray",
        keyword="Count",
        recorded=False,
    )
    command: Sequence[str] = setting(
        (), "How the run was asked for, for its metadata.", recorded=False
    )
    experiment: Path | None = setting(
        None, "The TOML file that says most of it, which errors name.", recorded=False
    )


@dataclass(frozen=True)
class ShownSettings:
    """What is shown of the runs of an experiment."""

    compare: bool = setting(
        False,
        "Also compare with the first stage (without rerankers: with the first retriever), as "
        "`platform compare` does.",
        group=OUTPUT,
        takers="run",
    )
    html: Path | None = setting(
        None,
        "Also write the comparison to one HTML file, as `platform report` does.",
        group=OUTPUT,
        takers="run",
    )
