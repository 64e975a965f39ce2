"""Encoders of queries and documents: transformers, and models on word vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from irplatform.plugin import RegisterReranker, RegisterRetriever


class BiEncoder:
    """Transformers that make vectors of queries and documents; the user brings one."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        register("bi-encoder", "irplatform_encoders.biencoder:BiEncoder")

    @hookimpl
    def register_retrievers(self, register: RegisterRetriever) -> None:
        register("bi-encoder", "irplatform_encoders.biencoder:BiEncoderSearch")


class CrossEncoder:
    """Transformers that read query and document together; the user brings one."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        """A model as it is, `cross-encoder`, and one that is fine-tuned, `vanilla-bert`."""
        register("cross-encoder", "irplatform_encoders.crossencoder_reranker:CrossEncoder")
        register("vanilla-bert", "irplatform_encoders.crossencoder_reranker:VanillaBert")


class SparseEncoder:
    """Transformers that weigh words for queries and documents; the user brings one."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        register("sparse-encoder", "irplatform_encoders.sparse.reranker:SparseEncoder")

    @hookimpl
    def register_retrievers(self, register: RegisterRetriever) -> None:
        register("sparse-encoder", "irplatform_encoders.sparse.search:SparseEncoderSearch")


class DualEncoder:
    """A small dual encoder on word vectors: a reranker, and a retriever through stored vectors."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        register("dual-encoder", "irplatform_encoders.dual_ranking:DualEncoder")

    @hookimpl
    def register_retrievers(self, register: RegisterRetriever) -> None:
        register("dual-encoder", "irplatform_encoders.dual_ranking:DualEncoderSearch")


class Embedding:
    """Retrieval by mean word vectors: candidates that share a query's meaning, not its words."""

    @hookimpl
    def register_retrievers(self, register: RegisterRetriever) -> None:
        register("embedding", "irplatform_encoders.embedding_retriever:Embedding")


class MultiVector:
    """Transformers that make a vector of each word (ColBERT); the user brings one."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        register("multi-vector", "irplatform_encoders.multi_vector.reranker:MultiVector")


# Not named like modules of this package: importing those would replace them.
bi_encoder, cross_encoder, dual, embedding = BiEncoder(), CrossEncoder(), DualEncoder(), Embedding()
sparse_encoder, late_interaction = SparseEncoder(), MultiVector()
