"""A small GRAPHENE model with random weights."""

import torch

from irplatform_graphene.model import Model
from irplatform_graphene.options import GrapheneOptions

SMALL = {"projection": 5, "hidden": 4, "graph_width": 6, "vector": 7, "filters": 5}


def small_model(resources, **changed):
    model = Model(resources, GrapheneOptions.model_validate({**SMALL, **changed}))
    with torch.no_grad():
        for name, weight in model.network.named_parameters():
            if name != "scale":
                weight.copy_(torch.randn(weight.shape) * 0.3)
    model.changed()
    return model
