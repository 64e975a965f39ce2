"""DeepMatch, the interaction-focused baseline of GRAPHENE (Zhao et al., CIKM 2019)."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The model at its defaults."""
    from irplatform_deepmatch.reranker import DeepMatch

    register("deepmatch", DeepMatch)
