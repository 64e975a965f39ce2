"""A small dual encoder on word vectors: a reranker, and a retriever through an index of vectors."""

from irplatform.plugin import RegisterReranker, RegisterRetriever, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `dual-encoder`."""
    from irplatform_dual.reranker import DualEncoder

    register("dual-encoder", DualEncoder)


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `dual-encoder`."""
    from irplatform_dual.retriever import DualEncoderSearch

    register("dual-encoder", DualEncoderSearch)
