"""The three forms of Delta's network are one function: that of the paper's section 3."""

from functools import partial

import numpy as np
import pytest
import torch
from plain import (
    DIMENSIONS,
    ELSEWHERE,
    WORDS,
    plain_delta,
    plain_resources,
    plain_vectors,
    plain_weights,
)

from irplatform.plugin import Topic
from irplatform.text import ALL18, lexical_features
from irplatform.text.forward_index import ForwardIndex
from irplatform_delta.closest_words import Encoder, distinct_rows, relate
from irplatform_delta.network import DeltaNetwork, Sizes
from irplatform_delta.options import LEX3, DeltaOptions

DOCUMENT_WORDS = 9
QUERIES = {
    "words with vectors": " ".join(WORDS[3:7]),
    "a word twice": f"{WORDS[2]} {WORDS[2]}",
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "only words without vectors": f"{WORDS[31]} {WORDS[32]}",
    "only words that the collection lacks": "absent missing",
    "a word of the vectors alone": f"{WORDS[3]} {ELSEWHERE} {WORDS[1]}",
    "nothing": "",
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return plain_resources(tmp_path_factory.mktemp("forward"), long=" ".join(WORDS * 2))


def _network(*, lexical=LEX3, filters=6, convolutions=3, difference=True, delta_features=True):
    torch.manual_seed(7)
    sizes = Sizes(DIMENSIONS, len(lexical), filters, convolutions, 5, difference, delta_features)
    network = DeltaNetwork(sizes, slope=0.1, dropout=0.5)
    torch.nn.init.normal_(network.bias)  # zero at first, which would hide that it is added
    network.lexical_mean.copy_(torch.rand(len(lexical)))
    network.lexical_scale.copy_(torch.rand(len(lexical)) + 0.5)
    return network.eval()


def _encode(resources, query, doc_ids, lexical=LEX3):
    options = DeltaOptions(lexical=lexical, document_words=DOCUMENT_WORDS)
    encoder = Encoder(resources.index, resources.word_vectors, options, "cpu")
    return encoder, encoder.encode(Topic("t", query), doc_ids)


def _forms(network, encoder, encoded):
    with torch.no_grad():
        parts = encoded.words, encoded.documents, encoded.lexical
        padded = encoded.words.padded(len(encoder.vectors))
        return {
            "plain": plain_delta(network, encoder.vectors, *parts).numpy(),
            "tabulated": network.tabulated(network.tabulate(encoder.vectors), *parts).numpy(),
            "trained": network.trained(encoder.vectors, padded, *parts[1:]).numpy(),
        }


def _leaky(value):
    return value if value > 0 else 0.1 * value


def _by_the_paper(network, resources, query, text, lexical):
    """One document's score, written down from sections 3.2 and 3.3, a number at a time."""
    weights, vectors = plain_weights(network), plain_vectors(resources)
    query_vectors = [vectors[word] for word in query.split() if word in vectors]
    rows = []
    for word in text.split()[:DOCUMENT_WORDS]:
        delta = np.zeros(DIMENSIONS + 3)
        if word in vectors and query_vectors:
            d = vectors[word]
            q = min(query_vectors, key=lambda candidate: np.linalg.norm(d - candidate))
            distance = np.linalg.norm(d - q)
            lengths = np.linalg.norm(d), np.linalg.norm(q)
            if network.sizes.difference:
                delta[:DIMENSIONS] = d - q
            if network.sizes.delta_features:
                delta[DIMENSIONS] = d @ q / (lengths[0] * lengths[1])
                delta[DIMENSIONS + 1] = distance
                delta[DIMENSIONS + 2] = 1 - distance / (lengths[0] + lengths[1])
        rows.append(delta)
    layers = [(weights["first.weight"], weights["bias"])]
    layers += [
        (weights[f"further.{n}.weight"], weights[f"further.{n}.bias"])
        for n in range(network.sizes.convolutions - 1)
    ]
    for filters, bias in layers:
        convolved = []
        for i in range(len(rows)):
            values = []
            for f in range(len(filters)):
                total = bias[f]
                for tap in (-1, 0, 1):
                    if 0 <= i + tap < len(rows):
                        total += filters[f, :, tap + 1] @ rows[i + tap]
                values.append(_leaky(total))
            convolved.append(np.array(values))
        rows = convolved
    pooled = np.max(rows, axis=0) if rows else np.zeros(network.sizes.filters)
    standard = (lexical - weights["lexical_mean"]) / weights["lexical_scale"]
    inputs = np.concatenate([pooled, standard])
    hidden = [
        _leaky(row @ inputs + bias)
        for row, bias in zip(weights["hidden.weight"], weights["hidden.bias"], strict=True)
    ]
    return weights["output.weight"][0] @ hidden + weights["output.bias"][0]


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"lexical": ()},
        {"difference": False},
        {"delta_features": False},
        {"convolutions": 1},
        {"filters": 2, "convolutions": 2},
    ],
    ids=str,
)
def test_every_form_computes_what_the_paper_says(resources, query, switches):
    network = _network(**switches)
    lexical = switches.get("lexical", LEX3)
    ids = list(resources.texts)
    encoder, encoded = _encode(resources, query, ids, lexical)
    index = resources.index
    features = lexical_features(index, index.query_ids(query), index.rows(ids), lexical)
    expected = [
        _by_the_paper(network, resources, query, resources.texts[doc_id], features[n])
        for n, doc_id in enumerate(ids)
    ]
    for name, scores in _forms(network, encoder, encoded).items():
        assert np.allclose(scores, expected, atol=1e-5), name


