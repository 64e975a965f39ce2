"""Documents in a device's memory, with the CPU as the device: what the CPU's own form gives."""

import numpy as np
import pytest
import torch
from small import words

from irplatform.plugin import Document, Documents, Topic
from irplatform.text import ALL18, ForwardIndex, build_forward_index, lexical_features
from irplatform.text.device_documents import DeviceDocuments, Reading
from irplatform.text.given_texts import GivenTexts, substitute

WORDS = words(30)
QUERIES = [
    " ".join(WORDS[3:7]),
    f"{WORDS[1]} absent {WORDS[2]} {WORDS[1]} {WORDS[2]} absent missing",
    "absent",
    "",
]
WHOLE, BLOCKS = 10**9, 3000
"""Budgets: the collection fits, or some documents do."""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    random = np.random.default_rng(4)

    def text(longest):
        return " ".join(random.choice(WORDS, random.integers(0, longest)))

    documents = [Document(f"d{n}", text(8), text(40)) for n in range(50)]
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index([*documents, Document("empty", "", "")], folder, workers=1)
    return ForwardIndex.open(folder)


def _batch(index):
    random = np.random.default_rng(5)
    ids = [*index.doc_ids(random.permutation(index.count)), "empty"]
    parts = [ids[:20], ids[15:16], [], ids[10:], ids[:3]]
    queries = [QUERIES[0], QUERIES[1], QUERIES[0], QUERIES[2], QUERIES[3]]
    return [
        (Topic(f"t{n}", query), Documents(part, lambda _: []))
        for n, (query, part) in enumerate(zip(queries, parts, strict=True))
    ]


@pytest.mark.parametrize("budget", [WHOLE, BLOCKS, 1])
def test_words_and_features_are_those_of_the_index(index, budget):
    batch, sizes = _batch(index), []
    reading = Reading(lambda topic: index.query_ids(topic.query).astype(np.int64), ALL18)
    more = [np.full((len(documents), 1), len(documents), np.float32) for _, documents in batch]
    matrices = []

    def score(candidates):
        sizes.append(len(candidates.topic))
        matrices.append((candidates.matrix(60), candidates.matrix(3), candidates.features))
        words, places, topic = candidates.words(9)
        matrix = torch.cat([words, torch.tensor([-1])])[places]
        assert torch.equal(matrix, candidates.matrix(9))
        if topic is not None:
            assert torch.equal(topic.view(-1, 9)[:, 0], candidates.topic)
        return candidates.query[candidates.topic].clamp(min=0).sum(dim=1)

    device_documents = DeviceDocuments(index, "cpu", budget)
    scores = device_documents.score(batch, reading, score, more)
    parts = {WHOLE: 1, BLOCKS: len(sizes), 1: sum(sizes)}
    assert len(sizes) == parts[budget]
    assert max(sizes) > 1 or budget == 1
    long, short, features = (torch.cat(parts) for parts in zip(*matrices, strict=True))
    rows = index.rows([doc_id for _, documents in batch for doc_id in documents.ids])
    assert np.array_equal(long, index.matrix(rows, 60))
    assert np.array_equal(short, index.matrix(rows, 3))
    expected = [
        lexical_features(index, index.query_ids(topic.query), index.rows(documents.ids), ALL18)
        for topic, documents in batch
    ]
    assert np.array_equal(features[:, :-1], np.concatenate(expected))
    alone = device_documents.features(batch, ALL18)
    assert all(map(np.array_equal, alone, expected))
    assert len(alone) == len(expected)
    assert np.array_equal(features[:, -1:], np.concatenate(more))
    for (topic, documents), values in zip(batch, scores, strict=True):
        query = index.query_ids(topic.query)
        assert values == [query[query > 0].sum()] * len(documents)


def test_given_texts_stand_in_for_documents(index):
    texts = [" ".join(WORDS[:9]), "", f"absent {WORDS[4]}"]
    given_texts = GivenTexts({f"g{n}": Document(f"g{n}", "", text) for n, text in enumerate(texts)})
    batch = [(Topic("t", QUERIES[0]), Documents([*given_texts.documents], lambda _: []))]
    with substitute(given_texts):
        rows = index.rows(batch[0][1].ids)
        (features,) = DeviceDocuments(index, "cpu", WHOLE).features(batch, ALL18)
        expected = lexical_features(index, index.query_ids(QUERIES[0]), rows, ALL18)
    assert np.array_equal(features, expected)
    assert expected[0].any()
