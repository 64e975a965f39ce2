"""Learning to rank as the harness sees it: groups, folds, saving, and what it refuses."""

import json

import numpy as np
import pytest
from feature_resources import feature_resources
from small import labelled, words

from irplatform.errors import InputError, PluginError
from irplatform.plugin import (
    FeatureGroup,
    Field,
    Options,
    Reranker,
    TrainableFeatureGroup,
    TrainableReranker,
    TrainingData,
)
from irplatform_ltr.groups.lexical import LexicalMatches
from irplatform_ltr.groups.stacking import Stacked
from irplatform_ltr.options import LtrOptions
from irplatform_ltr.reranker import LearningToRank

TOPICS = 40
QUERIES = words(TOPICS)
NOISE = [f"{word}u" for word in words(150)]


class Fixed(FeatureGroup):
    """Says whether a document is one of the first three of its topic, and how often it is asked."""

    calls = 0

    def names(self):
        return ("inside", "noise")

    def compute(self, topic, documents):
        type(self).calls += 1
        inside = [float(int(d.split("d")[1]) < 3 and d.startswith(topic.id)) for d in documents.ids]
        return np.array([inside, [len(d) for d in documents.ids]], dtype=np.float32).T


class NeedsYear(Fixed):
    """Never applies."""

    def lacks(self, topics):
        return "the topics have no year."


class Broken(Fixed):
    """Gives what it should not."""

    def compute(self, topic, documents):
        values = super().compute(topic, documents)
        values[0, 1] = np.nan
        return values


class Judgments(TrainableFeatureGroup):
    """Remembers which topics and documents it learned from: what leaks shows as 1."""

    def names(self):
        return ("topic_known", "document_known", "topics")

    def fit(self, data):
        self.topics = [t.topic.id for t in data.training]
        self.documents = sorted({d for t in data.training for d in t.judgments})

    def compute(self, topic, documents):
        known = float(topic.id in self.topics)
        return np.array(
            [[known, float(d in self.documents), len(self.topics)] for d in documents.ids],
            dtype=np.float32,
        ).reshape(-1, 3)

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps([self.topics, self.documents]))

    def load(self, folder):
        self.topics, self.documents = json.loads((folder / "known.json").read_text())


class RememberedJudgments(Judgments):
    """The same, and means to."""

    remembers_documents = True


class RateOptions(Options):
    """Options of the learner below."""

    rate: float = Field(1.0, description="what scores are multiplied by")


class Learning(TrainableReranker):
    """A reranker whose scores tell how many topics it has learned from."""

    Options = RateOptions

    def fit(self, data):
        self.known = len(data.training)

    def score(self, topic, documents):
        return [self.options.rate * self.known + int(d.split("d")[1]) for d in documents.ids]

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps(self.known))

    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())


class Length(Reranker):
    """Ranks by the length of ids."""

    def score(self, topic, documents):
        return [float(len(d)) for d in documents.ids]


GROUPS = {
    "fixed": Fixed,
    "needs-year": NeedsYear,
    "broken": Broken,
    "judgments": Judgments,
    "remembered": RememberedJudgments,
    "lexical": LexicalMatches,
    "stack": Stacked,
}


@pytest.fixture
def resources(tmp_path):
    random = np.random.default_rng(4)
    texts = {}
    for topic in range(TOPICS):
        for number in range(12):
            chosen = [*random.choice(NOISE, 9)]
            if number < 3:
                chosen[random.integers(9)] = QUERIES[topic]
            texts[f"t{topic}d{number}"] = " ".join(chosen)
    return feature_resources(
        tmp_path, texts, {"x": np.ones(2)}, groups=GROUPS,
        rerankers={"learning": Learning, "length": Length},
    )  # fmt: skip


def _topics(numbers, shared=()):
    return [
        labelled(
            f"t{n}",
            [*(f"t{n}d{d}" for d in range(12)), *shared],
            {f"t{n}d{d}": int(d < 3) for d in range(8)} | dict.fromkeys(shared, 0),
            query=QUERIES[n],
        )
        for n in numbers
    ]


