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
def theirs(tmp_path):
    """A file of another plugin."""
    file = tmp_path / "theirs.toml"
    file.write_text(ROW, encoding="utf-8")
    return file


@pytest.fixture
def shipped(monkeypatch, results, theirs):
    """Both files, as plugins ship them."""
    files = {results: OURS, theirs: THEIRS}
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
    shipped, theirs, capsys, monkeypatch, old, new, reason
):
    _replace(theirs, old, new)
    done = platform(capsys, monkeypatch, "reproduce", "--list", "--json")
    assert done.code == 0
    ids = [row["id"] for row in done.json["results"]]
    assert ids == ["bm25-small", "ranker-small", "elsewhere"]
    (line,) = done.err.splitlines()
    place = "results of plugin 'theirs' (their-package 0.3) are not used: "
    assert line.startswith(f"{place}{theirs}:")
    assert reason in line
    done = platform(capsys, monkeypatch, "reproduce", "--file", theirs, "--file", *shipped)
    assert done.code == 2
    with pytest.raises(InputError, match=r"\.toml:"):
        known_rows(shipped)


@pytest.mark.parametrize("pattern", ["theirs-demo", "theirs", "theirs-*"])
def test_who_asks_for_rows_of_a_refused_file_learns_why(
    shipped, theirs, capsys, monkeypatch, pattern
):
    _replace(theirs, "minutes = 1", "minutes = 0")
    asked = ("reproduce", "--only", "bm25-small", "--only", pattern, "--list")
    done = platform(capsys, monkeypatch, *asked)
    assert (done.code, done.out) == (2, "")
    assert f"unknown result, tag, system or difference '{pattern}'." in done.err
    assert "results of plugin 'theirs' (their-package 0.3) are not used: " in done.err
    assert "result 'theirs-demo', key 'minutes': " in done.err


def test_a_pattern_that_may_be_in_a_refused_file_is_told_of_it(shipped, theirs):
    theirs.write_bytes(b"\xff")
    rows, refused = shipped_rows(shipped)
    with pytest.raises(InputError, match=r"unknown result.*lists all; results of plugin 'theirs'"):
        select(rows, ["theirs-demo"], refused=refused)


def test_where_all_files_are_refused_nothing_is_left(theirs):
    _replace(theirs, "tags", "tag")
    rows, refused = shipped_rows({theirs: THEIRS})
    with pytest.raises(InputError, match="there are no results; results of plugin 'theirs'"):
        select(rows, refused=refused)


def test_two_rows_of_one_id_are_refused(results, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text(results.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="is also in"):
        known_rows([results, other])


def test_none_of_our_files_is_refused():
    assert shipped_rows(registry().results)[1] == []
