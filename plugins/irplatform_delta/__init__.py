"""Delta, the relevance model of Mohan, Fiorini, Kim and Lu (WWW 2018)."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Delta-32-Lex3, which is the default, and its variants without some or all features."""
    from irplatform_delta.reranker import Delta

    register("delta", Delta)
    register("delta-32-lex3", Delta)
    register("delta-32", Delta, lexical=())
    register("delta-no-difference", Delta, lexical=(), difference=False)
    register("delta-no-features", Delta, lexical=(), delta_features=False)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
