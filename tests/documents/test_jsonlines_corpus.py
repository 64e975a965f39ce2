"""Documents in JSON lines are streamed, identified by content, and wrong lines are named."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.documents.jsonlines import BEIR, FieldNames, JsonLinesCorpus, field_value
from irplatform.errors import InputError
from irplatform.plugin import Document

NAMES = FieldNames(fields=("mesh",))


def corpus(*files, names=NAMES, name="c"):
    return JsonLinesCorpus(name, files, names)


def test_files_are_read_in_their_order_packed_or_not_again_and_again(tmp_path, json_lines):
    first = json_lines(tmp_path / "z.jsonl.gz", [{"id": "1", "title": "T", "abstract": "A"}])
    second = json_lines(tmp_path / "a.jsonl", [{"id": "2", "mesh": ["Mice", "Animals"]}])
    documents = corpus(first, second)
    assert documents.count() is None
    for _ in range(2):
        assert list(documents) == [
            Document("1", "T", "A"),
            Document("2", fields={"mesh": ("Mice", "Animals")}),
        ]
    assert documents.count() == 2


def test_a_document_that_comes_again_counts_once_and_another_of_its_id_is_kept(
    tmp_path, json_lines, capsys
):
    one, other = {"id": "1", "title": "T", "mesh": ["Mice"]}, {"id": "1", "title": "U"}
    first = json_lines(tmp_path / "a.jsonl", [one, {"id": "2"}, one])
    second = json_lines(tmp_path / "b.jsonl", [{"mesh": ["Mice"], "id": "1", "title": "T"}, other])
    documents = corpus(first, second, name="snapshot")
    assert [(document.id, document.title) for document in documents] == [
        ("1", "T"),
        ("2", ""),
        ("1", "U"),
    ]
    assert documents.count() == 3
    assert capsys.readouterr().err == (
        "snapshot: 2 lines with a document that came before, such as '1': each document counts "
        "once.\n"
    )


def test_a_stream_that_was_left_early_does_not_count(tmp_path, json_lines):
    documents = corpus(json_lines(tmp_path / "a.jsonl", [{"id": "1"}, {"id": "2"}]))
    next(iter(documents))
    assert documents.count() is None


def test_lines_tell_how_many_documents_there_are_about(tmp_path, monkeypatch, json_lines):
    packed = json_lines(tmp_path / "a.jsonl.gz", [{"id": "1"}, {"id": "2"}])
    last = tmp_path / "b.jsonl"
    last.write_text('{"id": "3"}\n{"id": "4"}')
    assert corpus(packed, last).size_hint() == 4
    assert corpus(tmp_path / "none.jsonl").size_hint() is None
    monkeypatch.setattr("irplatform.documents.jsonlines._SOON_COUNTED", 10)
    assert corpus(packed, last).size_hint() is None


def test_blank_lines_and_a_byte_order_mark_are_skipped(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "1"}\r\n\n  \n{"id": "2"}')
    assert [document.id for document in corpus(path)] == ["1", "2"]


def test_half_of_a_character_is_read_as_a_lost_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "title": "a \\ud83d b \\ud83d\\ude00", "abstract": "\\\\ud83d"}')
    assert list(corpus(path)) == [Document("1", "a \ufffd b \U0001f600", "\\ud83d")]


def test_an_id_that_is_a_whole_number_is_its_digits(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 0}\n{"id": 28522256}\n{"id": "028"}\n')
    assert [document.id for document in corpus(path)] == ["0", "28522256", "028"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json}", "is not JSON"),
        ("[", "one value over several lines. `jq -c '.[]'` writes each"),
        ('{"id": "1",', "one value over several lines"),
        ('{"id": "1", "title": "cut', "is not JSON"),
        ("[1, 2]", "holds a list"),
        ('"text"', "holds a string"),
        ('{"title": "x"}', "no id: the key 'id' is missing (keys: 'title')"),
        ('{"id": null}', "the id under 'id' is null."),
        ('{"id": 5.0}', "is the number 5.0. Write it as a string"),
        ('{"id": 123456789012345678901}', "is the number 1.2345678901234568e+20. Write it as"),
        ('{"id": true}', "is true or false. Write it as a string"),
        ('{"id": ["5"]}', "is a list. Write it as a string"),
        ('{"id": ""}', "the id '' is empty."),
        ('{"id": "a b"}', "the id 'a b' has white space in it"),
        ('{"id": "a\\u00a0b"}', "has white space in it"),
        ('{"id": "a\\u0001b"}', r"the id 'a\x01b' has a control character in it, which run"),
        ('{"id": "\\u0000"}', "has a control character"),
        ('{"id": "' + "ü" * 20_000 + '"}', "has 40,000 bytes, of which an index takes 32,766."),
        ('{"id": "1", "title": ["x"]}', "'title' is a list, not text"),
        ('{"id": "1", "abstract": {"x": 1}}', "'abstract' is an object, not text"),
    ],
)
def test_a_wrong_line_is_named_with_file_and_number(tmp_path, line, message):
    path = tmp_path / "docs.jsonl"
    path.write_text(f'{{"id": "0"}}\n\n{line}\n')
    with pytest.raises(InputError) as error:
        list(corpus(path))
    assert str(error.value).startswith(f"{path}:3: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"docs\.jsonl:1: byte 9 of this line is not UTF-8. Save"):
        list(corpus(path))


def test_a_cut_off_gzip_file_is_named(tmp_path):
    path = tmp_path / "docs.jsonl.gz"
    lines = "".join(f'{{"id": "{i}", "title": "{i * 7919}"}}\n' for i in range(5000))
    path.write_bytes(gzip.compress(lines.encode())[:-2000])
    with pytest.raises(InputError, match=r"docs\.jsonl\.gz: .*not a whole gzip"):
        list(corpus(path))


def test_the_fingerprint_is_of_content_and_keys_not_of_place_or_name(tmp_path, json_lines):
    one = json_lines(tmp_path / "x/a.jsonl", [{"id": "1", "title": "T"}])
    same = json_lines(tmp_path / "y/b.jsonl", [{"id": "1", "title": "T"}])
    other = json_lines(tmp_path / "y/c.jsonl", [{"id": "1", "title": "U"}])
    assert corpus(one).fingerprint == corpus(same, name="d").fingerprint
    different = [
        corpus(other),
        corpus(one, other),
        corpus(other, one),
        corpus(one, names=FieldNames(title="heading", fields=("mesh",))),
        corpus(one, names=FieldNames()),
    ]
    assert len({c.fingerprint for c in [corpus(one), *different]}) == 6


def test_corpora_have_the_same_documents_whatever_fields_they_keep(tmp_path, json_lines):
    one = json_lines(tmp_path / "x/a.jsonl", [{"_id": "1", "title": "T", "text": "A"}])
    same = json_lines(tmp_path / "y/b.jsonl", [{"_id": "1", "title": "T", "text": "A"}])
    other = json_lines(tmp_path / "y/c.jsonl", [{"_id": "1", "title": "U", "text": "A"}])
    folder = corpus(one, names=BEIR)
    for fields in ((), ("mesh",), ("mesh", "year")):
        declared = corpus(same, names=FieldNames("_id", "title", "text", fields))
        assert declared.fingerprint != folder.fingerprint
        assert declared.same_documents(folder)
        assert folder.same_documents(declared)
    for different in (
        corpus(other, names=BEIR),
        corpus(one, other, names=BEIR),
        corpus(one, names=FieldNames("id", "title", "text")),
        corpus(one, names=FieldNames("_id", "heading", "text")),
        corpus(one, names=FieldNames("_id", "title", "abstract")),
    ):
        assert not different.same_documents(folder)
        assert not folder.same_documents(different)


def test_names_of_metadata_are_known_wherever_they_come_first(
    tmp_path, json_lines, fresh_home, monkeypatch
):
    """Late ones would be neither indexed nor found, such as years that limit a search."""
    lines = [{"_id": str(n), "metadata": {"type": "x"}} for n in range(500)]
    path = json_lines(tmp_path / "a.jsonl", [*lines, {"_id": "500", "metadata": {"year": "2001"}}])
    assert corpus(path, names=BEIR).fields == ("type", "year")
    assert not fresh_home.exists()
    monkeypatch.setattr("irplatform.documents.jsonlines._SMALL", 0)
    assert corpus(path, names=BEIR).fields == ("type", "year")
    (file,) = (fresh_home / "fields").glob("*/fields.json")
    before = file.stat().st_mtime_ns
    assert corpus(path, names=BEIR).fields == ("type", "year")
    assert file.stat().st_mtime_ns == before


def test_beir_metadata_become_fields_and_their_names_are_known(tmp_path, json_lines, fresh_home):
    metadata = {"url": "u", "year": 2001, "open": True, "mesh": ["A", None, 3], "none": None}
    path = json_lines(tmp_path / "a.jsonl", [{"_id": "1"}, {"_id": "2", "metadata": metadata}])
    documents = corpus(path, names=BEIR)
    assert documents.fields == ("url", "year", "open", "mesh")
    assert list(documents)[1].fields == {
        "url": "u",
        "year": "2001",
        "open": "true",
        "mesh": ("A", "3"),
    }


def test_metadata_of_another_kind_are_refused(tmp_path, json_lines, fresh_home):
    path = json_lines(tmp_path / "a.jsonl", [{"_id": "1", "metadata": "x"}])
    with pytest.raises(InputError, match="'metadata' is a string, not an object"):
        assert corpus(path, names=BEIR).fields


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_json_value_is_text_texts_or_nothing(value):
    field = field_value(json.loads(json.dumps(value)))
    assert (
        field is None
        or isinstance(field, str)
        or (isinstance(field, tuple) and all(isinstance(item, str) for item in field))
    )
    assert (field is None) == (value is None)
