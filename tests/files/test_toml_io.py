"""What is written as TOML reads back as what it was."""

import tomllib

import pytest

from irplatform.errors import InputError
from irplatform.files.formats import read_toml, toml_key, toml_value


@pytest.mark.parametrize(
    "value",
    ["plain", 'a"b\\c', "two\nlines", "a\x7fb", "𝒳", 5, 0.5, True, ["a", "b"], {"a b": {"c": 1}}],
)
def test_a_value_reads_back(value):
    assert tomllib.loads(f"x = {toml_value(value)}") == {"x": value}


def test_what_is_not_set_is_none():
    assert toml_value(None) == '"none"'


def test_a_key_has_quotes_where_it_needs_them():
    assert toml_key("delta.filters") == "delta.filters"
    assert tomllib.loads(f"{toml_key('ltr.a b')} = 1") == {"ltr": {"a b": 1}}


def test_an_error_names_the_line(tmp_path):
    (tmp_path / "a.toml").write_text("a = 1\nb = \x01")
    with pytest.raises(InputError, match=r"a\.toml:2: this is not TOML"):
        read_toml(tmp_path / "a.toml")
