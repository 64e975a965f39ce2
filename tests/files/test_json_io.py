"""JSON of others is read as JSON says; what breaks the next program is refused with its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.errors import InputError
from irplatform.files.formats import parse_json, read_json, read_own_json
from irplatform.files.writing import write_json

ANY_TEXT = st.text(st.characters(categories=None, codec=None), max_size=8)  # also surrogates
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=8,
)


def _repaired(value):
    """A value whose texts are text: Python decodes the halves that make a pair, and replaces."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    return value


@given(VALUES)
def test_lone_surrogates_become_replacement_characters(value):
    assert parse_json(json.dumps(value).encode()) == _repaired(value)


def test_an_escaped_backslash_before_a_u_is_no_escape():
    assert parse_json(rb'["\\ud83d", "\ud83d"]') == [r"\ud83d", "\ufffd"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{\n"a": }', ":2: this is not JSON"),
        (b'{\n"a":\n"\xff"}', ":3: byte 2 of this line is not UTF-8"),
        (b"1" * 5_000, ":1: this is not JSON"),
        (b"[NaN]", ":1: this is not JSON"),
    ],
)
def test_an_error_names_the_line(content, place, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=f"a.json{place}"):
        read_json(tmp_path / "a.json")


@given(VALUES)
def test_what_the_platform_wrote_reads_back_to_the_letter(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "own.json"
    write_json(path, value)
    assert read_own_json(path) == json.loads(path.read_text())


@pytest.mark.parametrize("content", ["1" * 5_000, "{", "\x80"])
def test_a_damaged_file_of_the_platform_is_refused(content, tmp_path):
    (tmp_path / "own.json").write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=r"own\.json:?1?: this is damaged"):
        read_own_json(tmp_path / "own.json")
