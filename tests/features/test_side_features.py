"""Features for the last layer of a neural model: standardized, of a fixed width, saved."""

import json

import numpy as np
import pytest
from feature_resources import feature_resources
from small import chosen, labelled

from irplatform.errors import InputError
from irplatform.features.calculator import Calculator
from irplatform.features.side_features import SideFeatures
from irplatform.plugin import FeatureGroup, TrainableFeatureGroup, TrainingData
from irplatform.registry.dependencies import FEATURES_FORMAT
from irplatform.training.samplers import Pool

IDS = [f"d{n}" for n in range(12)]


class Numbers(FeatureGroup):
    """A document's number, the same for all, and one that is large for a single document."""

    def names(self):
        return ("number", "same", "rare")

    def compute(self, topic, documents):
        numbers = [float(d[1:]) for d in documents.ids]
        columns = [numbers, [3.0] * len(numbers), [1e6 * (n == 11) for n in numbers]]
        return np.array(columns, dtype=np.float32).T.reshape(-1, 3)


class NeedsGene(Numbers):
    """Needs a field."""

    def lacks(self, topics):
        return "" if any(topic.fields.get("gene") for topic in topics) else "no gene."


class Known(TrainableFeatureGroup):
    """Whether a topic was learned from."""

    def names(self):
        return ("known",)

    def fit(self, data):
        self.topics = [t.topic.id for t in data.training]

    def compute(self, topic, documents):
        return np.full((len(documents), 1), topic.id in self.topics, dtype=np.float32)

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps(self.topics))

    def load(self, folder):
        self.topics = json.loads((folder / "known.json").read_text())


def _reads(names, settings=None):
    """A reranker that reads groups of features."""
    return chosen("delta", features=names, feature_settings=settings or {})


def dependencies(names, settings=None):
    return _reads(names, settings).describe_reads()


def _with_knowledge(names, settings, bases):
    return _reads(names, settings).with_knowledge(bases).feature_settings


@pytest.fixture
def resources(tmp_path):
    return feature_resources(
        tmp_path, dict.fromkeys(IDS, "words"), {"x": np.ones(2)},
        groups={"numbers": Numbers, "needs-gene": NeedsGene, "known": Known},
    )  # fmt: skip


def _topics(count, start=0):
    return [labelled(f"t{start + n}", IDS[:8], {"d0": 1, "d9": 0}) for n in range(count)]


def _pool(topic, *doc_ids):
    return Pool.of(topic, doc_ids, topic.judgments)


def _fitted(resources, tmp_path, *names):
    side = SideFeatures(names, {}, resources)
    training = _topics(10)
    data = TrainingData(training, _topics(3, 10), tmp_path)
    pools = [_pool(topic, "d0", "d4", "d8") for topic in training]
    return side, side.fit(data, pools), pools


def test_mean_and_deviation_are_those_of_the_training_documents(resources, tmp_path):
    side, matrices, _ = _fitted(resources, tmp_path, "numbers")
    numbers = np.concatenate(matrices)[:, 0]
    assert abs(numbers.mean()) < 1e-6
    assert abs(numbers.std() - 1) < 1e-6
    topic = _topics(1, 50)[0].topic
    assert side.matrix(topic, ["d4", "d8"])[:, 0].tolist() == matrices[0][1:, 0].tolist()
    assert side.columns == ("numbers.number", "numbers.same", "numbers.rare")


def test_what_does_not_vary_in_training_says_nothing(resources, tmp_path):
    side, matrices, _ = _fitted(resources, tmp_path, "numbers")
    assert not np.concatenate(matrices)[:, 1:].any()
    assert not side.matrix(_topics(1)[0].topic, ["d11"])[:, 1:].any()


def test_no_feature_is_beyond_five_deviations(resources, tmp_path):
    side, _, pools = _fitted(resources, tmp_path, "numbers")
    full_pools = [_pool(pool.labelled, *IDS) for pool in pools] * 3
    side.fit(TrainingData(_topics(10), (), tmp_path), full_pools)
    # one document in twelve has a million: √11 deviations
    assert side.matrix(_topics(1)[0].topic, IDS).max() == pytest.approx(np.sqrt(11), rel=1e-3)
    side.fit(TrainingData(_topics(10), (), tmp_path), pools)
    # of 0, 4 and 8 the deviation is √(32 / 3)
    near, far, below = side.matrix(_topics(1)[0].topic, ["d12", "d99", "d-99"])[:, 0].tolist()
    assert near == pytest.approx(8 / np.sqrt(32 / 3))
    assert (far, below) == (5, -5)


def test_a_document_has_the_same_features_beside_any_others(resources, tmp_path):
    side, _, _ = _fitted(resources, tmp_path, "numbers", "known")
    first, second = (t.topic for t in _topics(2, 20))
    matrix = side.matrix(first, IDS)
    assert np.array_equal(side.matrix(first, IDS[::-1])[::-1], matrix)
    matrices = side.matrices([(second, IDS[:2]), (first, IDS[3:5])])
    assert np.array_equal(matrices[1], matrix[3:5])
    assert side.matrix(first, []).shape == (0, 4)


