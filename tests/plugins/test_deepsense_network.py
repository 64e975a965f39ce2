"""DeepSenSe's network computes the paper's equations 1 to 16."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from small import SmallResources, words

from irplatform.plugin import Document, Topic
from irplatform.text import ForwardIndex, WordVectors, build_forward_index, lexical_features
from irplatform_deepsense.encoding import Encoder
from irplatform_deepsense.features import field_features
from irplatform_deepsense.network import DeepSenSeNetwork, Sizes
from irplatform_deepsense.options import DeepSenSeOptions
from irplatform_deepsense.task import by_length, score

DIMENSIONS = 6
LEXICAL = ("bm25_text", "overlap_title")
WORDS = words(40)
WITH_VECTORS = [*WORDS[:28], "of"]
QUERIES = {
    "words with vectors": " ".join(WORDS[3:8]),
    "a word twice": f"{WORDS[2]} {WORDS[2]} {WORDS[9]}",
    "some without vectors": f"{WORDS[1]} {WORDS[30]} {WORDS[8]} absent",
    "stop words": f"of the {WORDS[4]} and {WORDS[5]}",
    "only words without vectors": f"{WORDS[31]} {WORDS[32]}",
    "nothing": "",
}
SWITCHES = {
    "defaults": {},
    "paper": {"pooling": "sum", "signals": False, "shortcut": False, "lexical": ()},
    "program": {
        "compare_on": "projected",
        "product": True,
        "compare_layers": 2,
        "signals": False,
        "classifier": (5, 7),
    },
    "all": {"product": True, "compare_layers": 3, "pooling": "sum"},
}


@pytest.fixture(scope="module")
def documents():
    random = np.random.default_rng(3)

    def text(most):
        return " ".join(random.choice(WORDS, random.integers(0, most)))

    articles = [Document(f"d{n}", text(6), text(25)) for n in range(25)]
    articles += [
        Document("empty"),
        Document("no-title", "", text(9)),
        Document("no-abstract", WORDS[4]),
        Document("unknown", WORDS[33], " ".join(WORDS[29:])),
        Document("stop", f"The {WORDS[3]}", f"of {WORDS[5]} and {WORDS[2]}"),
    ]
    return {document.id: document for document in articles}


@pytest.fixture(scope="module")
def resources(documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("forward")
    build_forward_index(documents.values(), folder, workers=1)
    random = np.random.default_rng(4)
    matrix = random.normal(size=(len(WITH_VECTORS), DIMENSIONS)).astype(np.float32)
    vectors = WordVectors.with_unk(WITH_VECTORS, matrix, seed=5)
    return SmallResources({}, ForwardIndex.open(folder), vectors)


def _model(resources, **changed):
    """Encoder and network, with weights that leave nothing at its neutral value."""
    defaults = {
        "lexical": LEXICAL,
        "projection": 5,
        "compare": 4,
        "side": (4, 3),
        "classifier": (6, 5),
    }
    options = DeepSenSeOptions.model_validate({**defaults, **changed})
    encoder = Encoder(
        resources.index, resources.word_vectors, options, field_features(resources, options), "cpu"
    )
    sizes = Sizes(
        DIMENSIONS,
        len(options.lexical),
        **{
            name: getattr(options, name)
            for name in Sizes.__dataclass_fields__
            if name not in {"dimensions", "features"}
        },
    )
    torch.manual_seed(7)
    network = DeepSenSeNetwork(sizes, 0.5)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "running_var" in name or "scale" in name:
                tensor.copy_(torch.rand_like(tensor) + 0.5)
            elif tensor.dtype.is_floating_point and tensor.dim() == 1:
                tensor.copy_(torch.randn_like(tensor) * 0.5)
    return encoder, network.eval()


def _elu(values):
    return np.where(values > 0, values, np.expm1(values))


def _softmax(values):
    weights = np.exp(np.array(values) - max(values))
    return weights / weights.sum()


class Equations:
    """The paper's equations, a word at a time."""

    def __init__(self, resources, network, idf):
        self.sizes = network.sizes
        self.weights = {
            name: tensor.double().numpy() for name, tensor in network.state_dict().items()
        }
        matrix = np.array(resources.word_vectors.matrix, dtype=np.float64)
        self.vectors = dict(zip(resources.word_vectors.words, matrix, strict=False))
        self.idf = dict(zip(resources.word_vectors.words, idf.tolist(), strict=False))

    def layer(self, name, values):
        return self.weights[f"{name}.weight"] @ values + self.weights[f"{name}.bias"]

    def read(self, text):
        stops = {"of", "the", "and"}
        return [w for w in text.lower().split() if w in self.vectors and w not in stops]

    def f(self, word):
        return _elu(self.layer("project", self.vectors[word]))

    def compared(self, word):
        return self.f(word) if self.sizes.compare_on == "projected" else self.vectors[word]

    def g(self, word, others):
        """Equations 3 to 10 for a word and the text that it attends to."""
        x = self.compared(word)
        counterpart = np.zeros_like(x)
        cosines, attention = [], []
        if others:
            attention = _softmax([self.f(word) @ self.f(other) for other in others])
            for weight, other in zip(attention, others, strict=True):
                counterpart = counterpart + weight * self.compared(other)
                a, b = self.vectors[word], self.vectors[other]
                cosines.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        parts = [x, counterpart, x - counterpart]
        if self.sizes.product:
            parts.append(x * counterpart)
        if self.sizes.signals:
            mean = sum(w * c for w, c in zip(attention, cosines, strict=True))
            largest = max(cosines, default=0.0)
            idf = 0.1 * self.idf[word]
            parts.append([mean, largest, idf, idf * largest])
        value = _elu(self.layer("compare", np.concatenate(parts)))
        for number in range(self.sizes.compare_layers - 1):
            value = _elu(self.layer(f"compare_more.{number}", value))
        return value

    def v(self, text, others):
        """Equations 11 to 14."""
        total = sum((self.g(word, others) for word in text), np.zeros(self.sizes.compare))
        return total / max(len(text), 1) if self.sizes.pooling == "mean" else total

    def stage(self, name, values):
        for dense, norm in ((0, 3), (4, 7)):
            values = _elu(self.layer(f"{name}.{dense}", values))
            mean, var = (self.weights[f"{name}.{norm}.running_{k}"] for k in ("mean", "var"))
            scale = self.weights[f"{name}.{norm}.weight"]
            values = (values - mean) / np.sqrt(var + 1e-5) * scale
            values = values + self.weights[f"{name}.{norm}.bias"]
        return values

    def score(self, query, document, features):
        """Equations 15 and 16, without the sigmoid."""
        query, title, abstract = map(self.read, (query, document.title, document.abstract))
        joined = [
            self.v(query, title), self.v(title, query), self.v(query, abstract),
            self.v(abstract, query),
        ]  # fmt: skip
        extra = 0.0
        if len(features):
            standard = (features - self.weights["feature_mean"]) / self.weights["feature_scale"]
            joined.append(self.stage("side", standard))
            if self.sizes.shortcut:
                extra = (self.weights["shortcut.weight"] @ standard)[0]
        return self.layer("output", self.stage("classifier", np.concatenate(joined)))[0] + extra


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)
def test_it_computes_the_equations(resources, documents, query, switches):
    encoder, network = _model(resources, **switches)
    names = switches.get("lexical", LEXICAL)
    equations = Equations(resources, network, encoder.idf)
    index = resources.index
    terms = [w for w in query.split() if w not in {"of", "the", "and"}]
    ids = index.vocabulary.ids(list(dict.fromkeys(terms)))
    features = lexical_features(index, ids, index.rows(list(documents)), names)
    expected = [
        equations.score(query, document, features[number])
        for number, document in enumerate(documents.values())
    ]
    encoded = encoder.encode(Topic("t", query), list(documents))
    with torch.inference_mode():
        tables = network.tabulate(encoder.vectors, encoder.idf)
        assert np.allclose(score(network, tables, encoded), expected, atol=1e-5)


