"""GRAPHENE's stored and batched forms are one function: that of the paper's sections 3.2 and 4."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import planted_topics, subject_words
from small_graphene import small_model
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from irplatform.plugin import Topic
from irplatform.text import WordVectors
from irplatform_graphene.model import Model
from irplatform_graphene.network import BiLSTM, GrapheneNetwork, Sizes, Words
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reading import GAP, EncodedTopic
from irplatform_graphene.task import BatchDocuments


def _of_names(names, vectors):
    """The mean of the vectors of the first name that has some."""
    for name in names:
        rows = [row for row in vectors.rows(name.split()) if row != vectors.unk]
        if rows:
            return vectors.matrix[rows].mean(axis=0)
    return np.zeros(vectors.dimensions)


def _weights(model):
    weights = {name: tensor.numpy() for name, tensor in model.network.state_dict().items()}
    return {"project.weight": np.eye(model.network.sizes.dimensions), **weights}


def _query_by_the_paper(model, resources, topic):
    """W v_p of one topic, field by field and word by word."""
    w = _weights(model)
    vectors, encoded = resources.word_vectors, model.topics.read(topic)
    idf = model.reader.index.idf("text")
    of_rows = dict(zip(vectors.align(model.reader.index.vocabulary).tolist(), idf, strict=True))
    pooled, means = [], []
    for words, weights in zip(encoded.words, encoded.weights, strict=True):
        mask = [row != GAP for row in words]
        wide = [
            vectors.matrix[row] if row != GAP else np.zeros(vectors.dimensions) for row in words
        ]
        shares = weights * [of_rows.get(int(row), idf.max()) for row in words]
        shares /= shares.sum()
        read = [np.zeros(model.network.sizes.word)]
        read = [*read, *(w["project.weight"] @ vector for vector in wide), *read]
        maps = np.zeros((len(words), model.network.sizes.filters))
        for place in np.flatnonzero(mask):
            total = sum(w["convolution.weight"][:, :, j] @ read[place + j] for j in range(3))
            maps[place] = np.maximum(total + w["convolution.bias"], 0)
        pooled.append(np.concatenate([maps[mask].max(axis=0), shares @ maps]))
        means.append(shares @ np.array(wide))
    attention = np.exp([(w["attention.weight"] @ vector).item() for vector in pooled])
    fused = (attention / attention.sum()) @ np.array(pooled)
    v_p = w["query_layer.weight"] @ fused + w["query_layer.bias"]
    if model.network.sizes.shortcut:
        v_p = v_p + w["query_words.weight"] @ np.mean(means, axis=0)
    return v_p


def _by_the_paper(model, resources, topic, doc_id):
    """One document's score, written down from the equations, over all nodes of the graph."""
    w = _weights(model)
    sizes, options, graph = model.network.sizes, model.options, resources.graph
    vectors = resources.word_vectors
    relu = lambda x: np.maximum(x, 0)  # noqa: E731

    words = resources.texts[doc_id].split()[: options.document_words]
    read = np.array([vectors.matrix[vectors.rows([word])[0]] for word in words])
    states = np.zeros((len(words), 2 * sizes.hidden))
    for side, order in (("forwards", range(len(words))), ("backwards", range(len(words))[::-1])):
        place = slice(0, sizes.hidden) if side == "forwards" else slice(sizes.hidden, None)
        hidden, cell = np.zeros(sizes.hidden), np.zeros(sizes.hidden)
        for t in order:
            gates = w[f"encoder.{side}.0.weight_ih_l0"] @ (w["project.weight"] @ read[t])
            gates += w[f"encoder.{side}.0.weight_hh_l0"] @ hidden
            gates += w[f"encoder.{side}.0.bias_ih_l0"] + w[f"encoder.{side}.0.bias_hh_l0"]
            i, f, g, o = np.split(gates, 4)
            sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            hidden = sigmoid(o) * np.tanh(cell)
            states[t, place] = hidden
    v_d = w["from_text.weight"] @ states.mean(axis=0) + w["from_text.bias"]
    idf = model.reader.index.idf("text")
    shares = np.array([idf[i] for i in model.reader.index.query_ids(" ".join(words))])
    if options.shortcut:
        v_d = v_d + w["from_words.weight"] @ (shares @ read / shares.sum())

    if options.graph:
        count = graph.concept_count
        g0 = np.array([_of_names(graph.names_of(c), vectors) for c in range(count)])
        adjacency = graph.adjacency().toarray() + options.self_loop * np.eye(count)
        degree = adjacency.sum(axis=1)
        g1 = np.zeros((count, sizes.graph))
        for c in range(count):
            total = sum(
                adjacency[c, n] / np.sqrt(degree[c] * degree[n]) * (w["project.weight"] @ g0[n])
                for n in range(count)
            )
            g1[c] = relu(w["concept_layer.weight"] @ total)
        concepts, counts, _ = graph.concepts_of(resources.index.rows([doc_id]))
        weights = (1 + np.log(counts)) * np.log1p(
            graph.document_count / graph.document_frequency[concepts]
        )
        matching = {int(c) for c in graph.find(topic.query, expand=options.narrower)}
        received = np.zeros(sizes.graph)
        for c, weight in zip(concepts, weights / max(weights.sum(), 1e-12), strict=True):
            alpha = options.reward if int(c) in matching else 1.0
            received += alpha * weight * (w["document_layer.weight"] @ g1[c])
        v_d = v_d + w["from_graph.weight"] @ relu(received)

    v_p = _query_by_the_paper(model, resources, topic)
    if options.normalized:
        v_p, v_d = v_p / np.linalg.norm(v_p), v_d / np.linalg.norm(v_d)
    scale = w["scale"] if options.normalized else 1
    return -scale * np.abs(v_p - v_d).sum()


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"reward": 1.0},
        {"reward": 5.0, "self_loop": 3.0, "narrower": 0},
        {"graph": False},
        {"shortcut": False, "normalized": False},
        {"projection": None, "shortcut": False, "normalized": False},
        {"document_words": 4},
        {"stored_documents": 0},
    ],
    ids=str,
)
def test_the_stored_form_computes_what_the_paper_says(planted_graph, changed):
    model = small_model(planted_graph, **changed)
    for word in (subject_words(1)[0], subject_words(2)[3], subject_words(0)[1]):
        topic = Topic("t", word)
        ids = [f"t{t}d{d}" for t in range(6) for d in range(3)]
        rows = planted_graph.index.rows(ids)
        scores = model.scores(model.topics.read(topic), rows, None).numpy()
        expected = [_by_the_paper(model, planted_graph, topic, doc_id) for doc_id in ids]
        assert np.allclose(scores, expected, atol=1e-5)


