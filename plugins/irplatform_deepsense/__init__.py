"""DeepSenSe, the modified decomposable attention model of Lo et al. for sentence queries."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """DeepSenSe with side features, which is the default, and on words alone."""
    place = "irplatform_deepsense.reranker:DeepSenSe"
    register("deepsense", place)
    register("deepsense-words", place, lexical=(), signals=False)


@hookimpl
def register_results(register: RegisterFile) -> None:
    """Measured results and claims of the paper, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
    register(Path(__file__).with_name("results-claims.toml"))