def test_documents_without_a_word_have_a_score_in_every_form(resources):
    forms = _forms(_network(), *_encode(resources, QUERIES["words with vectors"], ["empty"]))
    assert np.isfinite(forms["plain"]).all()
    assert all(np.allclose(scores, forms["plain"], atol=1e-6) for scores in forms.values())


def test_forms_have_the_same_gradients(resources):
    network = _network()
    encoder, encoded = _encode(resources, QUERIES["some without vectors"], list(resources.texts))
    gradients = {}
    padded = encoded.words.padded(len(encoder.vectors))
    for name, form, words in (
        ("plain", partial(plain_delta, network), encoded.words),
        ("trained", network.trained, padded),
    ):
        network.zero_grad()
        form(encoder.vectors, words, encoded.documents, encoded.lexical).sum().backward()
        gradients[name] = [p.grad.clone() for p in network.parameters()]
    for plain, trained in zip(gradients["plain"], gradients["trained"], strict=True):
        assert plain.abs().sum() > 0
        assert torch.allclose(plain, trained, atol=1e-4)


@pytest.mark.parametrize(
    ("off", "changed"),
    [
        ({"difference": False}, slice(DIMENSIONS, None)),
        ({"delta_features": False}, slice(None, DIMENSIONS)),
    ],
)
def test_a_switched_off_part_is_not_looked_at(resources, off, changed):
    """Scores of an ablated network do not move with the filters of the part that is off."""
    network = _network(**off)
    encoder, encoded = _encode(resources, QUERIES["words with vectors"], list(resources.texts))
    before = _forms(network, encoder, encoded)
    weights = network.first.weight.detach().clone()
    dead = slice(None, DIMENSIONS) if "difference" in off else slice(DIMENSIONS, None)
    with torch.no_grad():
        network.first.weight[:, dead] += 10
    for name, scores in _forms(network, encoder, encoded).items():
        assert np.array_equal(scores, before[name]), name
    with torch.no_grad():
        network.first.weight.copy_(weights)
        network.first.weight[:, changed] += 1
    for name, scores in _forms(network, encoder, encoded).items():
        assert not np.allclose(scores, before[name]), name


def test_words_after_the_last_that_is_read_do_not_matter(resources):
    network = _network(lexical=())
    text = resources.texts["long"].split()
    encoder, encoded = _encode(resources, QUERIES["words with vectors"], ["long"], ())
    expected = _by_the_paper(
        network, resources, QUERIES["words with vectors"], " ".join(text[:DOCUMENT_WORDS]), []
    )
    assert np.allclose(_forms(network, encoder, encoded)["tabulated"], [expected], atol=1e-5)


def test_only_the_first_query_words_are_read_when_told(resources):
    options = DeltaOptions(lexical=(), query_words=2)
    encoder = Encoder(resources.index, resources.word_vectors, options, "cpu")
    long, short = (
        encoder.encode(Topic("t", " ".join(WORDS[:n])), ["d1", "d2"]).words for n in (6, 2)
    )
    assert torch.equal(long.closest, short.closest)
    assert torch.equal(long.features, short.features)


@pytest.mark.parametrize("vocabulary", [5, 10_000])  # marking, sorting
def test_distinct_words_and_their_places(vocabulary):
    tokens = np.array([[3, 1, 3], [0, -1, -1]], dtype=np.int32)
    distinct, places = ForwardIndex.distinct_words(tokens, vocabulary)
    assert distinct.tolist() == [0, 1, 3]
    assert places.tolist() == [[2, 1, 2], [0, 3, 3]]


def test_distinct_rows_of_several_tensors_and_their_places():
    first, second = torch.tensor([[6, 2], [9, 9]]), torch.tensor([2, 0])
    distinct, place = distinct_rows(9, first, second)
    assert distinct.tolist() == [0, 2, 6]
    assert place[first].tolist() == [[2, 1], [3, 3]]
    assert place[second].tolist() == [1, 0]


def test_the_penalty_counts_each_side_with_its_own_coefficient():
    network = _network()
    weights = {name: float((w.detach() ** 2).sum()) for name, w in network.named_parameters()}
    convolutional = sum(weights[f"{name}.weight"] for name in ("first", "further.0", "further.1"))
    feed_forward = weights["hidden.weight"] + weights["output.weight"]
    assert network.penalty(1.0, 0.0).item() == pytest.approx(convolutional, rel=1e-5)
    assert network.penalty(0.0, 1.0).item() == pytest.approx(feed_forward, rel=1e-5)


def test_the_distance_of_a_word_to_itself_is_zero():
    """Though it is computed from dot products, which round."""
    vectors = torch.randn(200, 300, generator=torch.Generator().manual_seed(1)) * 10
    words = torch.arange(199)
    related = relate(vectors, vectors.norm(dim=1), words, words[None, :20], unknown=199)
    assert torch.equal(related.closest[:20], words[:20])
    assert (related.features[:20, 1] == 0).all()
    assert (related.features[:20, 2] == 1).all()
    assert torch.allclose(related.features[:20, 0], torch.ones(20))
    distances = torch.cdist(vectors[20:199].double(), vectors[:20].double())
    assert torch.equal(related.closest[20:], distances.argmin(dim=1))
    assert torch.allclose(related.features[20:, 1].double(), distances.min(dim=1)[0], rtol=1e-4)


def test_the_three_lexical_features_are_the_papers():
    assert (ALL18[6], ALL18[12], ALL18[11]) == LEX3
