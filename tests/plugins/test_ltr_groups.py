"""Groups of features, against plain loops."""

import numpy as np
import pytest
from feature_resources import feature_resources
from gensim.parsing.porter import PorterStemmer
from small import labelled

from irplatform.documents.pubmed_files import DEFAULT_FIELDS
from irplatform.plugin import Document, Topic, TrainingData
from irplatform.text import ALL18, lexical_features, tokenize
from irplatform_ltr.groups.document import DocumentOptions, DocumentProperties
from irplatform_ltr.groups.memory import CitingText
from irplatform_ltr.groups.words import EmbeddingSimilarities, LexicalMatches, StemmedMatches
from irplatform_ltr.matching import StemmedIndex

TEXTS = {
    "d1": "Treating mutated genes in tumours and in mice",
    "d2": "The treatment of mutations: treatments treat",
    "d3": "",
    "d4": "Randomized trials of patients with a tumour; survival was measured twice",
    "d5": "genes gene gene",
}
TOPIC = Topic("t", "treatment of gene mutation in unheard tumours")
GROUPS = (LexicalMatches, StemmedMatches, EmbeddingSimilarities, DocumentProperties)


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    random = np.random.default_rng(2)
    words = sorted({word for text in TEXTS.values() for word in tokenize(text)} - {"genes"})
    vectors = {word: random.normal(size=8) for word in [*words, "unheard"]}
    return feature_resources(tmp_path_factory.mktemp("groups"), TEXTS, vectors)


@pytest.fixture(autouse=True)
def _no_fields(monkeypatch):
    """The small documents have no headings; nothing needs Lucene to tell."""
    monkeypatch.setattr(DocumentProperties, "_has", lambda self, field: False)


def _prepared(kind, resources):
    group = kind()
    group.prepare(resources)
    return group


def _compute(group, resources, ids=tuple(TEXTS)):
    return group.compute(TOPIC, resources.documents(ids))


def test_stemmed_matches_are_lexical_matches_of_stemmed_text(resources, tmp_path):
    stem = PorterStemmer().stem
    stemmed = {d: " ".join(map(stem, tokenize(text))) for d, text in TEXTS.items()}
    other = feature_resources(tmp_path, stemmed, {"x": np.ones(2)})
    query = other.index.query_ids(" ".join(map(stem, tokenize(TOPIC.query))))
    expected = lexical_features(other.index, query, other.index.rows(list(TEXTS)), ALL18)
    values = _compute(_prepared(StemmedMatches, resources), resources)
    assert values == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", GROUPS)
def test_features_do_not_depend_on_the_other_documents(kind, resources):
    group = _prepared(kind, resources)
    values = _compute(group, resources)
    assert values.shape == (len(TEXTS), len(group.names()))
    assert np.isfinite(values).all()
    assert len(set(group.names())) == len(group.names())
    ids = list(TEXTS)
    for places in ([3], [4, 1], [2, 0, 1, 4, 3]):
        part = _compute(group, resources, [ids[i] for i in places])
        assert part.tobytes() == values[places].tobytes()
    assert _compute(group, resources, []).shape == (0, len(group.names()))


@pytest.mark.parametrize("kind", GROUPS)
def test_an_empty_query_gives_finite_features(kind, resources):
    group = _prepared(kind, resources)
    values = group.compute(Topic("e", "unheardof"), resources.documents(list(TEXTS)))
    assert np.isfinite(values).all()


@pytest.mark.parametrize("at_once", [1, 40, 1 << 24])
def test_embedding_similarities_are_those_of_a_plain_loop(resources, monkeypatch, at_once):
    monkeypatch.setattr("irplatform_ltr.groups.words._AT_ONCE", at_once)
    group = _prepared(EmbeddingSimilarities, resources)
    columns = dict(zip(group.names(), _compute(group, resources).T, strict=True))
    vectors, index = resources.word_vectors, resources.index
    place = {word: row for row, word in enumerate(vectors.words)}
    idf = dict(zip(index.vocabulary, index.idf("text"), strict=True))

    def unit(word):
        row = np.array(vectors.matrix[place[word]]) if word in place else np.zeros(8)
        return row / max(np.linalg.norm(row), 1e-12)

    query = [word for word in tokenize(TOPIC.query) if word in idf]
    mean = sum(idf[w] * unit(w) for w in query)
    terms = sorted({w for w in query if w in place})
    total = sum(idf[w] for w in terms)
    for number, text in enumerate(TEXTS.values()):
        words = tokenize(text)
        if not words:
            assert columns["cosine_text"][number] == columns["soft_text"][number] == 0
            continue
        document = sum(idf[w] * unit(w) for w in words)
        cosine = mean @ document / np.linalg.norm(mean) / np.linalg.norm(document)
        assert columns["cosine_text"][number] == pytest.approx(cosine, abs=1e-5)
        best = {w: max(0.0, *(unit(w) @ unit(v) for v in words)) for w in terms}
        soft = sum(idf[w] * best[w] for w in terms) / total
        assert columns["soft_text"][number] == pytest.approx(soft, abs=1e-5)
        assert columns["weakest_text"][number] == pytest.approx(min(best.values()), abs=1e-5)


