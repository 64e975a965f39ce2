"""DeepSenSe, the modified decomposable attention model of Lo et al. for sentence queries."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """DeepSenSe with side features, which is the default, and on words alone."""
    from irplatform_deepsense.reranker import DeepSenSe

    register("deepsense", DeepSenSe)
    register("deepsense-words", DeepSenSe, lexical=(), signals=False)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
