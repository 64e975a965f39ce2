"""Cross-encoders: transformers that read query and document together; the user brings one."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `cross-encoder`."""
    from irplatform_crossencoder.reranker import CrossEncoder

    register("cross-encoder", CrossEncoder)
