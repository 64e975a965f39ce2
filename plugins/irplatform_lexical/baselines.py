"""Untrained rankers that papers compare themselves with, and `mbm`, which learns two numbers."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Every baseline, one name for each field that it can read."""
    from irplatform_lexical.counting import BM25, DLH13, MBM, UQLM, ReverseDocumentId
    from irplatform_lexical.wmd import WMD

    register("revdocid", ReverseDocumentId)
    register("bm25-title", BM25, field="title")
    register("bm25-abstract", BM25, field="abstract")
    register("bm25-text", BM25)
    register("uqlm-title", UQLM, field="title", mu="mean-length")
    register("uqlm-abstract", UQLM, field="abstract")
    register("uqlm-text", UQLM)
    register("dlh13", DLH13)
    register("dlh13-title", DLH13, field="title")
    register("dlh13-abstract", DLH13, field="abstract")
    register("wmd-title", WMD, field="title")
    register("wmd-text", WMD)
    register("mbm", MBM)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-baselines.toml"))
