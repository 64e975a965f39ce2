"""Cross-encoders: transformers that read query and document together; the user brings one."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """A model as it is, `cross-encoder`, and one that is fine-tuned, `vanilla-bert`."""
    from irplatform_encoders.crossencoder_reranker import CrossEncoder, VanillaBert

    register("cross-encoder", CrossEncoder)
    register("vanilla-bert", VanillaBert)
