"""Features that are not learned: each document's are computed once."""

from dataclasses import replace

import numpy as np
import pytest
from feature_resources import feature_resources

from irplatform.features.calculator import Calculator, forget_features
from irplatform.features.groups import open_groups
from irplatform.plugin import Documents, FeatureGroup, Topic
from irplatform.text.vector_source import VectorSource

IDS = [f"d{n}" for n in range(9)]


class Counted(FeatureGroup):
    """The number of a document and of its topic; remembers what it was asked for."""

    asked: list = []  # noqa: RUF012

    def names(self):
        return ("document", "topic")

    def compute(self, topic, documents):
        type(self).asked += [(topic.id, doc_id) for doc_id in documents.ids]
        rows = [[float(doc_id[1:]), float(topic.id[1:])] for doc_id in documents.ids]
        return np.array(rows, dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def resources(tmp_path):
    Counted.asked = []
    return feature_resources(
        tmp_path, dict.fromkeys(IDS, "some words"), {"x": np.ones(2)}, groups={"counted": Counted}
    )


@pytest.fixture
def group(resources):
    return open_groups(["counted"], {}, resources)[0]


def _batch(resources, **topics):
    return [(Topic(name, "words"), resources.documents(ids)) for name, ids in topics.items()]


def test_only_documents_that_are_new_are_computed(resources, group):
    calculator = Calculator(resources)
    calculator.compute(group, _batch(resources, t1=IDS[:3]))
    matrices = calculator.compute(group, _batch(resources, t1=["d4", "d1", "d2"], t2=["d1"]))
    assert matrices[0].tolist() == [[4, 1], [1, 1], [2, 1]]
    assert matrices[1].tolist() == [[1, 2]]
    assert Counted.asked == [*(("t1", d) for d in IDS[:3]), ("t1", "d4"), ("t2", "d1")]


def test_forgotten_features_are_computed_anew(resources, group):
    for times in (1, 1, 2):
        if times == 2:
            forget_features()
        Calculator(resources).compute(group, _batch(resources, t1=IDS[:1]))
        assert len(Counted.asked) == times


def test_features_of_other_word_vectors_are_computed_anew(resources, group, tmp_path):
    """A checkpoint brings its own, and shares the forward index with all others."""
    for number, source in enumerate(({}, {}, {"0": tmp_path}), start=1):
        resources.source = VectorSource(ready=source)
        Calculator(resources).compute(group, _batch(resources, t1=IDS[:1]))
        assert len(Counted.asked) == (1 if number < 3 else 2)


def test_a_topic_twice_in_a_batch_and_a_document_twice_in_a_topic(resources, group):
    topic = Topic("t1", "words")
    batch = [(topic, resources.documents(ids)) for ids in (["d1", "d1"], ["d2", "d1"], [])]
    matrices = Calculator(resources).compute(group, batch)
    assert [matrix[:, 0].tolist() for matrix in matrices] == [[1, 1], [2, 1], []]
    assert matrices[2].shape == (0, 2)
    assert sorted(Counted.asked) == [("t1", "d1"), ("t1", "d2")]


def test_documents_that_were_read_are_not_read_again_nor_looked_for_in_every_topic(resources):
    """Looking through the batch for each topic takes a minute for ten thousand of them."""
    compared, inputs = [], []

    class Compared(Documents):
        @property
        def ids(self):
            compared.append(1)
            return super().ids

    class Kept(Counted):
        def compute_batch(self, batch):
            inputs.extend(documents for _, documents in batch)
            return super().compute_batch(batch)

    (group,) = open_groups(["kept"], {}, replace(resources, groups={"kept": Kept}))
    batch = [(Topic(f"t{n}", "words"), Compared((f"d{n}",), lambda _: [])) for n in range(200)]
    Calculator(resources).compute(group, batch)
    assert len(compared) < 20 * len(batch)
    assert inputs == [documents for _, documents in batch]


def test_what_the_cache_holds_is_not_computed_again(resources, group):
    topics = [(Topic(f"t{n}", "words"), tuple(IDS[n : n + 4])) for n in range(3)]
    Calculator(resources).compute_all(group, topics)
    first = len(Counted.asked)
    other = feature_resources(
        resources.folder.parent / "more", resources.texts, {"x": np.ones(2)},
        groups={"counted": Counted},
    )  # fmt: skip
    other.folder = resources.folder  # a new process: the same cache, nothing in memory
    calculator = Calculator(other)
    calculator.remember(group, topics)
    matrices = calculator.compute(group, [(t, other.documents(ids[::-1])) for t, ids in topics])
    assert [matrix[:, 0].tolist() for matrix in matrices] == [
        [float(d[1:]) for d in ids[::-1]] for _, ids in topics
    ]
    assert len(Counted.asked) == first == 12


def test_what_another_version_kept_is_computed_anew(resources, group, monkeypatch):
    """The version stands for the code of our groups, on which nothing else in the key depends."""
    topics = [(Topic("t1", "words"), tuple(IDS[:4]))]
    for version, count in (("1.0.0", 4), ("1.0.0", 4), ("1.1.0", 8)):
        forget_features()
        monkeypatch.setattr("irplatform.features.calculator.__version__", version)
        Calculator(resources).compute_all(group, topics)
        assert len(Counted.asked) == count


def test_what_is_too_much_is_forgotten_and_computed_again(resources, group, monkeypatch):
    monkeypatch.setattr("irplatform.features.calculator._REMEMBERED", 40)
    calculator = Calculator(resources)
    for _ in range(2):
        for name in ("t1", "t2"):
            matrix = calculator.compute(group, _batch(resources, **{name: IDS[:4]}))[0]
            assert matrix[:, 0].tolist() == [0, 1, 2, 3]
    assert len(Counted.asked) == 16
