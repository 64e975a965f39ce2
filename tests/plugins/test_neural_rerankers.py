"""What holds for every network: it learns, resumes, is saved, and refuses what is not its own."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from planted import (
    FEW,
    check_independence,
    check_resuming,
    planted_data,
    planted_resources,
    planted_topics,
    precision_at_1,
    saved,
    scores,
)
from pretrained_models import save_transformer_of_vectors

from irplatform.errors import InputError
from irplatform.plugin import Topic
from irplatform.registry.loading import registry
from irplatform.training.neural import NeuralReranker
from irplatform.training.validation import Validator
from irplatform_deepmatch.reranker import DeepMatch
from irplatform_deepsense.reranker import DeepSenSe
from irplatform_delta.reranker import Delta, Delta2017, SevMos
from irplatform_drmm.reranker import Drmm
from irplatform_encoders.crossencoder_reranker import VanillaBert
from irplatform_encoders.dual_ranking import DualEncoder
from irplatform_graphene.reranker import Graphene

if TYPE_CHECKING:
    from collections.abc import Callable

LEXICAL = ("bm25_text", "overlap_title")


@dataclass(frozen=True)
class Case:
    """A model as it is tested.

    Attributes:
        reranker: its class.
        options: small ones, with which it learns the planted task.
        others: options of networks whose weights it refuses.
        resumed: options of the training that is interrupted, in addition.
        resources: the fixture of its resources.
        atol: how much a score may change with the other documents.
        gpu: whether a GPU is asked here; `test_devices_agree` asks it of every model.
        begins_with: where the transformer of a seed is that it begins with, if it needs one.
    """

    reranker: type
    options: dict
    others: tuple = ()
    resumed: dict = field(default_factory=dict)
    resources: str = "planted"
    atol: float = 1e-5
    gpu: bool = False
    begins_with: Callable[[int], Path] | None = None

    def made(self, **changed):
        """The model, not yet prepared; `transformer` is the seed of what it begins with."""
        seed = changed.pop("transformer", 3)
        model = {"model": str(self.begins_with(seed))} if self.begins_with else {}
        options = {**self.options, **model, **changed}
        return self.reranker(self.reranker.Options.model_validate(options))

    def prepared(self, resources, **changed):
        """The model, untrained."""
        model = self.made(**changed)
        model.prepare(resources)
        return model

    def short(self, epochs=4):
        """Options of a short training."""
        return {**self.resumed, "loop": {**self.options["loop"], "epochs": epochs}}


@cache
def _folder():
    """Of what lasts as long as the tests do."""
    return TemporaryDirectory()


@cache
def _transformer(seed):
    """A transformer that knows the planted words' vectors."""
    folder = Path(_folder().name) / str(seed)
    vectors = planted_resources(folder / "planted").word_vectors
    return save_transformer_of_vectors(folder / "transformer", vectors, seed)


ADAM = {"optimizer": "adam", "learning_rate": 0.003, "batch_size": 32, "epochs": 12}
CLASSIFIER = {"filters": 16, "document_words": 12, "lexical": (), "loop": ADAM}
SEVMOS = {
    **CLASSIFIER, "dropout": 0.0, "classifier_dropout": 0.0, "loop": {**ADAM, "epochs": 15}
}  # fmt: skip
DRMM = {"document_words": 12, "stemmer": "none", "loop": {"batch_size": 64, "epochs": 10}}
DELTA = {
    "filters": 8, "hidden": 8, "document_words": 12, "lexical": (),
    "loop": {"batch_size": 64, "epochs": 30},
}  # fmt: skip
DEEPSENSE = {
    "projection": 16, "compare": 12, "side": (6, 4), "classifier": (12, 8), "lexical": (),
    "numbers": (), "categories": (), "groups": {"inside": 4, "outside": 1},
    "loop": {**ADAM, "learning_rate": 0.01, "batch_size": 64},
}  # fmt: skip
DUAL = {"stored_documents": 0, "loop": {"batch_size": 48, "epochs": 6}}
GRAPHENE = {
    "projection": 8, "hidden": 8, "graph_width": 8, "vector": 16, "filters": 8,
    "document_words": 12, "decoder": {"vocabulary": 50, "hidden": 8},
    "loop": {**ADAM, "learning_rate": 0.01, "batch_size": 64, "epochs": 4},
}  # fmt: skip
VANILLA_BERT = {"learning_rate": 0.004, "head_learning_rate": 0.004, "patience": 8}