def test_kept_sums_of_documents_change_no_similarity(resources, monkeypatch):
    keeping = _prepared(EmbeddingSimilarities, resources)
    monkeypatch.setattr("irplatform_ltr.groups.words._MOST_KEPT", 0)
    plain = _prepared(EmbeddingSimilarities, resources)
    ids = list(TEXTS)
    for places in ([3], [4, 3, 1], [], [2, 0, 1, 4, 3]):
        doc_ids = [ids[i] for i in places]
        values, computed = (
            _compute(keeping, resources, doc_ids),
            _compute(plain, resources, doc_ids),
        )
        assert values.tobytes() == computed.tobytes()


def test_embedding_similarities_depend_on_all_of_the_word_vectors(resources, tmp_path):
    """A sum of a row stays the same where two numbers change places."""
    words = resources.word_vectors.words
    marks = set()
    for name, row in (("a", [1.0, 2.0]), ("b", [2.0, 1.0])):
        vectors = {word: np.array(row) for word in words}
        other = feature_resources(tmp_path / name, TEXTS, vectors)
        marks.add(str(_prepared(EmbeddingSimilarities, other).prepared_with()))
    assert len(marks) == 2


def test_words_of_a_document_count_by_their_stems(resources):
    group = _prepared(DocumentProperties, resources)
    columns = dict(zip(group.names(), _compute(group, resources).T, strict=True))
    assert columns["word treatment"].tolist() == pytest.approx(
        [np.log1p(n) for n in (0, 2, 0, 0, 0)]
    )
    assert columns["word mice"].tolist() == pytest.approx([np.log1p(n) for n in (1, 0, 0, 0, 0)])
    assert columns["abstract_length"][2] == 0


def test_words_of_one_stem_count_alike_and_there_may_be_none(resources):
    group = DocumentProperties(DocumentOptions(words=("treatments", "unheardof", "treatment")))
    group.prepare(resources)
    columns = dict(zip(group.names(), _compute(group, resources).T, strict=True))
    expected = pytest.approx([np.log1p(n) for n in (0, 2, 0, 0, 0)])
    assert columns["word treatment"].tolist() == columns["word treatments"].tolist() == expected
    assert not columns["word unheardof"].any()
    without = DocumentProperties(DocumentOptions(words=()))
    without.prepare(resources)
    assert _compute(without, resources).shape == (len(TEXTS), len(without.names()))


def test_publication_types_are_read_as_pubmed_collections_have_them():
    assert DocumentProperties().options.type_field in DEFAULT_FIELDS
    values = DocumentProperties()._year_and_types(
        Document("d", "", "", {"publication_types": ("Review", "Clinical Trial"), "year": "2012"})
    )
    assert values == (12.0, 1.0, 1.0, 0.0)


def test_the_stems_statistics_are_those_of_a_plain_count(resources):
    stems = StemmedIndex.of(resources)
    stem_sets = [{PorterStemmer().stem(w) for w in tokenize(text)} for text in TEXTS.values()]
    rows = stems.rows(list(TEXTS))
    assert stems.unique_counts("text", rows).tolist() == [len(words) for words in stem_sets]
    (treat,) = stems.query_ids("treating")
    frequency = sum("treat" in words for words in stem_sets)
    expected = np.log1p((5 - frequency + 0.5) / (frequency + 0.5))
    assert stems.idf("text")[treat] == pytest.approx(expected)


