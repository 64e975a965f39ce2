import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.text import string_table
from irplatform.text.string_table import StringTable, StringTableWriter

STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True)


def written(folder, strings, batch=3):
    with StringTableWriter(folder, "table") as writer:
        for start in range(0, len(strings), batch):
            writer.extend(strings[start : start + batch])
    return writer.finish()


@given(STRINGS, STRINGS)
@settings(max_examples=50)
def test_strings_and_numbers_lead_to_each_other(tmp_path_factory, strings, others):
    folder = tmp_path_factory.mktemp("table")
    assert written(folder, strings) is None
    for table in (StringTable.open(folder, "table"), StringTable.of(strings)):
        assert list(table) == strings
        assert [table[number] for number in range(len(table))] == strings
        expected = [strings.index(s) if s in strings else -1 for s in others + strings]
        assert table.find(others + strings).tolist() == expected


def test_strings_of_one_hash_are_told_apart(tmp_path, monkeypatch):
    hashes = string_table._hashes
    monkeypatch.setattr(string_table, "_hashes", lambda encoded: hashes(encoded) % 2)
    strings = [f"document-{number}" for number in range(20)]
    assert written(tmp_path, strings) is None
    table = StringTable.open(tmp_path, "table")
    assert table.find([*strings, "other"]).tolist() == [*range(20), -1]


@pytest.mark.parametrize("one_hash", [False, True])
def test_a_string_that_comes_twice_is_named(tmp_path, monkeypatch, one_hash):
    if one_hash:
        hashes = string_table._hashes
        monkeypatch.setattr(string_table, "_hashes", lambda encoded: hashes(encoded) % 1)
    assert written(tmp_path, ["a", "b", "c", "d", "b", "e"]) == "b"


def test_a_number_out_of_range_is_an_index_error():
    with pytest.raises(IndexError):
        StringTable.of(["a"])[1]
