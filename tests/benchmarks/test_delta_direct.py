"""The peer of `delta_rerank` computes Delta: else it would be another model that is slower."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small import small_resources, words

from irplatform.plugin import Documents, Topic
from irplatform_delta.closest_words import Encoder
from irplatform_delta.network import DeltaNetwork, Sizes
from irplatform_delta.options import DeltaOptions

DIMENSIONS = 12
OPTIONS = DeltaOptions(filters=6, hidden=5, document_words=9)
WORDS = words(40)
QUERIES = [
    " ".join(WORDS[3:7]),
    f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",  # two of them have no vector
    f"{WORDS[31]} absent",  # neither has one
    "",
]


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(3)
    texts = {f"d{n}": " ".join(random.choice(WORDS, random.integers(1, 20))) for n in range(30)}
    texts |= {"empty": "", "unknown": " ".join(WORDS[25:35])}
    vectors = {word: random.normal(size=DIMENSIONS) for word in WORDS[:25]}
    return small_resources(tmp_path_factory.mktemp("forward"), texts, vectors)


@pytest.mark.parametrize("query", QUERIES)
def test_the_direct_form_scores_as_the_plugin_does(resources, query):
    from delta_rerank import direct_form, direct_input

    torch.manual_seed(7)
    lexical = len(OPTIONS.lexical)
    sizes = Sizes(DIMENSIONS, lexical, OPTIONS.filters, 3, OPTIONS.hidden, True, True)
    network = DeltaNetwork(sizes, OPTIONS.slope, OPTIONS.dropout).eval()
    torch.nn.init.normal_(network.bias)  # zero at first
    topic, doc_ids = Topic("t", query), list(resources.texts)
    materials = resources.index, resources.word_vectors, OPTIONS
    encoded = Encoder(*materials, "cpu").encode(topic, doc_ids)
    peer = direct_form(network.state_dict(), resources.word_vectors, OPTIONS)

    with torch.inference_mode():
        direct = peer(*direct_input(*materials, topic, doc_ids))
        table = network.tabulate(torch.from_numpy(resources.word_vectors.matrix))
        expected = network.tabulated(table, encoded.words, encoded.documents, encoded.lexical)
    np.testing.assert_allclose(direct.numpy(), expected.numpy(), atol=1e-5)


def test_both_sides_are_one_model(resources):
    from delta_rerank import build, measure

    pool = Topic("t", QUERIES[0]), Documents(list(resources.texts), lambda _ids: [])
    measured = measure(build(resources), [pool], rounds=1)
    assert measured["largest_difference"] < 1e-5
    assert list(measured["median"]) == ["ours", "peer"]


def test_sides_that_disagree_are_not_compared(resources):
    from delta_rerank import measure

    sides = SimpleNamespace(
        scorers=lambda *_: {"ours": lambda: [1.0, 2.0], "peer": lambda: [1.0, 2.1]}
    )
    with pytest.raises(SystemExit, match=r"scores differ by up to 0\.1"):
        measure(sides, [(None, None)], rounds=1)
