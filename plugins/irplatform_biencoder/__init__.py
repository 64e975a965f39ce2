"""Bi-encoders: transformers that make vectors of queries and documents; the user brings one."""

from irplatform.plugin import RegisterReranker, RegisterRetriever, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `bi-encoder`."""
    from irplatform_biencoder.reranker import BiEncoder

    register("bi-encoder", BiEncoder)


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `bi-encoder`."""
    from irplatform_biencoder.retriever import BiEncoderSearch

    register("bi-encoder", BiEncoderSearch)
