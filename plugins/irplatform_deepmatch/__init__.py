"""DeepMatch, the interaction-focused baseline of GRAPHENE (Zhao et al., CIKM 2019)."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The model at its defaults."""
    register("deepmatch", "irplatform_deepmatch.reranker:DeepMatch")


@hookimpl
def register_results(register: RegisterFile) -> None:
    """Measured results, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
