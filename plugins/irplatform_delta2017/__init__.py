"""The Delta relevance classifier of Mohan, Fiorini, Kim and Lu (BioNLP 2017)."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The classifier as it is, and trained on samples that count by their grade."""
    from irplatform_delta2017.reranker import Delta2017

    register("delta-2017", Delta2017)
    register("delta-2017-w", Delta2017, weighted=True)
