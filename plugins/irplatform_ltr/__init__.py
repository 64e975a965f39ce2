"""Learning to rank from features: `lexical`, `ltr`, and the groups of features that they read."""

from pathlib import Path

from irplatform.plugin import RegisterFeatures, RegisterFile, RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Over the 18 lexical features alone, and over any groups of features."""
    register(
        "lexical", "irplatform_ltr.reranker:LearningToRank", features=("lexical",), learner="trees"
    )
    register("ltr", "irplatform_ltr.reranker:LearningToRank")


@hookimpl
def register_features(register: RegisterFeatures) -> None:
    """Features of words, embeddings, first stages, knowledge bases, documents, memory, stacking."""
    register("lexical", "irplatform_ltr.groups.words:LexicalMatches")
    register("stems", "irplatform_ltr.groups.words:StemmedMatches")
    register("fields", "irplatform_ltr.groups.words:LuceneFields")
    register("embedding", "irplatform_ltr.groups.words:EmbeddingSimilarities")
    register("first-stage", "irplatform_ltr.groups.first_stage:FirstStage")
    register("query-parts", "irplatform_ltr.groups.first_stage:QueryParts")
    register("concepts", "irplatform_ltr.groups.concepts:Concepts")
    register("genes", "irplatform_ltr.groups.concepts:Genes")
    register("evidence", "irplatform_ltr.groups.concepts:Evidence")
    register("demographics", "irplatform_ltr.groups.document:Demographics")
    register("treatment", "irplatform_ltr.groups.first_stage:Treatment")
    register("document", "irplatform_ltr.groups.document:DocumentProperties")
    register("memory", "irplatform_ltr.groups.memory:CitingText")
    register("stack", "irplatform_ltr.groups.stacking:Stacked")
    register("checkpoints", "irplatform_ltr.groups.stacking:Checkpoints")


@hookimpl
def register_results(register: RegisterFile) -> None:
    """Measured results, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