def test_topics_of_several_fields_are_read_together_as_the_paper_says(planted_graph):
    """Of one, two and three fields: one word, several, and one that no document has."""
    vectors = planted_graph.word_vectors
    matrix = np.insert(vectors.matrix, len(vectors.words), vectors.matrix[:9].mean(axis=0), axis=0)
    planted_graph = replace(
        planted_graph, word_vectors=WordVectors([*vectors.words, "unseen"], matrix)
    )
    model = small_model(planted_graph)
    one, two, three = (subject_words(n) for n in range(3))
    topics = [
        Topic("a", one[0]),
        Topic("b", "", {"disease": " ".join(one[:6]), "gene": one[0]}),
        Topic("c", "", {"disease": two[3], "mesh": (" ".join(three[:4]), f"{one[1]} unseen")}),
    ]
    read = [model.topics.read(topic) for topic in topics]
    with torch.no_grad():
        queries = model.network.query(*model.reader.topics(read)).numpy()
    expected = [_query_by_the_paper(model, planted_graph, topic) for topic in topics]
    assert np.allclose(queries, expected, atol=1e-5)


def test_fields_of_the_same_words_and_other_weights_are_told_apart(planted_graph):
    """As where other names were cut at another place."""
    model = small_model(planted_graph)
    words = np.array([[0, GAP, 1]])
    one, other = (
        EncodedTopic(words, np.array([weights], np.float32), np.empty(0, np.int64))
        for weights in ([0.5, 0, 0.5], [0.9, 0, 0.1])
    )
    with torch.no_grad():
        together = model.network.query(*model.reader.topics([one, other]))
        alone = [model.network.query(*model.reader.topics([topic]))[0] for topic in (one, other)]
    assert torch.allclose(together, torch.stack(alone), atol=1e-6)
    assert not torch.allclose(*alone, atol=1e-3)


def test_an_untrained_network_finds_words_near_to_those_of_a_topic(planted_graph):
    """Both shortcuts begin as one projection, and all fields count the same."""
    network = Model(planted_graph, GrapheneOptions()).network
    assert torch.equal(network.query_words.weight, network.from_words.weight)
    assert not network.attention.weight.any()


def test_features_add_to_the_scaled_distance():
    sizes = Sizes(4, 5, 4, 1, 0, 7, 5, shortcut=False, normalized=True, features=2)
    network = GrapheneNetwork(sizes, 0.0)
    network.feature_weights.copy_(torch.tensor([2.0, -1.0]))
    query, documents = torch.eye(7)[0], torch.eye(7)[:2]
    alone, sums = (
        network.score(query, documents, features).tolist()
        for features in (None, torch.tensor([[1.0, 3.0], [0.5, 0.0]]))
    )
    assert alone == [0, -6]  # at first, a distance of 1 costs 3
    assert sums == [-1, -5]


def test_dropout_is_of_texts_graphs_and_queries(planted_graph):
    network = small_model(planted_graph, dropout=0.5, shortcut=False).network.train()
    with torch.no_grad():
        for read in (
            lambda: network.text_part(torch.ones(1, network.encoded)),
            lambda: network.compose(torch.zeros(1, 7), torch.ones(1, 6)),
            lambda: network.query(Words(torch.ones(1, 16), ZEROS, torch.ones(1, 1)), ZEROS),
        ):
            torch.manual_seed(1)
            network.train()
            assert len({str(read().tolist()) for _ in range(8)}) > 1
            network.eval()
            assert torch.equal(read(), read())


