"""SevMos: the model of Severyn and Moschitti (SIGIR 2015) as both Delta papers compare with it."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """One wide convolution or three narrow ones, with samples that count by their grade or not."""
    from irplatform_delta.reranker import SevMos

    register("sevmos-c1", SevMos, layers=1, width=5)
    register("sevmos-c1-w", SevMos, layers=1, width=5, weighted=True)
    register("sevmos-c3", SevMos)
    register("sevmos-c3-w", SevMos, weighted=True)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-sevmos.toml"))
