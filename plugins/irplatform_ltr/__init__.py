"""Learning to rank from features: `lexical`, `ltr`, and the groups of features that they read."""

from pathlib import Path

from irplatform.plugin import RegisterFeatures, RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Over the 18 lexical features alone, and over any groups of features."""
    from irplatform_ltr.reranker import LearningToRank

    register("lexical", LearningToRank, features=("lexical",), learner="trees")
    register("ltr", LearningToRank)


@hookimpl
def register_features(register: RegisterFeatures) -> None:
    """Features of words, embeddings, first stages, knowledge bases, documents, memory, stacking."""
    from irplatform_ltr.groups.concepts import Concepts, Evidence, Genes
    from irplatform_ltr.groups.document import DocumentProperties
    from irplatform_ltr.groups.first_stage import FirstStage, QueryParts
    from irplatform_ltr.groups.memory import CitingText
    from irplatform_ltr.groups.people import Demographics, Treatment
    from irplatform_ltr.groups.stacking import Checkpoints, Stacked
    from irplatform_ltr.groups.words import (
        EmbeddingSimilarities,
        LexicalMatches,
        LuceneFields,
        StemmedMatches,
    )

    register("lexical", LexicalMatches)
    register("stems", StemmedMatches)
    register("fields", LuceneFields)
    register("embedding", EmbeddingSimilarities)
    register("first-stage", FirstStage)
    register("query-parts", QueryParts)
    register("concepts", Concepts)
    register("genes", Genes)
    register("evidence", Evidence)
    register("demographics", Demographics)
    register("treatment", Treatment)
    register("document", DocumentProperties)
    register("memory", CitingText)
    register("stack", Stacked)
    register("checkpoints", Checkpoints)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
