"""Files of several plugins: one that is not right is refused with its reason, the others go on."""

import pytest
from commands import call as platform

from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.registry.registration import Plugin
from irplatform.reproduction.rows import known_rows, select, shipped_rows

OURS = Plugin("ours", "irplatform", "1.0")
THEIRS = Plugin("theirs", "their-package", "0.3")
ROW = """
[[result]]
id = "theirs-demo"
collection = "demo"
minutes = 1
tolerance = 0.1
tags = ["theirs"]
expected = { "AP" = 0.5 }
"""


@pytest.fixture
def foreign_file(tmp_path):
    """A file of another plugin."""
    file = tmp_path / "theirs.toml"
    file.write_text(ROW, encoding="utf-8")
    return file


@pytest.fixture
def shipped(monkeypatch, results, foreign_file):
    """Both files, as plugins ship them."""
    files = {results: OURS, foreign_file: THEIRS}
    monkeypatch.setattr(registry(), "results", files)
    return files


def _replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_files_that_are_right_are_read_in_their_order(shipped):
    rows, refused = shipped_rows(shipped)
    assert [row.id for row in rows] == ["bm25-small", "ranker-small", "elsewhere", "theirs-demo"]
    assert refused == []
    assert known_rows(shipped) == rows


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[[result]]", "[[result]", ":2: this is not TOML"),
        ("tags =", "tag =", "'tag' is not a key of result 'theirs-demo'. Did you mean 'tags'?"),
        ("theirs-demo", "bm25-small", "result 'bm25-small' is also in"),
        ('{ "AP" = 0.5 }', "{}", "result 'theirs-demo', key 'expected'"),
    ],
)
def test_a_file_that_is_not_right_is_refused_and_the_others_go_on(
    shipped, foreign_file, capsys, monkeypatch, old, new, reason
):
    _replace(foreign_file, old, new)
    result = platform(capsys, monkeypatch, "reproduce", "--list", "--json")
    assert result.code == 0
    ids = [row["id"] for row in result.json["results"]]
    assert ids == ["bm25-small", "ranker-small", "elsewhere"]
    (line,) = result.err.splitlines()
    place = "results of plugin 'theirs' (their-package 0.3) are not used: "
    assert line.startswith(f"{place}{foreign_file}:")
    assert reason in line
    result = platform(capsys, monkeypatch, "reproduce", "--file", foreign_file, "--file", *shipped)
    assert result.code == 2
    with pytest.raises(InputError, match=r"\.toml:"):
        known_rows(shipped)


@pytest.mark.parametrize("pattern", ["theirs-demo", "theirs", "theirs-*"])
def test_who_asks_for_rows_of_a_refused_file_learns_why(
    shipped, foreign_file, capsys, monkeypatch, pattern
):
    _replace(foreign_file, "minutes = 1", "minutes = 0")
    arguments = ("reproduce", "--only", "bm25-small", "--only", pattern, "--list")
    result = platform(capsys, monkeypatch, *arguments)
    assert (result.code, result.out) == (2, "")
    assert f"unknown result, tag, system or difference '{pattern}'." in result.err
    assert "results of plugin 'theirs' (their-package 0.3) are not used: " in result.err
    assert "result 'theirs-demo', key 'minutes': " in result.err


def test_a_pattern_that_may_be_in_a_refused_file_is_told_of_it(shipped, foreign_file):
    foreign_file.write_bytes(b"\xff")
    rows, refused = shipped_rows(shipped)
    with pytest.raises(InputError, match=r"unknown result.*lists all; results of plugin 'theirs'"):
        select(rows, ["theirs-demo"], refused=refused)


def test_where_all_files_are_refused_nothing_is_left(foreign_file):
    _replace(foreign_file, "tags", "tag")
    rows, refused = shipped_rows({foreign_file: THEIRS})
    with pytest.raises(InputError, match="there are no results; results of plugin 'theirs'"):
        select(rows, refused=refused)


def test_two_rows_of_one_id_are_refused(results, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text(results.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="is also in"):
        known_rows([results, other])


def test_none_of_our_files_is_refused():
    assert shipped_rows(registry().results)[1] == []
