"""A reranker that breaks the contract is caught, whatever way it breaks it; a sound one passes."""

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from small import SmallResources, labelled, registration

from irplatform.conformance.data import CheckData
from irplatform.conformance.systems import results_of_reranker
from irplatform.errors import PluginError
from irplatform.plugin import PairsFile, Reads, Reranker, TextPair, Topic, TrainableReranker, Traits
from irplatform.reranking.systems import ChosenReranker

IDS = tuple(f"d{n}" for n in range(9))
TOPICS = [(Topic(f"t{n}", "query"), IDS[n:]) for n in range(3)]
DATA = CheckData(
    SmallResources(),
    TOPICS,
    [labelled("learned", IDS, {"d1": 1})],
    [labelled("validation", IDS, {"d2": 1})],
)

_DRAWN = itertools.count()
"""As if from a generator, and never twice the same."""


def _value(doc_id, topic=None):
    return float(sum(map(ord, doc_id)) * 7919 % 101) + len(topic.id if topic else "")


class Sound(Reranker):
    def score(self, topic, documents):
        return [_value(doc_id, topic) for doc_id in documents.ids]

    def explain(self, topic, documents):
        return [{"score": score} for score in self.score(topic, documents)]


class Learns(TrainableReranker):
    def __init__(self, options=None):
        super().__init__(options)
        self.weight = None

    def fit(self, data):
        assert data.workspace.is_dir()
        assert {example.topic.id for example in data.training} == {"learned"}
        self.weight = np.array([float(len(data.training) + len(data.validation))])

    def save(self, folder):
        np.save(folder / "weight.npy", self.weight)

    def load(self, folder):
        self.weight = np.load(folder / "weight.npy")

    def score(self, topic, documents):
        return [float(self.weight[0]) * _value(doc_id) for doc_id in documents.ids]


class Counts(Sound):
    calls = 0

    def score(self, topic, documents):
        self.calls += 1
        return [self.calls * _value(doc_id) for doc_id in documents.ids]


class Draws(Sound):
    def prepare(self, resources):
        self.drawn = next(_DRAWN)

    def score(self, topic, documents):
        return [_value(doc_id) + 50 * self.drawn for doc_id in documents.ids]


class ByPlace(Sound):
    def score(self, topic, documents):
        return [float(len(documents) - place) for place in range(len(documents))]


class Standardized(Sound):
    def score(self, topic, documents):
        values = np.array([_value(doc_id) for doc_id in documents.ids])
        return (values - values.mean()).tolist()


class WithinBatch(Sound):
    def score_batch(self, batch):
        return [np.array(self.score(t, documents)) * len(batch) for t, documents in batch]


class OtherBatch(Sound):
    def score_batch(self, batch):
        return [[-score for score in self.score(t, documents)] for t, documents in batch]

    def explain(self, topic, documents):
        return [{"score": -score} for score in self.score(topic, documents)]


class ExplainsAnother(Sound):
    def explain(self, topic, documents):
        return [{"score": -score} for score in self.score(topic, documents)]


class ExplainsNone(Sound):
    def explain(self, topic, documents):
        return [{"words": 3} for _ in documents.ids]


class SavesNothing(Learns):
    def save(self, folder):
        pass


class SavesHalf(Learns):
    def save(self, folder):
        np.save(folder / "weight.npy", self.weight / 2)


class Pickles(Learns):
    def save(self, folder):
        (folder / "weight").write_bytes(pickle.dumps(self.weight))

    def load(self, folder):
        self.weight = pickle.loads((folder / "weight").read_bytes())


class SavesObjects(Learns):
    def save(self, folder):
        np.save(folder / "weight.npy", self.weight.astype(object))

    def load(self, folder):
        self.weight = np.load(folder / "weight.npy", allow_pickle=True)


class SavesByTorch(Learns):
    def save(self, folder):
        torch.save(self.weight.tolist(), folder / "pytorch_model.bin")

    def load(self, folder):
        self.weight = torch.load(folder / "pytorch_model.bin", weights_only=False)


class Packs(Learns):
    def save(self, folder):
        np.savez(folder / "weight.npz", self.weight)

    def load(self, folder):
        self.weight = np.load(folder / "weight.npz")["arr_0"]


class SavesTensors(Learns):
    """The file begins with the length of its header, 640 bytes, as a pickle does."""

    def save(self, folder):
        header = json.dumps({"weight": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}})
        length = (640).to_bytes(8, "little")
        path = folder / "model.safetensors"
        path.write_bytes(length + header.ljust(640).encode() + self.weight.tobytes())

    def load(self, folder):
        self.weight = load_file(folder / "model.safetensors")["weight"]


class Remembers(Learns):
    """What it keeps of every document that it learned from is not saved."""

    def fit(self, data):
        super().fit(data)
        self.memory = dict(data.training[0].judgments)

    def load(self, folder):
        super().load(folder)
        self.memory = {}

    def score(self, topic, documents):
        grades = self.memory if topic.id == "learned" else {}
        scores = super().score(topic, documents)
        return [s + 9 * grades.get(i, 0) for s, i in zip(scores, documents.ids, strict=True)]


class LearnsOtherwise(Learns):
    def fit(self, data):
        self.weight = np.array([1.0 + next(_DRAWN)])


