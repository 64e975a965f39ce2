"""DeepSenSe's matrix of fields: what one computes in memory, written batch by batch."""

import json
import tracemalloc
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from irplatform.plugin import Document
from irplatform_deepsense import features as fields
from irplatform_deepsense.features import VALUES, Columns, write_fields

NUMBERS = ("year", "citations", "never")
CATEGORIES = ("types", "journal", "nothing")


class Held:
    """The harness's resources, as far as fields are read."""

    def __init__(self, count, document):
        self.index = SimpleNamespace(count=count, doc_ids=list)
        self.document = document

    def forward_index(self):
        return self.index

    def documents(self, numbers):
        return [self.document(number) for number in numbers]

    @contextmanager
    def progress(self, label, total, unit=""):
        yield lambda steps: None


def _document(number):
    random = np.random.default_rng(int(number))
    properties = {"types": tuple(f"t{kind}" for kind in random.integers(50, size=number % 3))}
    if number % 4:
        properties["year"] = str(1990 + number % 30)
    if number % 3:
        properties["citations"] = str(random.integers(1000)) if number % 5 else "many"
    if number % 7 < 3:
        properties["journal"] = f"j{number % 7}"
    return Document(str(number), "", "", properties)


def _plain(documents):
    """The same from all documents in memory."""
    columns, names = [], []
    for name in NUMBERS:
        texts = [document.fields.get(name, "") for document in documents]
        values = np.array([float(text) if text.isdecimal() else np.nan for text in texts])
        if name != "year":
            values = np.log1p(values)
        numbers = values[~np.isnan(values)]
        columns.append(np.where(np.isnan(values), numbers.mean() if len(numbers) else 0.0, values))
        names.append(name)
    for name in CATEGORIES:
        entries = [document.fields.get(name, ()) for document in documents]
        entries = [(entry,) if isinstance(entry, str) else entry for entry in entries]
        frequency = Counter(value for values in entries for value in values)
        for value in sorted(frequency, key=lambda v: (-frequency[v], v))[:VALUES]:
            columns.append(np.array([float(value in values) for values in entries]))
            names.append(f"{name}: {value}")
    return names, np.stack(columns, axis=1).astype(np.float32)


@pytest.mark.parametrize("batch", [1, 7, 100, 1000])
def test_batches_of_any_size_write_what_is_computed_in_memory(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(fields, "_BATCH", batch)
    path = tmp_path / "values.npy"
    columns = write_fields(path, Held(300, _document), NUMBERS, CATEGORIES)
    expected_names, expected = _plain([_document(number) for number in range(300)])
    assert list(columns.names) == expected_names
    assert Columns.of_json(json.loads(json.dumps(columns.as_json()))) == columns
    matrix = np.load(path)
    assert (matrix.dtype, matrix.shape) == (np.float32, expected.shape)
    np.testing.assert_array_equal(matrix, expected)
    assert [file.name for file in tmp_path.iterdir()] == ["values.npy"]


@pytest.mark.parametrize(("numbers", "categories"), [(("year",), ()), ((), ("types",))])
def test_a_collection_may_have_one_kind_of_field(tmp_path, numbers, categories):
    columns = write_fields(tmp_path / "values.npy", Held(20, _document), numbers, categories)
    assert np.load(tmp_path / "values.npy").shape == (20, len(columns.names))


def test_the_matrix_is_never_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(fields, "_BATCH", 100)
    numbers = [f"n{number}" for number in range(40)]
    same = Document("d", "", "", dict.fromkeys(numbers, "1"))
    tracemalloc.start()
    write_fields(tmp_path / "values.npy", Held(20_000, lambda _number: same), numbers, ())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000 * len(numbers)  # it takes four times as many bytes


def test_a_date_is_its_year_and_what_is_not_finite_is_no_number(tmp_path):
    said = [("2012-05", "7"), ("May 2012", "inf"), ("2012 May 3", "1e400"), ("2012", "nan")]
    documents = [
        Document(str(n), "", "", {"year": y, "citations": c}) for n, (y, c) in enumerate(said)
    ]
    resources = Held(len(documents), lambda number: documents[int(number)])
    write_fields(tmp_path / "values.npy", resources, ("year", "citations"), ())
    year, citations = np.load(tmp_path / "values.npy").T
    assert year.tolist() == [2012.0] * 4
    assert citations == pytest.approx(np.log1p([7.0] * 4))


def test_columns_of_another_collection_are_filled_with_what_documents_have_of_them(tmp_path):
    columns = Columns({"year": 1234.5}, {"types": ["t9", "elsewhere", "t3"], "nothing": []})
    documents = [_document(number) for number in range(20)]
    resources = Held(20, lambda number: documents[int(number)])
    assert write_fields(tmp_path / "values.npy", resources, ["year"], ["types", "nothing"], columns)
    year, *types = np.load(tmp_path / "values.npy").T
    assert year.tolist() == [float(d.fields.get("year", 1234.5)) for d in documents]
    for column, value in zip(types, columns.categories["types"], strict=True):
        assert column.tolist() == [float(value in d.fields["types"]) for d in documents]
