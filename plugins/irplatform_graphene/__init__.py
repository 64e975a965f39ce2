"""GRAPHENE, the graph-augmented retrieval model of Zhao, Su, Sboner and Wang (CIKM 2019)."""

from pathlib import Path

from irplatform.plugin import RegisterReranker, RegisterResults, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """GRAPHENE with features; the paper's model; that without its graph or its reward."""
    from irplatform_graphene.options import FEATURES
    from irplatform_graphene.reranker import Graphene

    register("graphene", Graphene, features=FEATURES)
    register("graphene-nofeatures", Graphene)
    register("graphene-nograph", Graphene, graph=False)
    register("graphene-noreward", Graphene, reward=1.0)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results.toml"))
