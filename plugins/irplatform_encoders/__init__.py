"""Bi-encoders: transformers that make vectors of queries and documents; the user brings one."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, RegisterRetriever, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `bi-encoder`."""
    from irplatform_encoders.biencoder import BiEncoder

    register("bi-encoder", BiEncoder)


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `bi-encoder`."""
    from irplatform_encoders.biencoder import BiEncoderSearch

    register("bi-encoder", BiEncoderSearch)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-biencoder.toml"))
