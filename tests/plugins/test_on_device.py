"""Rerankers with documents in device memory, the CPU as the device: equal scores."""

import numpy as np
import pytest
import torch
from plain import ELSEWHERE, WORDS, plain_resources
from planted import planted_topics

from irplatform.plugin import Topic
from irplatform.text import ALL18, device_documents
from irplatform.text.device_documents import DeviceDocuments, Reading, on_device
from irplatform.training.neural import NeuralReranker
from irplatform_deepsense.options import PRESETS, DeepSenSeOptions
from irplatform_deepsense.reranker import DeepSenSe
from irplatform_delta.options import Delta2017Options, DeltaOptions, SevMosOptions
from irplatform_delta.reranker import Delta, Delta2017, SevMos
from irplatform_drmm.options import DrmmOptions
from irplatform_drmm.reranker import Drmm
from irplatform_encoders.dual_ranking import DualEncoder
from irplatform_encoders.options import DualOptions
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reranker import Graphene
from irplatform_lexical.wmd import WMD, WMDOptions

NO_FIELDS = {"numbers": (), "categories": ()}
NO_GRAPH = {"graph": False, "expansion": False}
RERANKERS = {
    "delta": (Delta, DeltaOptions(lexical=ALL18, document_words=9, filters=6)),
    "delta-long": (Delta, DeltaOptions(document_words=300, filters=6)),
    "delta-without-features": (Delta, DeltaOptions(lexical=(), document_words=9, filters=6)),
    "sevmos": (SevMos, SevMosOptions(document_words=9, filters=6)),
    "sevmos-computed": (SevMos, SevMosOptions(document_words=9, filters=6, stored_documents=0)),
    "dual-encoder": (DualEncoder, DualOptions()),
    "dual-encoder-computed": (DualEncoder, DualOptions(stored_documents=0)),
    "deepsense": (DeepSenSe, DeepSenSeOptions(**NO_FIELDS)),
    "deepsense-cut": (DeepSenSe, DeepSenSeOptions(title_words=2, abstract_words=3, **NO_FIELDS)),
    "deepsense-program": (DeepSenSe, DeepSenSeOptions(**PRESETS["program"], **NO_FIELDS)),
    "drmm": (Drmm, DrmmOptions(stemmer="none", document_words=9)),
    "drmm-tv": (Drmm, DrmmOptions(stemmer="none", gate="vectors", bins=5)),
    "graphene": (Graphene, GrapheneOptions(document_words=9, **NO_GRAPH)),
    "delta-2017": (Delta2017, Delta2017Options(document_words=9, filters=6)),
}
QUERIES = [
    " ".join(WORDS[3:7]),
    f"{WORDS[2]} {WORDS[2]} {ELSEWHERE}",
    f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    f"{WORDS[31]} {WORDS[32]}",
    "absent missing",
    "",
]
WHOLE, BLOCKS = 10**9, 20_000
"""Budgets: the collection fits, or some documents do."""


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"), long=" ".join(WORDS * 2))


def _scores(resources, kind, options, batch):
    torch.manual_seed(1)
    reranker = kind(options)
    reranker.prepare(resources)
    if isinstance(reranker, NeuralReranker):
        reranker.weights_changed()
    return reranker.score_batch(batch)


def _check(resources, kind, options, batch, budget, monkeypatch):
    expected = _scores(resources, kind, options, batch)
    on_device.cache_clear()
    with monkeypatch.context() as changed:
        changed.setattr(device_documents, "_share_of_memory", lambda _device: budget)
        scores = _scores(resources, kind, options, batch)
    on_device.cache_clear()
    assert list(map(len, scores)) == [len(documents) for _, documents in batch]
    for values, reference in zip(scores, expected, strict=True):
        np.testing.assert_allclose(values, reference, atol=1e-5)
    return expected


@pytest.mark.parametrize(
    ("queries", "budget"),
    [(QUERIES, WHOLE), (QUERIES, BLOCKS), (QUERIES[:1], WHOLE), (QUERIES[-2:], 1)],
    ids=["all", "blocks", "one", "none"],
)
@pytest.mark.parametrize("name", RERANKERS)
def test_scores_are_those_of_the_cpu(resources, monkeypatch, name, budget, queries):
    ids = list(resources.texts)
    batch = [
        (Topic(f"t{n}", query), resources.documents(ids[n:] + ids[: 3 * n]))
        for n, query in enumerate(queries)
    ]
    batch.insert(2, (Topic("nothing", QUERIES[0]), resources.documents([])))
    scores = _check(resources, *RERANKERS[name], batch, budget, monkeypatch)
    assert len(set(scores[0])) > 1 or queries[0] == QUERIES[-2]


@pytest.mark.parametrize("budget", [WHOLE, BLOCKS])
def test_graphene_rewards_concepts_as_on_the_cpu(planted_graph, monkeypatch, budget):
    options = GrapheneOptions(document_words=12, graph_width=8, vector=16, filters=8, hidden=8)
    batch = [
        (topic.topic, planted_graph.documents(topic.candidates))
        for topic in planted_topics(range(5))
    ]
    scores = _check(planted_graph, Graphene, options, batch, budget, monkeypatch)
    assert all(len(set(of_topic)) > 1 for of_topic in scores)


@pytest.mark.parametrize("field", ["title", "abstract", "text"])
@pytest.mark.parametrize("stop_words", [True, False])
def test_relaxed_word_movers_distances_are_those_of_the_cpu(resources, field, stop_words):
    options = WMDOptions(form="relaxed", field=field, stop_words=stop_words, unit_vectors=True)
    reranker = WMD(options)
    reranker.prepare(resources)
    batch = [
        (Topic(f"t{n}", query), resources.documents(list(resources.texts)))
        for n, query in enumerate([*QUERIES, f"the {WORDS[4]}"])
    ]
    space = reranker.space_on("cpu")
    for budget in (WHOLE, BLOCKS):
        values = DeviceDocuments(resources.index, "cpu", budget).score(
            batch, Reading(reranker.query), lambda candidates: space.scores(candidates, field)
        )
        expected = [reranker.score(topic, documents) for topic, documents in batch]
        np.testing.assert_allclose(values, expected, atol=1e-9)