class TestMemory:
    """Training queries as text of the documents that they are about."""

    TRAINING = (
        labelled("q1", ["d1"], {"d1": 2, "d2": 1, "d4": 0}, query="gene mutations"),
        labelled("q2", ["d1"], {"d1": 1}, query="tumours in mice"),
    )

    @pytest.fixture
    def fitted(self, resources, tmp_path):
        group = _prepared(CitingText, resources)
        group.fit(TrainingData(self.TRAINING, (), tmp_path))
        return group

    def of(self, group, resources, query):
        documents = resources.documents(list(TEXTS))
        values = group.compute(Topic("t", query), documents)
        return {n: dict(zip(TEXTS, column, strict=True)) for n, column in zip(group.names(), values.T, strict=True)}  # fmt: skip  # noqa: E501

    def test_a_query_seen_before_is_nearest(self, fitted, resources):
        same = self.of(fitted, resources, "gene mutations")
        assert same["nearest"] == pytest.approx(
            {"d1": 1, "d2": 1, "d3": 0, "d4": 0, "d5": 0}, abs=1e-6
        )
        assert same["nearest_grade"]["d2"] == pytest.approx(0.5, abs=1e-6)

    def test_popularity_counts_the_queries_and_not_those_judged_not_relevant(
        self, fitted, resources
    ):
        columns = self.of(fitted, resources, "anything in mice")
        assert columns["popularity"] == pytest.approx(
            {"d1": np.log1p(2), "d2": np.log1p(1), "d3": 0, "d4": 0, "d5": 0}
        )

    def test_features_are_those_of_a_plain_loop(self, fitted, resources):
        """Both queries are about d1, most of all; d2 has half of the best grade of one."""
        query = "mutation of genes, mutated tumours, survival"
        stems = StemmedIndex.of(resources)

        def weighted(text):
            ids = {stem for stem in stems.query_ids(text).tolist() if stem >= 0}
            return {stem: stems.idf("text")[stem] for stem in ids}

        def cosine(a, b):
            norms = [np.sqrt(sum(v**2 for v in weights.values())) for weights in (a, b)]
            return sum(a[stem] * b[stem] for stem in a.keys() & b.keys()) / np.prod(norms)

        terms, first, second = map(weighted, (query, "gene mutations", "tumours in mice"))
        columns = self.of(fitted, resources, query)
        near, other = cosine(terms, first), cosine(terms, second)
        assert 0 < other < near < 1
        union = {**first, **second}
        assert first.keys().isdisjoint(second)
        expected = {
            "grades": np.log1p(2), "nearest": near, "sum": near + other,
            "cubes": near**3 + other**3, "mean": (near + other) / 2, "nearest_grade": near,
            "overlap": sum(union[s] for s in union.keys() & terms.keys()) / sum(terms.values()),
            "text_cosine": cosine(terms, union),
        }  # fmt: skip
        assert {name: columns[name]["d1"] for name in expected} == pytest.approx(expected, rel=1e-5)
        expected = {
            "grades": np.log1p(1 / 2), "nearest": near, "sum": near / 2, "cubes": near**3 / 2,
            "mean": near, "nearest_grade": near / 2, "text_cosine": near,
        }  # fmt: skip
        assert {name: columns[name]["d2"] for name in expected} == pytest.approx(expected, rel=1e-5)

    def test_words_of_several_queries_about_a_document_count_more(self, resources, tmp_path):
        group = _prepared(CitingText, resources)
        topics = [
            labelled(f"q{n}", ["d1"], {"d1": 1}, query=q)
            for n, q in enumerate(("gene", "gene mice"))
        ]
        group.fit(TrainingData(topics, (), tmp_path))
        stems = StemmedIndex.of(resources)
        gene, mice = stems.idf("text")[stems.query_ids("gene mice")]
        twice = gene * (1 + np.log(2))
        cosine = self.of(group, resources, "gene")["text_cosine"]["d1"]
        assert cosine == pytest.approx(twice / np.hypot(twice, mice), rel=1e-5)

    def test_it_is_read_back(self, fitted, resources, tmp_path):
        fitted.save(tmp_path)
        again = _prepared(CitingText, resources)
        again.load(tmp_path)
        assert _compute(again, resources).tobytes() == _compute(fitted, resources).tobytes()

    def test_without_training_it_says_nothing(self, resources):
        assert not _compute(_prepared(CitingText, resources), resources).any()