def _data(folder, training=range(20), shared=()):
    folder.mkdir(exist_ok=True)
    return TrainingData(_topics(training, shared), _topics(range(20, 25)), folder)


def _prepared(resources, **options):
    tree = {"trees": 20, "leaf_documents": 3}
    reranker = LearningToRank(LtrOptions.model_validate({"tree": tree, **options}))
    reranker.prepare(resources)
    return reranker


def _fitted(resources, tmp_path, shared=(), **options):
    reranker = _prepared(resources, **options)
    reranker.fit(_data(tmp_path / "work", shared=shared))
    return reranker


def _score(reranker, resources, topic):
    return reranker.score(topic.topic, resources.documents(topic.candidates))


@pytest.mark.parametrize("learner", ["trees", "linear", "average"])
def test_it_learns_from_lexical_features(resources, tmp_path, learner):
    reranker = _fitted(resources, tmp_path, features=("lexical",), learner=learner)
    unseen = _topics(range(25, 40))
    firsts = [int(np.argmax(_score(reranker, resources, topic))) for topic in unseen]
    assert np.mean(np.array(firsts) < 3) >= 0.95


def test_scores_do_not_depend_on_number_or_order_of_documents(resources, tmp_path):
    reranker = _fitted(resources, tmp_path, features=("lexical", "fixed"))
    first, second = _topics([30, 31])
    whole = _score(reranker, resources, first)
    ids = first.candidates
    turned = reranker.score(first.topic, resources.documents(ids[::-1]))
    assert turned[::-1] == whole
    assert reranker.score(first.topic, resources.documents(ids[4:6])) == whole[4:6]
    batch = [(t.topic, resources.documents(t.candidates)) for t in (second, first)]
    assert reranker.score_batch(batch)[1] == whole
    assert reranker.score(first.topic, resources.documents([])) == []


def test_a_group_is_asked_once_and_never_about_nothing(resources, tmp_path, monkeypatch):
    reranker = _fitted(resources, tmp_path, features=("fixed",))
    batches = []

    def compute_batch(self, batch):
        batches.append(len(batch))
        return FeatureGroup.compute_batch(self, batch)

    monkeypatch.setattr(Fixed, "compute_batch", compute_batch)
    topic = _topics([30])[0]
    first = _score(reranker, resources, topic)
    assert _score(reranker, resources, topic) == first
    assert batches == [1]


def test_what_was_saved_scores_alike(resources, tmp_path):
    options = {"features": ("lexical", "judgments"), "stack": ("learning", "length")}
    reranker = _fitted(resources, tmp_path, **options)
    folder = tmp_path / "saved"
    folder.mkdir()
    reranker.save(folder)
    again = _prepared(resources, **options)
    again.load(folder)
    for topic in _topics([30, 31]):
        assert _score(again, resources, topic) == _score(reranker, resources, topic)


def test_training_again_gives_the_same_bytes(resources, tmp_path):
    saved = []
    for name in ("a", "b"):
        reranker = _fitted(resources, tmp_path, features=("fixed", "lexical"), stack=("learning",))
        (tmp_path / name).mkdir()
        reranker.save(tmp_path / name)
        files = sorted(p for p in (tmp_path / name).rglob("*") if p.is_file())
        saved.append([(p.relative_to(tmp_path / name), p.read_bytes()) for p in files])
    assert saved[0] == saved[1]


def test_a_group_that_does_not_apply_is_left_out_and_said(resources, tmp_path):
    reranker = _fitted(resources, tmp_path, features=("fixed", "needs-year"))
    assert reranker.feature_names == ["fixed.inside", "fixed.noise"]
    assert resources.told == ["features 'needs-year' are left out: the topics have no year."]
    with pytest.raises(InputError, match="no group of features applies"):
        _fitted(resources, tmp_path, features=("needs-year",))


def test_a_number_that_is_not_finite_names_its_feature(resources, tmp_path):
    with pytest.raises(PluginError, match=r"'broken.noise' of topic t0 is not finite"):
        _fitted(resources, tmp_path, features=("broken",))


