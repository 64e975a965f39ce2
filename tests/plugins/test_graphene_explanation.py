"""GRAPHENE's explanations add up, and say what concepts and features add."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from fitted_graphene import fit_graphene, prepare_graphene
from ltr_groups import NeedsYear
from planted import planted_topics, scores, subject_words

from irplatform.plugin import Topic
from irplatform_graphene import explaining
from irplatform_graphene.reading import DocumentLinks


def test_explanations_add_up(planted_graph, tmp_path):
    fitted = fit_graphene(planted_graph, tmp_path, reward=3.0)
    word = next(
        w
        for w in subject_words(1)[::3]
        if planted_graph.graph.document_frequency[_concept(planted_graph, w)]
    )
    concept = _concept(planted_graph, word)
    row = int(planted_graph.graph.mentioned_in(concept)[0][0])
    topic = Topic("t", word)
    documents = planted_graph.documents(planted_graph.index.doc_ids([row]))
    (explanation,) = fitted.explain(topic, documents)
    (score,) = fitted.score(topic, documents)
    assert explanation["score"] == pytest.approx(score, abs=1e-5)
    (only,) = explanation["matching concepts"]
    assert only["concept"] == planted_graph.graph.names[concept]
    without = prepare_graphene(planted_graph, reward=1.0)
    fitted.save(tmp_path)
    without.load(tmp_path)
    assert explanation["without any reward"] == pytest.approx(
        without.score(topic, documents)[0], abs=1e-5
    )
    assert only["without its reward"] == pytest.approx(explanation["without any reward"], abs=1e-5)
    json.dumps(explanation)


def test_without_a_graph_it_is_said_that_concepts_take_no_part(planted_graph):
    topic, documents = (
        Topic("t", "words"),
        planted_graph.documents(planted_graph.index.doc_ids([0])),
    )
    for graph in (True, False):
        (explanation,) = prepare_graphene(planted_graph, graph=graph).explain(topic, documents)
        assert ("graph" in explanation) is not graph
        assert ("matching concepts" in explanation) is graph


def test_without_a_graph_no_narrower_concepts_are_said_to_match(planted_graph, monkeypatch):
    concepts = np.arange(3)
    monkeypatch.setattr(
        planted_graph.graph, "find", lambda text, expand=0: concepts[: 3 if expand else 1]
    )
    names = [
        explaining._names(prepare_graphene(planted_graph, graph=graph).model, "a field")
        for graph in (True, False)
    ]
    first = planted_graph.graph.names[0]
    assert names == [f"{first} and 2 narrower", first]


@pytest.fixture
def _one_thread():
    """On a busy machine several threads may add up in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_one_thread")
def test_without_a_group_that_applies_it_is_the_form_without_features(planted_graph, tmp_path):
    (topic,) = planted_topics([91])
    brief = {"epochs": 1}
    plain = fit_graphene(planted_graph, tmp_path / "plain", loop=brief)
    with_idle_group = replace(planted_graph, groups={"needs-year": NeedsYear})
    idle = fit_graphene(with_idle_group, tmp_path / "idle", loop=brief, features=("needs-year",))
    assert idle.model.features.width
    assert np.array_equal(scores(idle, planted_graph, topic), scores(plain, planted_graph, topic))


def test_an_explanation_says_what_features_add(planted_graph, tmp_path):
    fitted = fit_graphene(planted_graph, tmp_path, features=("embedding",), loop={"epochs": 1})
    (topic,) = planted_topics([91])
    documents = planted_graph.documents(topic.candidates[:1])
    (explanation,) = fitted.explain(topic.topic, documents)
    (score,) = fitted.score(topic.topic, documents)
    assert explanation["of vectors"] + explanation["of features"] == pytest.approx(score, abs=1e-5)
    (group,) = explanation["groups"]
    assert group["group"] == "embedding"
    assert group["adds"] == pytest.approx(explanation["of features"], abs=1e-4)
    assert any(feature["adds"] for feature in explanation["features"])


def test_an_explanation_takes_a_concept_away_with_its_reward(planted_graph, tmp_path, monkeypatch):
    member = fit_graphene(planted_graph, tmp_path, reward=3.0, stored_documents=0)
    frequency = planted_graph.graph.document_frequency
    words = [w for w in subject_words(1)[::3] if frequency[_concept(planted_graph, w)]]
    topic = Topic("t", " ".join(words))
    rows = np.arange(planted_graph.index.count)
    document_links = member.model.concepts.links(rows)
    row = int(np.argmax(np.diff(document_links.offsets)))  # the glossary, which has all concepts
    documents = planted_graph.documents(planted_graph.index.doc_ids([row]))
    (explanation,) = member.explain(topic, documents)
    matching, others = explanation["matching concepts"], explanation["other concepts"]
    assert {match["concept"] for match in matching} == {
        planted_graph.graph.names[_concept(planted_graph, word)] for word in words
    }
    assert len(others) == 8
    unlisted = explanation["other concepts that are not listed"]
    assert unlisted == np.diff(document_links.offsets).max() - len(matching) - 8
    for entries in (matching, others):
        weights = [concept["weight"] for concept in entries]
        assert weights == sorted(weights, reverse=True)
    plain = member.model.concepts.links
    for entry in (matching[0], matching[-1], others[0]):
        gone = _concept(planted_graph, entry["concept"])

        def without(rows, gone=gone):
            links = plain(rows)
            mask = links.concepts != gone
            ends = np.searchsorted(np.flatnonzero(mask), links.offsets)
            return DocumentLinks(links.concepts[mask], links.weights[mask], ends)

        monkeypatch.setattr(member.model.concepts, "links", without)
        (score,) = member.score(topic, documents)
        assert entry["score without it"] == pytest.approx(score, abs=1e-5)
        assert entry["score without it"] != pytest.approx(explanation["score"], abs=1e-5)


def _concept(resources, word):
    return int(resources.graph.find(word)[0])
