"""Retrievers and rankers that count words, in Lucene's index or in the documents."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, RegisterRetriever, hookimpl

_HERE = Path(__file__).parent


class Lucene:
    """The first-stage retrievers that come with the platform, by Lucene."""

    @hookimpl
    def register_retrievers(self, register: RegisterRetriever) -> None:
        register("bm25", "irplatform_lexical.retrievers:BM25Retriever")
        register("qld", "irplatform_lexical.retrievers:QLDRetriever")
        register("rm3", "irplatform_lexical.retrievers:RM3Retriever")
        register("mbm", "irplatform_lexical.retrievers:MBMRetriever")

    @hookimpl
    def register_results(self, register: RegisterFile) -> None:
        register(_HERE / "results-lucene.toml")
        register(_HERE / "results-official.toml")


class Baselines:
    """Untrained rankers that papers compare with, and `mbm`, which learns two numbers."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        register("revdocid", "irplatform_lexical.uninformed:ReverseDocumentId")
        register("random-order", "irplatform_lexical.uninformed:RandomOrder")
        register("bm25-title", "irplatform_lexical.counting:BM25", field="title")
        register("bm25-abstract", "irplatform_lexical.counting:BM25", field="abstract")
        register("bm25-text", "irplatform_lexical.counting:BM25")
        register("uqlm-title", "irplatform_lexical.counting:UQLM", field="title", mu="mean-length")
        register("uqlm-abstract", "irplatform_lexical.counting:UQLM", field="abstract")
        register("uqlm-text", "irplatform_lexical.counting:UQLM")
        register("dlh13", "irplatform_lexical.counting:DLH13")
        register("dlh13-title", "irplatform_lexical.counting:DLH13", field="title")
        register("dlh13-abstract", "irplatform_lexical.counting:DLH13", field="abstract")
        register("wmd-title", "irplatform_lexical.wmd:WMD", field="title")
        register("wmd-text", "irplatform_lexical.wmd:WMD")
        register("mbm", "irplatform_lexical.counting:MBM")

    @hookimpl
    def register_results(self, register: RegisterFile) -> None:
        register(_HERE / "results-baselines.toml")


lucene, baselines = Lucene(), Baselines()
