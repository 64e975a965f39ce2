"""DRMM, the deep relevance matching model of Guo, Fan, Ai and Croft (CIKM 2016)."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """With a gate over the IDF of query terms, and with one over their vectors."""
    from irplatform_drmm.reranker import Drmm

    register("drmm", Drmm)
    register("drmm-tv", Drmm, gate="vectors")
