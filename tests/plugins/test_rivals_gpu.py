"""Scores on a GPU are those on the CPU, for the models that earlier work compares with."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import planted_data, planted_resources, planted_topics, scores

from irplatform_deepmatch.reranker import DeepMatch
from irplatform_delta2017.reranker import Delta2017
from irplatform_drmm.reranker import Drmm
from irplatform_sevmos.reranker import SevMos

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

MODELS = {
    "delta-2017": (Delta2017, {"filters": 16}),
    "sevmos-c1": (SevMos, {"filters": 16, "layers": 1, "width": 5}),
    "sevmos-c3": (SevMos, {"filters": 16, "stored_documents": 0}),
    "drmm": (Drmm, {"stemmer": "none"}),
    "drmm-tv": (Drmm, {"stemmer": "none", "gate": "vectors"}),
    "deepmatch": (DeepMatch, {}),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize(("reranker", "options"), MODELS.values(), ids=MODELS)
def test_a_gpu_scores_as_the_cpu_does(planted, tmp_path, monkeypatch, reranker, options):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    made = {}
    for device in ("cuda", "cpu"):
        options_ = reranker.Options.model_validate({**options, "loop": {"epochs": 1}})
        made[device] = reranker(options_)
        made[device].prepare(replace(planted, device=device))
    made["cuda"].fit(planted_data(tmp_path / "work"))
    made["cuda"].save(tmp_path)
    made["cpu"].load(tmp_path)
    for topic in planted_topics([82, 83, 84]):
        found = {device: scores(model, planted, topic) for device, model in made.items()}
        assert np.allclose(found["cuda"], found["cpu"], atol=1e-4)
