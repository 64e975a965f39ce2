"""Every reranker that learns: saved, it scores alike after loading, on the CPU and on a GPU.

The list is the registry's, so that a new model is tested without a word here. A small collection in
which relevant articles name what the query asks for, few epochs, default sizes.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from pretrained_models import save_transformer_of_vectors

from irplatform.collection_resources import CollectionResources
from irplatform.data import Corpus
from irplatform.errors import InputError
from irplatform.knowledge import add
from irplatform.plugin import Document, LabelledTopic, Topic, TrainableReranker, TrainingData
from irplatform.registry.loading import registry
from irplatform.system.arithmetic import choose_device
from irplatform.text import VectorOptions

pytestmark = [pytest.mark.java, pytest.mark.slow]

DISEASES = ("melanoma", "glioma", "lymphoma", "sarcoma", "leukemia", "myeloma")
GENES = ("braf", "egfr", "kras", "nras", "kit", "alk")
PAIRS = list(itertools.product(DISEASES, GENES))
QUICK = {
    "loop.epochs": 2,
    "epochs": 2,
    "vectors.dimensions": 24,
    "vectors.epochs": 2,
    "vectors.min_count": 1,
}
"""What makes training quick, wherever a reranker has such an option."""
LEARNING = sorted(
    name
    for name, registration in registry().rerankers.items()
    if issubclass(registration.system, TrainableReranker)
)
TOLERANCE = 1e-4


class Articles(Corpus):
    name, fields, fingerprint = "devices", (), "devices-1"

    def __iter__(self):
        for number, (disease, gene) in enumerate(PAIRS):
            words = f"Patients with {disease} and {gene} were treated in a trial of survival. "
            yield Document(f"p{number}", f"{gene} in {disease}", words * (1 + number % 3))
            yield Document(f"m{number}", f"A mouse assay of {gene}", f"Plasmids of {disease}.")


def _topics(numbers):
    ids = [f"{kind}{n}" for n in range(len(PAIRS)) for kind in "pm"]
    for number in numbers:
        disease, gene = PAIRS[number]
        grades = {
            f"p{n}": 2 if pair == (disease, gene) else 1
            for n, pair in enumerate(PAIRS)
            if disease in pair or gene in pair
        }
        grades |= {f"m{n}": 0 for n in range(0, len(PAIRS), 2)}
        first = tuple(float(-place) for place in range(len(ids)))
        yield LabelledTopic(Topic(f"t{number}", f"{disease} {gene}"), tuple(ids), grades, first)


@pytest.fixture(scope="module")
def resources(cache_of_module, tmp_path_factory):
    """With a knowledge base of the diseases and genes, for models with a concept graph."""
    table = tmp_path_factory.mktemp("knowledge") / "own.tsv"
    lines = ["id\tname\tkind\tsynonyms\tparents\txrefs"]
    lines += [f"D:{name}\t{name}\tdisease\t\t\t" for name in DISEASES]
    lines += [f"G:{name}\t{name.upper()}\tgene\t{name}\t\t" for name in GENES]
    table.write_text("\n".join(lines) + "\n")
    add("own", [table])
    return CollectionResources(Articles(), choose_device("cpu"), seed=1, threads=1)


@pytest.fixture(scope="module")
def saved(resources, tmp_path_factory):
    """Fit a reranker once, on the CPU; returns its settings, its folder and its scores."""
    results = {}

    def saved(name):
        if name not in results:
            registration = registry().reranker(name)
            settings = _nested(
                {key: value for key, value in QUICK.items() if key in registration.setting_names()}
            )
            if "model" in registration.setting_names():
                vectors = resources.vectors(VectorOptions(dimensions=24, epochs=2, min_count=1))
                folder = tmp_path_factory.mktemp("transformer")
                settings["model"] = str(save_transformer_of_vectors(folder, vectors))
            member = registration.create(settings)
            try:
                member.prepare(resources)
            except InputError as error:
                pytest.skip(f"{name} cannot be prepared here: {error}")
            workspace = tmp_path_factory.mktemp("work")
            member.fit(
                TrainingData(list(_topics(range(0, 36, 3))), list(_topics([1, 8, 15])), workspace)
            )
            folder = tmp_path_factory.mktemp("saved")
            member.save(folder)
            results[name] = (settings, folder, _scores(member, resources))
        return results[name]

    return saved


def _nested(settings):
    nested = {}
    for key, value in settings.items():
        option, _, part = key.partition(".")
        if part:
            nested.setdefault(option, {})[part] = value
        else:
            nested[option] = value
    return nested


def _scores(member, resources):
    batch = [(t.topic, resources.documents(t.candidates)) for t in _topics([2, 20, 35])]
    return np.array(member.score_batch(batch), dtype=np.float64)


def _loaded_scores(name, saved, resources):
    settings, folder, _ = saved(name)
    member = registry().reranker(name).create(settings)
    member.prepare(resources)
    member.load(folder)
    return _scores(member, resources)


@pytest.mark.parametrize("name", LEARNING)
def test_a_model_scores_after_loading_as_before_saving(name, saved, resources):
    before = saved(name)[2]
    assert np.ptp(before) > 0
    assert np.abs(_loaded_scores(name, saved, resources) - before).max() <= 1e-6


@pytest.mark.parametrize("name", LEARNING)
def test_cpu_and_gpu_agree(name, saved, resources):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    on_gpu = replace(resources, device=choose_device("cuda"))
    scores = _loaded_scores(name, saved, on_gpu)
    assert np.abs(scores - saved(name)[2]).max() <= TOLERANCE


@pytest.mark.parametrize("name", LEARNING)
def test_a_model_learns_on_a_gpu(name, saved, resources, tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    settings = saved(name)[0]
    on_gpu = replace(resources, device=choose_device("cuda"))
    member = registry().reranker(name).create(settings)
    member.prepare(on_gpu)
    topics = list(_topics(range(0, 36, 3)))
    member.fit(TrainingData(topics, list(_topics([1, 8, 15])), tmp_path))
    assert np.isfinite(_scores(member, on_gpu)).all()
