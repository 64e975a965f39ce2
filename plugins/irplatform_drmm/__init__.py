"""DRMM, the deep relevance matching model of Guo, Fan, Ai and Croft (CIKM 2016)."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """With a gate over the IDF of query terms, and with one over their vectors."""
    register("drmm", "irplatform_drmm.reranker:Drmm")
    register("drmm-tv", "irplatform_drmm.reranker:Drmm", gate="vectors")


@hookimpl
def register_results(register: RegisterFile) -> None:
    """Measured results, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
