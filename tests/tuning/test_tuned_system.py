"""A trial trains as many members as were asked for, and its score depends on their number."""

from types import SimpleNamespace

import pytest

from irplatform.api import RunSettings, TuneSettings, tune
from irplatform.errors import InputError
from irplatform.evaluation.judgments import Judgments
from irplatform.registry import registry
from irplatform.storage import fingerprint
from irplatform.tuning.systems import TunedSystem
from irplatform.word_vectors import VectorSource

RESOURCES = SimpleNamespace(
    index_artifact=lambda: SimpleNamespace(fingerprint="index"),
    source=VectorSource(),
    seed=1,
    device="cpu",
    model_threads=1,
)


def _system(rerankers, resources=RESOURCES, **members):
    judgments = Judgments({}, None, ["nDCG@20"])
    return TunedSystem(
        registry(), ["bm25"], rerankers, {}, [], judgments, 10, 5, None, resources, **members
    )


def test_scores_depend_on_the_number_of_members():
    usual, one = _system(["drmm"]).depends_on(), _system(["drmm"], members=1).depends_on()
    assert one == {**usual, "members": 1}
    assert _system(["drmm"], members=5).depends_on() == usual
    assert _system([], members=1).depends_on() == _system([]).depends_on()


@pytest.mark.parametrize("rerankers", [[], ["drmm"]])
def test_scores_depend_on_word_vectors_and_the_device(tmp_path, rerankers):
    """Of retrievers, too: some search with vectors, and with models."""
    imported = tmp_path / "vectors.txt"
    imported.write_text("1 2\nmelanoma 1 2\n")
    others = [
        {},
        {"source": VectorSource(imported=imported)},
        {"source": VectorSource(extra_text=(imported,))},
        {"device": "cuda"},
    ]
    resources = [SimpleNamespace(**{**vars(RESOURCES), **other}) for other in others]
    marks = {fingerprint(_system(rerankers, each).depends_on()) for each in resources}
    assert len(marks) == len(others)


@pytest.mark.java
def test_trials_train_the_members_that_were_asked_for(monkeypatch):
    trained = []

    def rerank(choice, *_):
        trained.append(choice.members)
        raise InputError("enough was seen")

    monkeypatch.setattr("irplatform.pipeline.rerank", rerank)
    settings = RunSettings("demo", rerankers=["drmm"], members=2)
    with pytest.raises(InputError, match="enough was seen"):
        tune(settings, TuneSettings(["loop.epochs=1:2"], trials=1))
    assert trained == [2]


def test_members_have_no_effect_where_nothing_learns():
    with pytest.raises(InputError, match="--members has no effect"):
        tune(RunSettings("demo", members=2), TuneSettings(["k1"]))
