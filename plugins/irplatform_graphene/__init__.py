"""GRAPHENE, the graph-augmented retrieval model of Zhao, Su, Sboner and Wang (CIKM 2019)."""

from irplatform.plugin import RegisterReranker, hookimpl


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """GRAPHENE; with features; without its graph or its reward (the paper's ablations)."""
    from irplatform_graphene.options import FEATURES, FEATURES_LOOP
    from irplatform_graphene.reranker import Graphene

    register("graphene", Graphene)
    register(
        "graphene-features",
        Graphene,
        features=FEATURES,
        loop=FEATURES_LOOP,
    )
    register("graphene-nograph", Graphene, graph=False)
    register("graphene-noreward", Graphene, reward=1.0)
