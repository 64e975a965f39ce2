"""GRAPHENE, the graph-augmented retrieval model of Zhao, Su, Sboner and Wang (CIKM 2019)."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The published model, without its graph or its reward, and with features of ours."""
    from irplatform_graphene.options import FEATURES
    from irplatform_graphene.reranker import Graphene

    register("graphene", Graphene)
    register("graphene-nofeatures", Graphene)  # its name before 0.1, for one release
    register("graphene-features", Graphene, features=FEATURES)
    register("graphene-nograph", Graphene, graph=False)
    register("graphene-noreward", Graphene, reward=1.0)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
