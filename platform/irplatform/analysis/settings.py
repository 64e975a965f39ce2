"""The settings of evaluations, comparisons and reports of runs, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.settings import OUTPUT, check_values, setting
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.topics import TopicFilter

JUDGMENTS = "Judgments and measures"
COMPARISON = "Comparison"
TOPICS = "Which topics count"
SHOWN = "What to show"
_ALL = "evaluate compare report"
_COMPARED = "compare report"
_SEEDS = 2**32 - 1


@dataclass(frozen=True)
class AnalysisSettings:
    """What an evaluation, comparison or report of runs can be told.

    In place of a file, `qrels` may be a mapping of topic to document to grade, a frame or records.

    Raises:
        InputError: a value is none of those that its setting takes.
    """

    collection: Any = setting(
        None,
        "The collection whose judgments to use; default: the one that the runs are of.",
        group=JUDGMENTS,
        takers=_ALL,
        names="collection",
        keyword="AnyCollection | None",
    )
    qrels: Path | None = setting(
        None,
        "A file of judgments to use instead: TREC (four columns), BEIR (three), sampled (five), "
        "JSON lines or BioASQ; or a pool that was judged.",
        group=JUDGMENTS,
        takers=_ALL,
        keyword="AnyQrels | None",
    )
    sources: str | None = setting(
        None,
        "Whose judgments of a pool, or of a file with sources, count: people (the default), "
        "people-first (machines' where no person judged), machines, or names of sources.",
        group=JUDGMENTS,
        takers=_ALL,
        metavar="WHO",
    )
    sampled_qrels: Path | None = setting(
        None,
        "A file of sampled judgments for infNDCG and infAP, with or without other judgments.",
        group=JUDGMENTS,
        takers=_ALL,
    )
    ignore_identical_ids: bool = setting(
        False,
        "Leave the document with a topic's own id out of its results, as BEIR does: for "
        "collections whose topics are documents.",
        group=JUDGMENTS,
        takers=_ALL,
    )
    measures: Sequence[str] = setting(
        (),
        "Measures, such as nDCG@20,AP; default: those that the runs were reported by, or the "
        "collection's.",
        group=JUDGMENTS,
        takers=_ALL,
        names="measure",
    )
    trec_eval: int = setting(
        10,
        "The trec_eval release to agree with. Release 9 rounds scores to 32 bits before ranking.",
        group=JUDGMENTS,
        takers="evaluate",
        least=9,
        most=10,
    )
    baseline: str | None = setting(
        None,
        "The run to compare with; default: the first, or that of a run's row in a matrix.",
        group=COMPARISON,
        takers=_COMPARED,
        metavar="NAME",
    )
    all_pairs: bool = setting(False, "Compare every two runs.", group=COMPARISON, takers=_COMPARED)
    test: Any = setting(
        "t-test",
        "The paired test over topics.",
        group=COMPARISON,
        takers=_COMPARED,
        choices=("t-test", "randomization", "wilcoxon", "bootstrap"),
    )
    correction: Any = setting(
        "holm",
        "The correction for the number of pairs, measure by measure.",
        group=COMPARISON,
        takers=_COMPARED,
        choices=("holm", "bonferroni", "benjamini-hochberg", "none"),
    )
    seed: int = setting(
        0,
        "Seed of randomization, bootstrap and rank intervals.",
        group=COMPARISON,
        takers=_COMPARED,
        least=0,
        most=_SEEDS,
    )
    different_documents: bool = setting(
        False,
        "Compare runs whose metadata record different documents, too.",
        group=COMPARISON,
        takers=_COMPARED,
    )
    among: str | None = setting(
        None,
        "Average only over topics with a relevant document in the first N results of this run "
        "file, such as runs/demo/bm25.run@1000.",
        group=TOPICS,
        takers=_ALL,
        metavar="RUN@N",
    )
    relevant: str | None = setting(
        None,
        "Average only over topics that share relevant documents with training topics (seen), or "
        "that share none (unseen).",
        group=TOPICS,
        takers=_ALL,
        choices=("seen", "unseen"),
    )
    topics: TopicFilter | None = setting(
        None, "Which of the judged topics count, in place of these two.", takers=_ALL
    )
    group_by: str | None = setting(
        None,
        "Also compare groups of topics by a field, such as disease, or by query-length.",
        group=SHOWN,
        takers=_COMPARED,
        metavar="FIELD",
    )
    bounds: bool | None = setting(
        None,
        "Show condensed lists, and bounds for unjudged and tied documents; or leave them out, "
        "which is quicker. By default sentences use them, for up to two million results.",
        group=SHOWN,
        takers=_COMPARED,
    )
    depth: int | None = setting(
        None,
        "Documents to show of each ranking; default: 100, fewer for many topics.",
        group=SHOWN,
        takers="report",
        least=1,
    )
    explain: bool = setting(
        True,
        "Show rerankers' explanations of their first documents, or not, which is quicker.",
        group=SHOWN,
        takers="report",
    )
    html: Path | None = setting(
        None,
        "The file to write; default: report.html, in the folder if one is given.",
        group=OUTPUT,
        takers="report",
    )
    plots: Path | None = setting(
        None, "A folder for the plots, as SVG, PDF and PNG.", group=OUTPUT, takers="report"
    )
    names: Sequence[str] = setting(
        (),
        "Names of the runs in tables, one per run in the same order; default: the file names.",
        group=OUTPUT,
        takers=_ALL,
        names="run",
        metavar="NAME,…",
    )
    title: str = setting(
        "", "The title; default: the collection's, and systems.", group=OUTPUT, takers="report"
    )
    force: bool = setting(
        False, "Replace a file of the same name that is no report.", group=OUTPUT, takers="report"
    )

    def __post_init__(self) -> None:
        from irplatform.experiment.arguments import as_names, as_path
        from irplatform.judging.formats import names_sources

        check_values(self)
        object.__setattr__(self, "measures", as_names(self.measures, "measures"))
        if self.sampled_qrels is not None:
            path = as_path(self.sampled_qrels, "sampled_qrels")
            object.__setattr__(self, "sampled_qrels", path)
        sourced = isinstance(self.qrels, Path | str) and names_sources(Path(self.qrels))
        if self.collection is not None and self.qrels is not None and not sourced:
            raise InputError(f"give either {option('collection')} or {option('qrels')}.")
        if self.sources is not None and not sourced:
            raise InputError(
                f"{option('sources')} needs judgments that name their sources: {option('qrels')} "
                "with a pool, or with JSON lines of its judgments."
            )
        if self.all_pairs and self.baseline:
            raise InputError(
                f"{option('all_pairs', True)} and {option('baseline')} exclude each other: leave "
                "out one of them."
            )

    @property
    def topic_filter(self) -> TopicFilter | None:
        """The choice of the topics that count; None for all."""
        if self.among is None and self.relevant is None:
            return self.topics
        from irplatform.evaluation.topics import TopicFilter, parse_among

        return TopicFilter(parse_among(self.among) if self.among else None, self.relevant)
