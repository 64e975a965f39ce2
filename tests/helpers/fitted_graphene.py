"""GRAPHENE, prepared and fitted to planted topics."""

from planted import planted_data

from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reranker import Graphene

SMALL = {
    "projection": 8,
    "hidden": 8,
    "graph_width": 8,
    "vector": 16,
    "filters": 8,
    "document_words": 12,
    "decoder": {"vocabulary": 50, "hidden": 8},
    "loop": {
        "optimizer": "adam", "learning_rate": 0.01, "batch_size": 64, "epochs": 4, "patience": 4
    },
}  # fmt: skip


def prepare_graphene(resources, **changed):
    reranker = Graphene(GrapheneOptions.model_validate({**SMALL, **changed}))
    reranker.prepare(resources)
    return reranker


def fit_graphene(resources, workspace, **changed):
    reranker = prepare_graphene(resources, **changed)
    reranker.fit(planted_data(workspace))
    return reranker
