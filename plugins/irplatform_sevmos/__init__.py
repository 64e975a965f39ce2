"""SevMos: the model of Severyn and Moschitti (SIGIR 2015) as both Delta papers compare with it."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """One wide convolution or three narrow ones, with samples that count by their grade or not."""
    from irplatform_sevmos.reranker import SevMos

    register("sevmos-c1", SevMos, layers=1, width=5)
    register("sevmos-c1-w", SevMos, layers=1, width=5, weighted=True)
    register("sevmos-c3", SevMos)
    register("sevmos-c3-w", SevMos, weighted=True)
