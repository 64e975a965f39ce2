"""The Delta relevance classifier of Mohan, Fiorini, Kim and Lu (BioNLP 2017)."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The classifier as it is, and trained on samples that count by their grade."""
    from irplatform_delta.reranker import Delta2017

    register("delta-2017", Delta2017)
    register("delta-2017-w", Delta2017, weighted=True)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-delta2017.toml"))
