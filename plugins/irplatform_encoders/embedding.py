"""Retrieval by mean word vectors: candidates that share the meaning of a query, not its words."""

from pathlib import Path

from irplatform.plugin import RegisterResults, RegisterRetriever, hookimpl


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `embedding`."""
    from irplatform_encoders.embedding_retriever import Embedding

    register("embedding", Embedding)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-embedding.toml"))
