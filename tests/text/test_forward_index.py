import gzip
import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import words_of
from small_files import files_of

from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Document
from irplatform.text import ForwardIndex, build_forward_index
from irplatform.text import forward_build as forward_batch
from irplatform.text.forward_index import FIELDS

DOCUMENTS = [
    Document("b", "Statins and breast cancer", "Statins lower risk. Cancer risk fell by 5%."),
    Document("a", "", "Only an abstract: IL-6, il6."),
    Document("ü-1", "Only a title", ""),
    Document("empty", "", ""),
    Document("last", "Cancer cancer", "cancer"),
]
TEXTS = st.lists(
    st.tuples(
        *2
        * [
            st.lists(st.sampled_from(["mice", "rats", "IL-6", "5%", "and", "α", "1990"])).map(
                " ".join
            )
        ]
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return built(DOCUMENTS, tmp_path_factory.mktemp("forward"))


def built(documents, folder, **options):
    build_forward_index(iter(documents), folder, **options)
    return ForwardIndex.open(folder)


def all_rows(index):
    return np.arange(index.count)


def check_against_plain_counts(index, documents):
    """Everything that an index holds, computed again with dictionaries."""
    vocabulary = list(index.vocabulary)
    assert vocabulary == list(dict.fromkeys(w for d in documents for w in words_of(d, "text")))
    assert index.doc_ids(all_rows(index)) == [document.id for document in documents]
    assert index.rows([document.id for document in documents]).tolist() == [*range(index.count)]
    for field in FIELDS:
        words = [words_of(document, field) for document in documents]
        flat, offsets = index.tokens(all_rows(index), field)
        tokens = [vocabulary[word] for word in flat]
        assert [tokens[a:b] for a, b in pairwise(offsets)] == words
        in_documents = Counter(word for document in words for word in set(document))
        in_all = Counter(word for document in words for word in document)
        idf = {
            word: math.log(
                1 + (len(documents) - in_documents[word] + 0.5) / (in_documents[word] + 0.5)
            )
            for word in vocabulary
        }
        assert index.document_frequency(field).tolist() == [in_documents[w] for w in vocabulary]
        assert index.collection_frequency(field).tolist() == [in_all[w] for w in vocabulary]
        assert index.lengths(field).tolist() == [len(document) for document in words]
        assert index.unique_counts(field).tolist() == [len(set(document)) for document in words]
        assert index.idf(field) == pytest.approx([idf[w] for w in vocabulary])
        masses = [sum(idf[word] for word in set(document)) for document in words]
        assert index.idf_mass(field) == pytest.approx(masses)
        mean = sum(map(len, words)) / len(words) if words else 0
        assert index.average_length(field) == pytest.approx(mean)


def test_an_index_holds_what_plain_counting_finds(index):
    check_against_plain_counts(index, DOCUMENTS)


@given(TEXTS)
@settings(max_examples=40)
def test_any_documents_come_back_whatever_the_batches(tmp_path_factory, texts):
    documents = [Document(f"d{n}", title, text) for n, (title, text) in enumerate(texts)]
    folder = tmp_path_factory.mktemp("forward")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_batch, "BATCH_DOCUMENTS", 2)
        check_against_plain_counts(built(documents, folder, workers=1), documents)


def test_workers_and_batches_do_not_change_a_byte(tmp_path, monkeypatch):
    documents = [
        Document(f"d{n}", f"title {n} {n * n % 97}x", f"text w{n % 13} v{n % 7} " * (n % 5))
        for n in range(300)
    ]
    built(documents, tmp_path / "one", workers=1)
    monkeypatch.setattr(forward_batch, "BATCH_DOCUMENTS", 7)
    built(documents, tmp_path / "batches", workers=1)
    built(documents, tmp_path / "workers", workers=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "batches")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "workers")


@given(st.lists(st.integers(0, len(DOCUMENTS) - 1), max_size=8), st.integers(1, 12))
@settings(max_examples=50)
def test_the_matrix_holds_the_first_words_padded_on_the_right(index, rows, length):
    matrix = index.matrix(np.array(rows, dtype=np.int64), length)
    assert matrix.shape == (len(rows), length)
    assert matrix.dtype == np.int32
    for row, numbers in zip(rows, matrix, strict=True):
        words = index.vocabulary.ids(words_of(DOCUMENTS[row], "text")).tolist()[:length]
        assert numbers.tolist() == words + [-1] * (length - len(words))


def test_rows_come_in_the_order_of_the_ids_asked_for(index):
    assert index.rows(["last", "b", "ü-1", "b"]).tolist() == [4, 0, 2, 0]
    assert index.rows([]).tolist() == []


def test_a_document_that_is_not_there_is_named(index):
    with pytest.raises(PlatformError, match="document 'nobody' is not in the forward index"):
        index.rows(["a", "nobody", "b"])


def test_words_that_the_collection_lacks_are_minus_one(index):
    ids = index.query_ids("Cancer in zebras: IL-6")
    assert ids.dtype == np.int32
    assert [index.vocabulary[word] if word >= 0 else None for word in ids] == [
        "cancer",
        None,
        None,
        "il6",
    ]


def test_two_documents_of_one_id_are_refused(tmp_path):
    with pytest.raises(InputError, match="two documents have the id 'x'"):
        built([Document("x"), Document("y"), Document("x")], tmp_path)
    with pytest.raises(PlatformError, match="there is no forward index here"):
        ForwardIndex.open(tmp_path)


def test_an_index_of_nothing_can_be_opened(tmp_path):
    index = built([], tmp_path)
    check_against_plain_counts(index, [])
    assert index.matrix(index.rows([]), 3).shape == (0, 3)
    assert index.query_ids("mice").tolist() == [-1]


def test_documents_without_words_have_rows_of_padding(tmp_path):
    index = built([Document("x"), Document("y", "...")], tmp_path)
    assert index.matrix(index.rows(["y", "x"]), 2).tolist() == [[-1, -1], [-1, -1]]


def test_an_index_of_another_format_is_refused(tmp_path):
    built(DOCUMENTS, tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    (tmp_path / "facts.json").write_text(json.dumps(facts | {"format": 99}))
    with pytest.raises(PlatformError, match="format 99"):
        ForwardIndex.open(tmp_path)


def test_an_unknown_field_is_refused(index):
    with pytest.raises(ValueError, match="'mesh' is not a field"):
        index.idf("mesh")


@pytest.mark.real
@pytest.mark.slow
def test_an_index_of_nfcorpus_holds_what_plain_counting_finds(test_data, tmp_path):
    with gzip.open(test_data / "nfcorpus" / "corpus.jsonl.gz") as file:
        lines = [json.loads(line) for line in file]
    documents = [Document(line["_id"], line["title"], line["text"]) for line in lines]
    assert len(documents) == 3633
    check_against_plain_counts(built(documents, tmp_path, workers=2), documents)
