"""Scores brought nearer to those of similar documents."""

import numpy as np
import pytest
from ltr_groups import fitted, prepared, resources_in, topics_of

from irplatform_ltr.options import NeighbourOptions
from irplatform_ltr.pools import smoothed

TEXTS = {
    "a": "braf melanoma trial",
    "b": "braf melanoma trial survival",
    "c": "kidney mouse assay",
    "d": "kidney mouse",
    "e": "",
    "f": "unique",
}


class Index:
    """A forward index of `TEXTS`, as far as it is asked for."""

    words = sorted({word for text in TEXTS.values() for word in text.split()})
    vocabulary = words
    frequency = np.array([sum(w in text.split() for text in TEXTS.values()) for w in words])

    def rows(self, doc_ids):
        return np.array([list(TEXTS).index(doc_id) for doc_id in doc_ids])

    def tokens(self, rows):
        texts = [list(TEXTS.values())[row].split() for row in rows]
        ids = [self.words.index(word) for text in texts for word in text]
        return np.array(ids, np.int32), np.cumsum([0, *map(len, texts)])

    def idf(self, _field):
        return np.log(1 + len(TEXTS) / self.frequency)


def _plain(doc_ids, scores, share, count):
    """The same, document by document."""
    idf = dict(zip(Index.words, Index().idf("text"), strict=True))

    def vector(doc_id):
        words = TEXTS[doc_id].split()
        return {w: (1 + np.log(words.count(w))) * idf[w] for w in words}

    def cosine(one, other):
        length = np.sqrt(sum(v**2 for v in one.values()) * sum(v**2 for v in other.values()))
        return sum(one[w] * other.get(w, 0) for w in one) / length if length else 0.0

    vectors = [vector(doc_id) for doc_id in doc_ids]
    mixed = []
    for place, score in enumerate(scores):
        near = [(cosine(vectors[place], v), s) for v, s in zip(vectors, scores, strict=True)]
        del near[place]
        near = sorted(near, key=lambda pair: -pair[0])[:count]
        total = sum(weight for weight, _ in near)
        mean = sum(w * s for w, s in near) / total if total else score
        mixed.append((1 - share) * score + share * mean)
    return mixed


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("rows", [2, 256])
def test_scores_are_mixed_with_the_weighted_mean_of_the_nearest(monkeypatch, count, rows):
    monkeypatch.setattr("irplatform_ltr.pools._ROWS", rows)
    scores = np.array([3.0, -1.0, 2.0, 0.5, 7.0, 4.0])
    options = NeighbourOptions(share=0.4, count=count)
    values = smoothed(Index(), tuple(TEXTS), scores, options)
    assert np.allclose(values, _plain(tuple(TEXTS), scores, 0.4, count))
    assert values[4:] == pytest.approx(scores[4:]), "which share no word with another"
    assert scores.tolist() == [3.0, -1.0, 2.0, 0.5, 7.0, 4.0]


def test_nothing_and_one_document():
    assert smoothed(Index(), (), np.zeros(0), NeighbourOptions(share=0.4)).tolist() == []
    assert smoothed(Index(), ("a",), np.ones(1), NeighbourOptions(share=0.4)).tolist() == [1.0]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_ltr_mixes_scores_once_it_knows_those_of_all_candidates(tmp_path, monkeypatch, share):
    resources = resources_in(tmp_path, monkeypatch)
    reranker = fitted(resources, tmp_path, features=("lexical",), neighbours={"share": share})
    plain = prepared(resources, features=("lexical",))
    (tmp_path / "saved").mkdir()
    reranker.save(tmp_path / "saved")
    plain.load(tmp_path / "saved")
    (topic,) = topics_of([30])
    documents = resources.documents(topic.candidates)
    before = reranker.score(topic.topic, documents)
    assert before == plain.score(topic.topic, documents), "a document's own, whatever others are"
    after = reranker.rescore(topic.topic, documents, before)
    options = NeighbourOptions(share=share)
    assert np.array_equal(
        after, smoothed(resources.forward_index(), documents.ids, np.array(before), options)
    )
    assert (np.ptp(after) < np.ptp(before)) == (share > 0)
