"""The first-stage retrievers that come with the platform: `bm25`, `qld` and `rm3`, by Lucene."""

from irplatform.plugin import RegisterRetriever, hookimpl
from irplatform_lucene.retrievers import BM25Retriever, QLDRetriever, RM3Retriever


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """Register the retrievers."""
    register("bm25", BM25Retriever)
    register("qld", QLDRetriever)
    register("rm3", RM3Retriever)
