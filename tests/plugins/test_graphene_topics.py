"""GRAPHENE reads the fields of a topic, and the names of concepts that they name."""

import numpy as np
import pytest
from planted import subject_words
from small_graphene import small_model

from irplatform.plugin import Topic
from irplatform.text import WordVectors
from irplatform_graphene.options import GrapheneOptions
from irplatform_graphene.reading import GAP, TopicReader


class Names:
    """A graph of concepts of which a text names all, in their order."""

    def __init__(self, *names):
        self.names = names

    def find(self, text, expand=0):
        return np.arange(len(self.names))

    def names_of(self, concept):
        return list(self.names[concept])


MELANOMA = Names(
    ("melanoma", "skin cancer", "Melanoma", "nowhere", "mm"), ("tumor", "skin cancer", "growth")
)


def _read(text, graph=MELANOMA, **options):
    """Words of a field, None for a gap, with their shares."""
    words = ["skin", "cancer", "mm", "malignant", "melanoma", "tumor", "growth"]
    vectors = WordVectors.with_unk(words, np.eye(7, dtype=np.float32), seed=1)
    read = TopicReader(vectors, graph, GrapheneOptions(**options)).read(Topic("t", text))
    (rows,), (shares,) = read.words.tolist(), read.weights.tolist()
    last = max(place for place, row in enumerate(rows) if row != GAP)
    assert not any(shares[last + 1 :])
    return [None if row == GAP else vectors.words[row] for row in rows[: last + 1]], shares


def test_a_field_is_followed_by_the_other_names_of_its_concepts_each_behind_a_gap():
    """A name that is the text itself, that came before or that has no vectors is not read."""
    words, _ = _read("melanoma")
    other = [None, "skin", "cancer", None, "mm", None, "tumor", None, "growth"]
    assert words == ["melanoma", *other]
    assert _read("melanoma", expansion=False)[0] == _read("melanoma", None)[0] == ["melanoma"]


def test_so_many_other_names_of_each_concept_and_so_many_words_are_read():
    words, _ = _read("melanoma", expansion_names=1)
    assert words == ["melanoma", None, "skin", "cancer", None, "tumor"]
    words, shares = _read("melanoma", query_words=3)
    assert words == ["melanoma", None, "skin"]
    assert sum(shares) == pytest.approx(1)


def test_own_words_and_other_names_have_half_of_the_weight_each():
    _, shares = _read("malignant melanoma", Names(("melanoma", "skin cancer", "mm")))
    pair, other = [1 / 4] * 2, 1 / 8
    assert shares[:9] == pytest.approx([*pair, 0, other, 0, other, other, 0, other])
    assert _read("malignant melanoma", expansion=False)[1][:3] == pytest.approx([1 / 2, 1 / 2, 0])


def test_a_topic_matches_the_concepts_it_names_whether_or_not_their_names_are_read(planted_graph):
    topic = Topic("t", subject_words(1)[0])
    read, bare = (
        small_model(planted_graph, expansion=on).topics.read(topic) for on in (True, False)
    )
    assert len(read.matching)
    assert np.array_equal(read.matching, bare.matching)


def test_a_topic_is_its_fields_and_its_query_where_it_has_none(planted_graph):
    topics = small_model(planted_graph).topics
    fields = {"gene": "BRAF", "disease": "melanoma", "other": "none", "mesh": ("Mice", "Humans")}
    assert topics.fields(Topic("t", "q", fields)) == ["melanoma", "BRAF", "Mice", "Humans"]
    assert topics.fields(Topic("t", "words alone", {"disease": " "})) == ["words alone"]
    headings = tuple(f"heading {number}" for number in range(30))
    assert topics.fields(Topic("t", "", {"mesh": headings})) == list(headings[:24])