ZEROS = torch.zeros(1, 1, dtype=torch.int64)
STORED = [
    name
    for name in GrapheneNetwork(
        Sizes(4, 5, 4, 1, 6, 7, 5, shortcut=True, normalized=True), 0.0
    ).state_dict()
    if not name.startswith(("query", "convolution", "attention", "scale"))
]


@pytest.mark.parametrize("changed", [*STORED, "self_loop", "document_words", "graph", "vectors"])
def test_what_is_stored_is_of_the_same_weights_options_and_graph(planted_graph, tmp_path, changed):
    """With anything else that document vectors are made from, they are made anew."""
    resources = replace(planted_graph, folder=tmp_path / "artifacts")
    topic, rows = Topic("t", subject_words(1)[0]), np.arange(40)
    before = small_model(resources)
    before.scores(before.topics.read(topic), rows, None)
    state = before.network.state_dict()
    options = {"self_loop": {"self_loop": 3.0}, "document_words": {"document_words": 4}}
    if changed == "vectors":
        other = WordVectors(
            resources.word_vectors.words, 2 * np.array(resources.word_vectors.matrix)
        )
        resources = replace(resources, word_vectors=other)
    elif changed == "graph":
        resources = replace(resources, graph=_without_relations(resources.graph))
    elif changed in state:
        state[changed] = state[changed] * 2
    results = []
    for stored in (10**6, 0):
        model = small_model(resources, stored_documents=stored, **options.get(changed, {}))
        model.network.load_state_dict(state)
        results.append(model.scores(model.topics.read(topic), rows, None))
    assert torch.allclose(*results, atol=1e-5)


def test_what_is_stored_is_kept_for_every_number_of_threads(planted_graph, tmp_path):
    """Sums that are divided among threads round differently."""
    resources = replace(planted_graph, folder=tmp_path / "artifacts")
    topic, rows = Topic("t", subject_words(1)[0]), np.arange(40)
    for threads in (1, 2, 1):
        model = small_model(replace(resources, model_threads=threads))
        model.scores(model.topics.read(topic), rows, None)
    kinds = ("graphene-documents", "graphene-encodings")
    assert [len([*resources.folder.glob(f"{kind}-*")]) for kind in kinds] == [2, 2]


def _without_relations(graph):
    """The same graph under another fingerprint, its concepts not related to each other."""
    other = copy(graph)
    other.fingerprint = "other"
    other.adjacency = lambda: 0 * graph.adjacency()
    return other


def test_the_reward_changes_documents_with_matching_concepts_alone(planted_graph):
    model, without = small_model(planted_graph, reward=4.0), small_model(planted_graph, reward=1.0)
    without.network.load_state_dict(model.network.state_dict())
    topic = model.topics.read(Topic("t", subject_words(1)[0]))
    rows = np.arange(planted_graph.index.count)
    changed = ~np.isclose(model.scores(topic, rows, None), without.scores(topic, rows, None))
    concepts, _, offsets = planted_graph.graph.concepts_of(rows)
    owner = np.repeat(rows, np.diff(offsets))
    assert set(np.flatnonzero(changed)) == set(owner[np.isin(concepts, topic.matching)])
    assert 0 < changed.sum() < len(rows) / 2


def test_a_step_of_training_has_the_vectors_that_are_scored_with(planted_graph):
    model = small_model(planted_graph)
    labelled = [planted_topics([n])[0] for n in (3, 8)]
    topics = [model.topics.read(Topic("t", subject_words(s)[3])) for s in (1, 2)]
    rows = np.unique(
        planted_graph.index.rows([d for sample in labelled for d in sample.candidates])
    )
    with torch.no_grad():
        encoded = model.network.encode(model.reader.texts(rows))
        documents = BatchDocuments(model, rows, encoded)
        queries = model.network.query(*model.reader.topics(topics))
        for number, topic in enumerate(topics):
            pairs = np.full(len(rows), number), np.arange(len(rows))
            vectors = documents.vectors(*pairs, topics)
            trained = model.network.score(queries[number], vectors, None)
            assert np.allclose(trained, model.scores(topic, rows, None), atol=1e-5)


def test_both_directions_are_those_of_packed_sequences():
    torch.manual_seed(3)
    network = BiLSTM(4, 3, 2)
    reference = torch.nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
    state = {}
    for side, suffix in ((network.forwards, ""), (network.backwards, "_reverse")):
        for layer, lstm in enumerate(side):
            state |= {
                f"{n.replace('_l0', f'_l{layer}')}{suffix}": p for n, p in lstm.named_parameters()
            }
    reference.load_state_dict(state)
    lengths = torch.tensor([5, 1, 7, 3])
    words = torch.randn(4, 7, 4)
    present = torch.arange(7) < lengths[:, None]
    packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(reference(packed)[0], batch_first=True)
    assert torch.allclose(network(words, present)[present], expected[present], atol=1e-6)