CASES = {
    "deepmatch": Case(
        DeepMatch,
        {"document_words": 12, "loop": {"batch_size": 32, "epochs": 8}},
        others=({"hidden": 9},),
        gpu=True,
    ),
    "delta-2017": Case(Delta2017, CLASSIFIER, others=({"filters": 9},), gpu=True),
    "sevmos-c1": Case(
        SevMos,
        {**SEVMOS, "layers": 1, "width": 5},
        others=({"filters": 9}, {"layers": 2}, {"lexical": LEXICAL}),
        gpu=True,
    ),
    "sevmos-c3": Case(
        SevMos,
        SEVMOS,
        others=({"filters": 9}, {"layers": 2}, {"lexical": LEXICAL}),
        resumed={"dropout": 0.2, "lexical": LEXICAL},
    ),
    "sevmos-unstored": Case(SevMos, {**SEVMOS, "stored_documents": 0}, atol=1e-4, gpu=True),
    "drmm": Case(Drmm, DRMM, others=({"bins": 20},), gpu=True),
    "drmm-tv": Case(Drmm, {**DRMM, "gate": "vectors"}, others=({"bins": 20},), gpu=True),
    "delta": Case(
        Delta,
        DELTA,
        others=(
            {"filters": 9},
            {"hidden": 9},
            {"lexical": ("bm25_title",)},
            {"difference": False},
            {"delta_features": False},
            {"convolutions": 2},
        ),
    ),
    "deepsense": Case(
        DeepSenSe,
        DEEPSENSE,
        others=({"projection": 15}, {"compare_on": "projected"}, {"lexical": ("bm25_text",)}),
    ),
    "dual": Case(
        DualEncoder,
        {**DUAL, "words": "fixed"},
        others=({"words": "learned"}, {"word_weights": "idf"}, {"projection": 8}, {"shared": True}),
        atol=1e-6,
    ),
    "dual-learned": Case(
        DualEncoder, {**DUAL, "words": "learned"}, others=({"words": "fixed"},), atol=1e-6
    ),
    "graphene": Case(
        Graphene,
        GRAPHENE,
        others=({"vector": 8}, {"graph": False}, {"shortcut": False}),
        resources="planted_graph",
    ),
    "vanilla-bert": Case(
        VanillaBert,
        {"loop": {**VANILLA_BERT, "epochs": 8}},
        others=({"transformer": 4},),
        gpu=True,
        begins_with=_transformer,
    ),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    return request.param


# Not of the module: tests with cases of their own would be given those of the case before.
@pytest.fixture
def resources(case, request):
    return request.getfixturevalue(case.resources)


@pytest.fixture(scope="module")
def fitted(case, request, tmp_path_factory):
    model = case.prepared(request.getfixturevalue(case.resources))
    model.fit(planted_data(tmp_path_factory.mktemp("work")))
    return model


def test_every_network_is_tested():
    classes = {registration.system for registration in registry().rerankers.values()}
    networks = {system for system in classes if issubclass(system, NeuralReranker)}
    assert networks <= {case.reranker for case in CASES.values()}


@pytest.mark.parametrize("setting", ["mixture", "alone"])
def test_training_validates_on_what_its_loop_is_told(
    case, setting, resources, tmp_path, monkeypatch
):
    """The validation topics have scores of the first stage, so that a mixture is possible."""
    validated = []
    judge = Validator.__call__

    def noted(validator, score):
        validated.append("mixture" if len(validator._shares) > 1 else "alone")
        return judge(validator, score)

    monkeypatch.setattr(Validator, "__call__", noted)
    data = planted_data(tmp_path / "work", FEW)
    ranked = [replace(t, first_stage=tuple(range(len(t.candidates)))) for t in data.validation]
    loop = {**case.short(epochs=1)["loop"], "validate_on": setting}
    model = case.prepared(resources, **{**case.resumed, "loop": loop})
    model.fit(replace(data, validation=ranked))
    assert set(validated) == {setting}


def test_it_learns_what_only_word_vectors_tell(fitted, resources):
    assert precision_at_1(fitted, resources) >= 0.95


def test_scores_do_not_depend_on_the_other_documents(case, fitted, resources):
    check_independence(fitted, resources, case.atol)


def test_interrupted_training_goes_on_to_the_same_weights(case, resources, tmp_path, monkeypatch):
    check_resuming(lambda: case.made(**case.short()), resources, tmp_path, monkeypatch)


def test_another_seed_gives_other_weights(case, resources, tmp_path):
    weights = []
    for seed in (1, 2):
        model = case.prepared(replace(resources, seed=seed), **case.short(epochs=1))
        model.fit(planted_data(tmp_path / f"work-{seed}", FEW))
        weights.append(saved(model, tmp_path / f"saved-{seed}"))
    assert weights[0] != weights[1]


def test_what_was_saved_scores_the_same_when_loaded(case, fitted, resources, tmp_path):
    weights = saved(fitted, tmp_path / "saved")
    other = case.prepared(replace(resources, seed=5))
    assert saved(other, tmp_path / "untrained") != weights
    other.load(tmp_path / "saved")
    (topic,) = planted_topics([90])
    assert np.array_equal(scores(other, resources, topic), scores(fitted, resources, topic))
    assert saved(other, tmp_path / "again") == weights


@pytest.mark.parametrize(
    ("case", "changed"),
    [(case, changed) for case in CASES.values() for changed in case.others],
    ids=[f"{name}-{changed}" for name, case in CASES.items() for changed in case.others],
)
def test_weights_of_another_network_are_refused(case, changed, resources, tmp_path):
    saved(case.prepared(resources), tmp_path / "saved")
    with pytest.raises(InputError, match="are of another model"):
        case.prepared(resources, **changed).load(tmp_path / "saved")


def test_a_pickle_is_refused(case, resources, tmp_path):
    model = case.prepared(resources)
    saved(model, tmp_path / "saved")
    (weights,) = (tmp_path / "saved").glob("*.safetensors")
    weights.write_bytes(pickle.dumps({"weights": [1.0]}))
    with pytest.raises(InputError, match="not a safetensors file"):
        model.load(tmp_path / "saved")


def test_no_documents_no_scores(fitted, resources):
    assert fitted.score(Topic("t", "word"), resources.documents([])) == []


def test_topics_without_anything_to_tell_apart_are_an_error(case, resources, tmp_path):
    data = planted_data(tmp_path)
    nothing = [replace(topic, judgments={}) for topic in data.training]
    with pytest.raises(InputError, match="no training topic"):
        case.prepared(resources).fit(replace(data, training=nothing))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if case.gpu],
    ids=[name for name, case in CASES.items() if case.gpu],
)
def test_a_gpu_scores_as_the_cpu_does(case, resources, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    on_cpu = case.prepared(resources)
    on_gpu = case.prepared(replace(resources, device="cuda"), loop=case.short()["loop"])
    on_gpu.fit(planted_data(tmp_path / "work"))
    saved(on_gpu, tmp_path / "saved")
    on_cpu.load(tmp_path / "saved")
    for topic in planted_topics([82, 83, 84]):
        results = [scores(model, resources, topic) for model in (on_gpu, on_cpu)]
        assert np.allclose(*results, atol=1e-4)
