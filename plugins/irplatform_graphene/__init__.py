"""GRAPHENE, the graph-augmented retrieval model of Zhao, Su, Sboner and Wang (CIKM 2019)."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, hookimpl

_FEATURES = ("query-parts", "concepts", "genes", "demographics", "treatment")
"""The groups that `graphene-features` reads in its last layer: how well an article answers the
parts of an expanded query.

None applies where no training topic has a disease, a gene, a treatment, an age or a sex: there
`graphene-features` is `graphene`.
"""


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The published model, without its graph or its reward, and with features of ours."""
    place = "irplatform_graphene.reranker:Graphene"
    register("graphene", place)
    register("graphene-features", place, features=_FEATURES)
    register("graphene-nograph", place, graph=False)
    register("graphene-noreward", place, reward=1.0)


@hookimpl
def register_results(register: RegisterFile) -> None:
    """Measured results and claims of the paper, for `platform reproduce`."""
    for file in sorted(Path(__file__).with_name("results").glob("*.toml")):
        register(file)
