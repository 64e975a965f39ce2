"""GRAPHENE learns to write titles from abstracts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_graphene import small_model

from irplatform.plugin import Document
from irplatform.text import ForwardIndex, WordVectors, build_forward_index
from irplatform_graphene.network import TitleDecoder, TitleVocabulary
from irplatform_graphene.task import Titles


def _index_of(documents, folder):
    build_forward_index(iter(documents), folder, workers=1)
    return ForwardIndex.open(folder)


def _with_titles(folder):
    documents = [Document("a", "one two one", "one of two"), Document("b", "three", "words of it")]
    documents += [Document("c", "", "no title"), Document("d", "no text", "")]
    return _index_of(documents, folder)


def test_titles_end_unless_they_are_cut_and_rare_words_are_not_asked_for(tmp_path):
    index = _with_titles(tmp_path)
    vocabulary = TitleVocabulary(index, 2)
    assert [index.vocabulary[int(word)] for word in vocabulary.words] == ["one", "two"]
    one, two, three = index.query_ids("one two three").tolist()
    titles = np.array([[one, two, one], [three, -1, -1], [-1, -1, -1]])
    assert vocabulary.symbols(titles).tolist() == [[1, 2, 1], [-100, 0, -100], [-100, -100, -100]]


def _titles(resources, index, **decoder):
    """The title decoder of some documents, and the network that is trained with it."""
    words = ("one", "two", "three", "words")
    matrix = np.random.default_rng(1).normal(size=(len(words), 16)).astype(np.float32)
    vectors = WordVectors.with_unk(list(words), matrix, seed=1)
    copy = replace(resources, index=index, word_vectors=vectors)
    model = small_model(copy, graph=False, expansion=False, decoder=decoder)
    return Titles(model, seed=1), model.network


def test_titles_are_written_of_documents_with_both_texts(planted_graph, tmp_path):
    titles, network = _titles(planted_graph, _with_titles(tmp_path))
    random = np.random.default_rng(1)
    loss = titles.loss(np.array([0, 1, 2, 3]), random)
    assert loss.item() > 0
    loss.backward()
    assert network.project.weight.grad.abs().sum() > 0
    assert titles.loss(np.array([2, 3]), random).item() == 0


def test_titles_are_written_from_abstracts_alone(planted_graph, tmp_path):
    """What two titles differ in is not asked for, so only reading it could make a difference."""
    documents = [
        Document("a", "one two", "words alone"),
        Document("b", "one three", "words alone"),
        Document("c", "one two", "three words"),
    ]
    titles, _ = _titles(planted_graph, _index_of(documents, tmp_path), vocabulary=1)
    random = np.random.default_rng(1)
    a, b, c = (titles.loss(np.array([row]), random).item() for row in range(3))
    assert a == pytest.approx(b, rel=1e-6)
    assert a != pytest.approx(c, rel=1e-3)


def test_titles_of_unknown_words_alone_that_are_cut_cost_nothing():
    decoder = TitleDecoder(4, 3, 8, 5)
    nothing_asked = torch.full((2, 6), -100)
    loss = decoder.loss(torch.randn(2, 4), torch.randn(5, 3), nothing_asked)
    loss.backward()
    assert loss.item() == 0
    assert all(w.grad is None or not w.grad.any() for w in decoder.parameters())


def test_the_decoder_learns_to_write_a_title():
    torch.manual_seed(1)
    decoder, words = TitleDecoder(4, 3, 8, 5), torch.randn(5, 3)
    documents = torch.eye(2, 4)
    symbols = torch.tensor([[1, 2, 0], [3, 4, 0]])
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = decoder.loss(documents, words, symbols)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 < losses[0]