def test_only_the_first_words_are_read_when_told(resources, documents):
    short = {"query_words": 2, "title_words": 1, "abstract_words": 3}
    encoder, _ = _model(resources, **short)
    full_encoder, _ = _model(resources)
    cut, full = (
        e.encode(Topic("t", QUERIES["words with vectors"]), list(documents))
        for e in (encoder, full_encoder)
    )
    assert torch.equal(cut.query, full.query[:2])
    assert torch.equal(cut.titles.lengths, full.titles.lengths.clamp(max=1))
    assert torch.equal(cut.abstracts.lengths, full.abstracts.lengths.clamp(max=3))
    for number in range(len(documents)):
        row = torch.tensor([number])
        beginning = full.words[full.abstracts.padded(row, 0)][0, :3]
        assert torch.equal(cut.words[cut.abstracts.padded(row, 0)][0], beginning)


def test_stop_words_of_documents_are_read_when_told(resources):
    (with_them, _), (without, _) = (
        _model(resources, document_stop_words=switch) for switch in (True, False)
    )
    lengths = [e.encode(Topic("t", ""), ["stop"]).abstracts.lengths for e in (with_them, without)]
    assert [int(length) for length in lengths] == [3, 2]  # "and" has no vector
    assert [len(e.title(f"of {WORDS[3]}")) for e in (with_them, without)] == [2, 1]


def test_batches_by_length_hold_every_text_once():
    lengths = torch.randint(0, 400, (300,), generator=torch.Generator().manual_seed(1))
    parts = by_length(lengths, 5000)
    assert sorted(torch.cat(parts).tolist()) == list(range(300))
    assert len(parts) > 2
    spans = sorted((int(lengths[part].min()), int(lengths[part].max())) for part in parts)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_the_longest_text_decides_nothing_for_the_others(resources, documents):
    encoder, network = _model(resources)
    topic = Topic("t", QUERIES["words with vectors"])
    with torch.inference_mode():
        tables = network.tabulate(encoder.vectors, encoder.idf)
        together = score(network, tables, encoder.encode(topic, list(documents)))
        alone = [score(network, tables, encoder.encode(topic, [d])) for d in documents]
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)