def test_settings_of_a_group_that_is_not_used_are_refused(resources, tmp_path):
    with pytest.raises(InputError, match=r"settings.lexical has no effect"):
        _fitted(resources, tmp_path, features=("fixed",), settings={"lexical": {"features": []}})


def test_a_model_of_other_features_is_refused(resources, tmp_path):
    reranker = _fitted(resources, tmp_path, features=("fixed",))
    (tmp_path / "saved").mkdir()
    reranker.save(tmp_path / "saved")
    path = tmp_path / "saved" / "ltr.json"
    path.write_text(path.read_text().replace("fixed.inside", "fixed.outside"))
    with pytest.raises(InputError, match="other features now"):
        _prepared(resources, features=("fixed",)).load(tmp_path / "saved")


def test_members_and_repeated_runs_compute_training_features_once(resources, tmp_path):
    Fixed.calls = 0
    _fitted(resources, tmp_path, features=("fixed",))
    once = Fixed.calls
    _fitted(resources, tmp_path, features=("fixed",), learner="linear")
    assert Fixed.calls == once == 25  # of training and validation topics


class TestOutOfFold:
    """What learned features may have seen of the topics that they are computed for."""

    def _seen(self, resources, tmp_path, monkeypatch, group, shared=(), data=None, **options):
        """The training table's features of a group."""
        from irplatform_ltr.learners import ensemble

        tables = []
        original = ensemble.Ensemble.fit
        monkeypatch.setattr(
            ensemble.Ensemble, "fit",
            lambda self, table, seed: (tables.append(table), original(self, table, seed)),
        )  # fmt: skip
        reranker = _prepared(resources, features=("fixed", group), folds=4, **options)
        reranker.fit(data or _data(tmp_path / "work", shared=shared))
        return tables[0].features[:, 2:], reranker

    def test_no_training_topic_is_known_to_its_features(self, resources, tmp_path, monkeypatch):
        seen, reranker = self._seen(resources, tmp_path, monkeypatch, "judgments")
        assert not seen[:, 0].any()
        assert set(seen[:, 2]) == {
            12,
            13,
        }  # of 25 in four folds, two apart: its own, and one to stop
        unseen = _topics([30])[0]
        found = reranker.features([(unseen.topic, resources.documents(unseen.candidates))])[0]
        assert set(found[:, 4]) == {18}  # topics that are not ours: learned from all but one fold

    def test_nor_is_a_validation_topic(self, resources, tmp_path, monkeypatch):
        _, reranker = self._seen(resources, tmp_path, monkeypatch, "judgments")
        batch = [(t.topic, resources.documents(t.candidates)) for t in _topics([3, 30, 21, 4])]
        found = reranker.features(batch)
        assert not any(values[:, 2].any() for values in found)
        assert [set(values[:, 4]) == {18} for values in found] == [False, True, False, False]

    def test_members_share_what_is_learned(self, resources, tmp_path, monkeypatch):
        def kept():
            return {path.name for path in (tmp_path / "artifacts").glob("learned-features-*")}

        self._seen(resources, tmp_path / "a", monkeypatch, "judgments", data=_data(tmp_path / "a"))
        first = kept()
        assert len(first) == 5  # four folds and all topics
        other = TrainingData(_topics(range(5, 25)), _topics(range(5)), tmp_path / "b")
        self._seen(resources, tmp_path / "b", monkeypatch, "judgments", data=other)
        assert kept() == first

    def test_nor_are_judgments_of_its_documents_in_other_topics(
        self, resources, tmp_path, monkeypatch
    ):
        shared = ["t39d1", "t39d2"]  # judged by every training topic
        seen, _ = self._seen(resources, tmp_path, monkeypatch, "judgments", shared)
        assert not seen[:, 1].any()

    def test_unless_the_group_means_to_remember_documents(self, resources, tmp_path, monkeypatch):
        shared = ["t39d1", "t39d2"]
        seen, _ = self._seen(resources, tmp_path, monkeypatch, "remembered", shared)
        assert seen[:, 1].sum() == 20 * len(shared)
        assert not seen[:, 0].any()

    def test_or_what_saw_them_judged_is_kept_apart(self, resources, tmp_path, monkeypatch):
        shared = ["t39d1", "t39d2"]
        seen, reranker = self._seen(
            resources, tmp_path, monkeypatch, "judgments", shared, hide_judged=False
        )
        blind, seeing = seen[:, :3], seen[:, 3:]
        assert not blind[:, 1].any()
        assert seeing[:, 1].sum() == 20 * len(shared)
        assert not seen[:, [0, 3]].any()
        assert reranker.feature_names[-6::3] == [
            "judgments.topic_known",
            "judgments-seeing.topic_known",
        ]

    def test_learners_that_only_read_do_not_read_what_saw_them_judged(
        self, resources, tmp_path, monkeypatch
    ):
        from irplatform_ltr.learners import ensemble

        widths = []
        fit = ensemble.Ensemble.fit
        monkeypatch.setattr(
            ensemble.Ensemble, "fit",
            lambda self, t, seed: (widths.append(t.features.shape[1]), fit(self, t, seed)),
        )  # fmt: skip
        self._seen(resources, tmp_path, monkeypatch, "judgments", hide_judged=False)
        assert sorted(set(widths)) == [2 + 3, 2 + 6]

    def test_both_variants_are_kept(self, resources, tmp_path, monkeypatch):
        _, reranker = self._seen(
            resources, tmp_path, monkeypatch, "judgments", ["t39d1"], hide_judged=False
        )
        (tmp_path / "kept").mkdir()
        reranker.save(tmp_path / "kept")
        read = _prepared(resources, features=("fixed", "judgments"), folds=4, hide_judged=False)
        read.load(tmp_path / "kept")
        assert read.feature_names == reranker.feature_names
        unseen = _topics([30])[0]
        asked = unseen.topic, resources.documents(unseen.candidates)
        assert read.score(*asked) == reranker.score(*asked)

    def test_who_learns_for_a_fold_is_told_which_topics_it_will_score(
        self, resources, tmp_path, monkeypatch
    ):
        """So that nothing of theirs is learned from a file of pairs, either."""
        lessons = []
        fit = Judgments.fit
        monkeypatch.setattr(Judgments, "fit", lambda self, d: (lessons.append(d), fit(self, d)))
        self._seen(resources, tmp_path, monkeypatch, "judgments")
        ids = [
            [{t.topic.id for t in (*d.training, *d.validation)}, {t.id for t in d.unseen}]
            for d in lessons
        ]
        everything = {f"t{n}" for n in range(25)}
        assert [learned | unseen for learned, unseen in ids] == [everything] * 5
        assert not any(learned & unseen for learned, unseen in ids)
        assert [len(unseen) for _, unseen in ids] == [7, 6, 6, 6, 0]

    def test_topics_of_one_article_stay_together(self, resources, tmp_path, monkeypatch):
        data = _data(tmp_path / "work")
        for number, topic in enumerate(data.training):
            topic.topic.fields["citing_id"] = f"article {number // 10}"
        seen, _ = self._seen(resources, tmp_path, monkeypatch, "judgments", data=data)
        assert set(seen[:, 2]) == {3, 12}  # ten sentences of the other article, or none of them


def test_stacked_rerankers_are_trained_out_of_fold_and_take_settings(resources, tmp_path):
    settings = {"stack": {"settings": {"learning": {"rate": 100.0}}}}
    reranker = _fitted(
        resources, tmp_path, features=("fixed",), stack=("learning",), settings=settings
    )
    assert reranker.feature_names[-1] == "stack.learning"
    unseen = _topics([30])[0]
    found = reranker.features([(unseen.topic, resources.documents(unseen.candidates))])[0]
    assert found[:, -1].tolist() == [2000.0 + d for d in range(12)]


def test_it_stands_alone_where_it_reads_a_first_stage():
    assert LearningToRank(LtrOptions()).holds_first_stage()
    assert not LearningToRank(LtrOptions(features=("lexical", "concepts"))).holds_first_stage()
