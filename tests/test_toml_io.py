"""What is written as TOML reads back as what it was."""

import tomllib

import pytest

from irplatform.errors import InputError
from irplatform.toml_io import parse_toml, read_toml, toml_key, toml_value


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (f"a = {'[' * 9999}{']' * 9999}", "nested more than 100 deep"),
        (f"a = {'[' * 101}{']' * 101}", "nested more than 100 deep"),
        (f"a = {'{a = ' * 200}1{'}' * 200}", "nested more than 100 deep"),
        (f"[{'.'.join('a' * 3000)}]", "nested more than 100 deep"),
        (f"a = {'1' * 5000}", "more than 64 bits"),
        (f"a = 0x{'f' * 5000}", "more than 64 bits"),
        (f"a = [{1 << 64}]", "more than 64 bits"),
        (r'a = "b\u0000c"', "NUL character"),
        (r'"b\u0000c" = 1', "NUL character"),
        ("a = 1\nb = \x01", "deep.toml:2: this is not TOML"),
    ],
)
def test_what_would_break_a_program_is_refused(content, reason, tmp_path):
    (tmp_path / "deep.toml").write_text(content)
    with pytest.raises(InputError, match=reason) as refused:
        read_toml(tmp_path / "deep.toml")
    assert str(refused.value).startswith(f"{tmp_path}/deep.toml:")


def test_values_nested_as_deep_as_allowed_are_read():
    assert parse_toml(f"a = {'[' * 99}{1 << 63}{']' * 99}")
