"""The first-stage retrievers that come with the platform: `bm25`, `qld` and `rm3`, by Lucene."""

from pathlib import Path

from irplatform.plugin import RegisterResults, RegisterRetriever, hookimpl
from irplatform_lexical.retrievers import BM25Retriever, QLDRetriever, RM3Retriever


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """Register the retrievers."""
    register("bm25", BM25Retriever)
    register("qld", QLDRetriever)
    register("rm3", RM3Retriever)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-lucene.toml"))