class ComparesByChance(Sound):
    def rescore(self, topic, documents, scores):
        return [score + 500 * next(_DRAWN) for score in scores]


class ComparesByPlace(Sound):
    def rescore(self, topic, documents, scores):
        return sorted(scores)


class Standardizes(Sound):
    def rescore(self, topic, documents, scores):
        return (np.array(scores) - np.mean(scores)).tolist()


def _problems(kind):
    results = results_of_reranker(ChosenReranker(registration(kind), kind.Options()), DATA)
    return [problem for _, problem in results if problem]


@pytest.mark.parametrize("kind", [Sound, Learns, Packs, SavesTensors, Standardizes])
def test_a_sound_one_passes(kind):
    assert _problems(kind) == []


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Counts, "when it is asked again (is its network in eval()?)"),
        (Draws, "by another instance"),
        (ByPlace, "when documents come in another order"),
        (Standardized, "when other documents are with it"),
        (WithinBatch, "when topics come one at a time"),
        (OtherBatch, "by score() beside score_batch()"),
        (ExplainsAnother, "in explain()"),
        (ComparesByChance, "by rescore() when it is asked again"),
        (ComparesByPlace, "by rescore() when documents come in another order"),
        (SavesNothing, "save() writes nothing, so that nothing can be loaded"),
        (Pickles, "save() writes a pickle (weight), which runs code when it is read"),
        (SavesObjects, "writes a pickle (weight.npy), which runs code when it is read"),
        (SavesByTorch, "a pickle (pytorch_model.bin), which runs code when it is read"),
        (SavesHalf, "after save() and load()"),
        (Remembers, "and something kept for its documents is not saved"),
        (LearnsOtherwise, "after a second training with the same topics and seed"),
    ],
)
def test_one_that_breaks_the_contract_is_told_how(kind, message):
    assert any(problem.endswith(message) for problem in _problems(kind)), _problems(kind)


def test_the_document_and_both_scores_are_told():
    problem = next(p for p in _problems(ByPlace) if p.endswith("another order"))
    assert (
        problem == "document d0 of topic t0 has 1 instead of 9 when documents come in another order"
    )


def test_rounding_is_no_change():
    class Rounds(Sound):
        def score(self, topic, documents):
            noise = np.random.default_rng().uniform(-1e-7, 1e-7, len(documents))
            return (np.array(super().score(topic, documents)) * (1 + noise)).tolist()

    assert _problems(Rounds) == []


class Infinite(Sound):
    def score(self, topic, documents):
        return [float("inf") for _ in documents.ids]


class ScoresNoneAlone(Sound):
    def score_batch(self, batch):
        return [[_value(doc_id, t) for doc_id in documents.ids] for t, documents in batch]

    def score(self, topic, documents):
        return [float("nan") for _ in documents.ids]


class ScoresOneAlone(ScoresNoneAlone):
    def score(self, topic, documents):
        return [1.0]


class NamesText(Sound):
    def reads(self):
        return Reads(checkpoints=("/nowhere",))


class NamesNoPairs(Learns):
    def reads(self):
        return Reads(pairs=PairsFile(Path("pairs"), lambda topics: ["a text"]))


class NamesNumbers(Learns):
    def reads(self):
        pair = TextPair("what asks", "what it finds", 123)
        return Reads(pairs=PairsFile(Path("pairs"), lambda topics: [pair]))


class OptionsOfAnother(Learns):
    def traits(self):
        return Traits(pretraining_options="none")


class SaysNo(Sound):
    def traits(self):
        return Traits(weighs_first_stage="no")


class UsesGpuPerhaps(Sound):
    def traits(self):
        return Traits(learns_on_device="perhaps")


class ComparesNone(Sound):
    def rescore(self, topic, documents, scores):
        return [float("nan") for _ in scores]


class ComparesSome(Sound):
    def rescore(self, topic, documents, scores):
        return scores[:2]


class ExplainsInNoJson(Sound):
    def explain(self, topic, documents):
        return [
            {**explanation, "weight": float("nan")}
            for explanation in super().explain(topic, documents)
        ]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Infinite, "scores must be finite"),
        (ScoresNoneAlone, "scores must be finite"),
        (ScoresOneAlone, "returned 1 score for the 9 documents"),
        (ExplainsNone, "not JSON with a score: KeyError: 'score'"),
        (NamesText, "checkpoints.0 of Reads is '/nowhere': Input should be an instance of Path"),
        (NamesNoPairs, "returned 'a text' as one of the pairs that it reads; a TextPair"),
        (NamesNumbers, "123.* of the pairs that it reads; a TextPair of texts"),
        (OptionsOfAnother, "pretraining_options of Traits is .*: Input should be"),
        (SaysNo, "weighs_first_stage of Traits is 'no': Input should be a valid boolean"),
        (
            UsesGpuPerhaps,
            "learns_on_device of Traits is 'perhaps': Input should be a valid boolean",
        ),
        (ComparesNone, "scores must be finite"),
        (ComparesSome, "returned 2 scores for the 9 documents"),
        (ExplainsInNoJson, "not JSON with a score: ValueError"),
    ],
)
def test_what_the_harness_refuses_is_an_error(kind, message):
    with pytest.raises(PluginError, match=message):
        _problems(kind)