def test_a_group_that_topics_have_nothing_for_is_no_part_of_what_features_add(resources, tmp_path):
    side, _, _ = _fitted(resources, tmp_path, "needs-gene", "numbers")
    values = side.matrix(_topics(1)[0].topic, ["d8"])[0]
    parts = side.contributions(values, values * np.arange(6))
    assert [group["group"] for group in parts["groups"]] == ["numbers"]
    assert {feature["feature"].partition(".")[0] for feature in parts["features"]} == {"numbers"}
    number = next(
        feature for feature in parts["features"] if feature["feature"] == "numbers.number"
    )
    assert number["adds"] == values[3] * 3 != 0


def test_a_group_that_topics_have_nothing_for_is_zero_and_keeps_its_width(resources, tmp_path):
    side, matrices, _ = _fitted(resources, tmp_path, "needs-gene", "numbers")
    assert side.width == 6
    assert matrices[0].shape == (3, 6)
    assert not matrices[0][:, :3].any()
    assert matrices[0][:, 3].any()
    assert not side.matrix(_topics(1)[0].topic, IDS)[:, :3].any()
    assert resources.told == ["features 'needs-gene' are left out: no gene."]


def test_features_that_are_learned_do_not_know_the_topic(resources, tmp_path):
    side, matrices, _ = _fitted(resources, tmp_path, "known", "numbers")
    assert len({values[0, 0] for values in matrices}) == 1  # all unknown: nothing varies
    assert side.matrix(_topics(1)[0].topic, IDS).shape == (12, 4)


@pytest.mark.parametrize("names", [("numbers",), ("known", "needs-gene", "numbers")])
def test_what_was_saved_gives_the_same(resources, tmp_path, names):
    side, _, _ = _fitted(resources, tmp_path, *names)
    place = tmp_path / "saved"
    place.mkdir()
    side.save(place)
    again = SideFeatures(names, {}, resources)
    again.load(place)
    for topic in _topics(2, 9):
        assert np.array_equal(again.matrix(topic.topic, IDS), side.matrix(topic.topic, IDS))
    other = SideFeatures(("numbers", "needs-gene"), {}, resources)
    with pytest.raises(InputError, match="other features"):
        other.load(place)


def test_without_groups_there_is_nothing_to_fit_or_save(resources, tmp_path):
    side = SideFeatures((), {}, resources)
    assert side.matrix(_topics(1)[0].topic, IDS).shape == (12, 0)
    (tmp_path / "saved").mkdir()
    side.save(tmp_path / "saved")
    assert not any((tmp_path / "saved").iterdir())
    side.load(tmp_path / "saved")


def test_features_that_were_not_learned_are_neither_computed_nor_saved(resources, tmp_path):
    side = SideFeatures(("numbers",), {}, resources)
    with pytest.raises(InputError, match="trained without the features numbers"):
        side.matrix(_topics(1)[0].topic, IDS)
    with pytest.raises(InputError, match="trained without the features numbers"):
        side.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_only_groups_that_read_knowledge_depend_on_it(monkeypatch):
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: {"mesh": None})
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge",
        lambda _names: type("Knowledge", (), {"fingerprint": "abc"}),
    )
    base = {"feature_format": FEATURES_FORMAT}
    assert dependencies(("lexical", "document")) == base
    assert dependencies(("lexical", "concepts")) == {**base, "knowledge": "abc"}


def test_what_reads_features_depends_on_how_our_groups_compute_them(monkeypatch):
    """A model that learned from features is not for those that the same groups compute later."""
    assert dependencies(()) == {}
    before = dependencies(("lexical",))
    monkeypatch.setattr("irplatform.registry.dependencies.FEATURES_FORMAT", -1)
    assert dependencies(("lexical",)) != before


def test_groups_that_are_told_which_knowledge_bases_depend_on_no_others(monkeypatch):
    everything = {"mesh": None, "hgnc": None, "hetionet": None}
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: everything)
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge",
        lambda names: type("Knowledge", (), {"fingerprint": "+".join(names)}),
    )
    names = ("lexical", "concepts", "genes")
    settings = _with_knowledge(names, {}, ("mesh", "hgnc"))
    assert settings == {name: {"knowledge": ["mesh", "hgnc"]} for name in ("concepts", "genes")}
    base = {"feature_format": FEATURES_FORMAT}
    facts = dependencies(names, settings)
    assert facts == {**base, "knowledge": "mesh+hgnc"}
    original = {"genes": {"knowledge": ["hgnc"]}, "lexical": {}}
    settings = _with_knowledge(names, original, ("mesh",))
    assert settings == {**original, "concepts": {"knowledge": ["mesh"]}}
    facts = dependencies(names, settings)
    assert facts == {**base, "knowledge": ["hgnc", "mesh"]}


def test_wrong_names_of_groups_are_refused():
    with pytest.raises(InputError, match="unknown feature group 'no-such-group'"):
        dependencies(("no-such-group",))


def test_which_groups_hold_a_first_stage():
    assert Calculator.weigh_first_stage(("lexical", "first-stage"))
    assert Calculator.weigh_first_stage(("query-parts",))
    assert not Calculator.weigh_first_stage(("lexical", "concepts"))
    with pytest.raises(InputError, match="unknown feature group 'no-such-group'"):
        Calculator.weigh_first_stage(("lexical", "no-such-group"))
