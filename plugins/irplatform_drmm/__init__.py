"""DRMM, the deep relevance matching model of Guo, Fan, Ai and Croft (CIKM 2016)."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """With a gate over the IDF of query terms, and with one over their vectors."""
    from irplatform_drmm.reranker import Drmm

    register("drmm", Drmm)
    register("drmm-tv", Drmm, gate="vectors")


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
