"""Documents are written in parts, the same bytes each time, and read back as they were."""

import pytest

from irplatform.documents.jsonlines import FieldNames, JsonLinesCorpus, write_documents
from irplatform.plugin import Document

DOCUMENTS = [
    Document(f"d{number}", f"Title {number}", "Größe", {"mesh": ("A", "B"), f"f{number}": "x"})
    for number in range(5)
]


def test_what_is_written_is_read_back(tmp_path):
    result = write_documents(DOCUMENTS, tmp_path / "docs", part=2)
    assert result.files == ("part-1.jsonl.gz", "part-2.jsonl.gz", "part-3.jsonl.gz")
    assert result.fields == ("f0", "f1", "f2", "f3", "f4", "mesh")
    assert result.count == 5
    files = [tmp_path / "docs" / name for name in result.files]
    assert list(JsonLinesCorpus("x", files, FieldNames(fields=result.fields))) == DOCUMENTS


def test_the_bytes_depend_on_the_documents_alone(tmp_path):
    write_documents(DOCUMENTS, tmp_path / "a")
    write_documents(iter(DOCUMENTS), tmp_path / "b")
    assert (tmp_path / "a/part-1.jsonl.gz").read_bytes() == (
        tmp_path / "b/part-1.jsonl.gz"
    ).read_bytes()


def test_a_field_never_replaces_the_id(tmp_path):
    strange = Document("d1", "T", "A", {"id": "other", "title": "other"})
    write_documents([strange], tmp_path)
    (back,) = JsonLinesCorpus("x", [tmp_path / "part-1.jsonl.gz"], FieldNames())
    assert (back.id, back.title) == ("d1", "T")


def test_an_error_leaves_no_half_part(tmp_path):
    def broken():
        yield DOCUMENTS[0]
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_documents(broken(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_documents_are_no_files(tmp_path):
    assert write_documents([], tmp_path).files == ()
