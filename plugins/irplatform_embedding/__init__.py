"""Retrieval by mean word vectors: candidates that share the meaning of a query, not its words."""

from irplatform.plugin import RegisterRetriever, hookimpl


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `embedding`."""
    from irplatform_embedding.retriever import Embedding

    register("embedding", Embedding)
