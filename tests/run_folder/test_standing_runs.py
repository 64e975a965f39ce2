"""Run files that have the right bytes already."""

import gzip

import pytest

from irplatform.errors import InputError
from irplatform.run_folder.folder import RunFolder
from irplatform.run_folder.metadata_files import metadata_path, read_metadata, run_metadata
from irplatform.run_folder.metadata_model import Method
from irplatform.runs import Run
from irplatform.runs.run import Later

pytestmark = pytest.mark.usefixtures("fresh_home")

RANKINGS = {"1": {"a": 2.0, "b": 1.0}, "2": {}}


def _refuse():
    raise AssertionError("the run stands")


@pytest.fixture
def write(tmp_path):
    def write(run=None, *, identity="mark", tag="x", seed=1):
        metadata = run_metadata(tag=tag, command="platform", method=Method(seed=seed), timings={})
        folder = RunFolder(tmp_path)
        file = folder.write(run or Run("x", Later(_refuse)), metadata, identity)
        assert folder.files == {"x.run": file.sha256}
        return file

    return write


def test_a_run_that_stands_is_not_made_again(write):
    first = write(Run("x", RANKINGS))
    before, bytes_before = first.path.stat(), first.path.read_bytes()
    again = write(seed=2)
    assert again == first
    assert (again.results, again.lengths) == ([2], {"1": 2, "2": 0})
    after = first.path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    metadata = read_metadata(first.path)
    assert metadata.method.seed == 2
    assert metadata.run.sha256 == first.sha256
    assert [*metadata.run.rankings] == ["1"]
    assert first.path.read_bytes() == bytes_before
    assert {topic: [*ranking] for topic, ranking in again.run.rankings.items()} == {
        "1": [("a", 2.0), ("b", 1.0)]
    }


@pytest.mark.parametrize("other", [{"identity": "other"}, {"identity": ""}, {"tag": "t"}])
def test_another_run_of_that_name_is_written(write, other):
    write(Run("x", RANKINGS))
    with pytest.raises(AssertionError, match="stands"):
        write(**other)


def test_a_run_that_is_gone_is_written_again(write):
    first = write(Run("x", RANKINGS))
    first.path.unlink()
    assert write(Run("x", RANKINGS)) == first
    assert first.path.exists()


def test_a_run_that_was_changed_is_told_and_written_again(write, capsys):
    first = write(Run("x", RANKINGS))
    content = first.path.read_bytes()
    first.path.write_bytes(content.replace(b"2.0", b"9.0"))
    assert write(Run("x", RANKINGS)) == first
    assert first.path.read_bytes() == content
    message = f"{first.path} was changed after it was written, and is written again\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    "change", [lambda lines: b"# a comment\n" + lines, gzip.compress, lambda lines: lines[:-9]]
)
def test_the_same_results_in_other_bytes_are_written_again(write, capsys, change):
    first = write(Run("x", RANKINGS))
    content = first.path.read_bytes()
    first.path.write_bytes(change(content))
    write(Run("x", RANKINGS))
    assert first.path.read_bytes() == content
    assert "was changed after it was written" in capsys.readouterr().err


def test_a_cache_that_cannot_be_written_to_keeps_nothing(write, monkeypatch):
    def refuse(*_, **__):
        raise InputError("the cache cannot be written to.")

    monkeypatch.setattr("irplatform.files.facts.artifact", refuse)
    assert write(Run("x", RANKINGS)).path.exists()


@pytest.mark.parametrize("metadata", [None, b"{"])
def test_damaged_metadata_are_replaced(write, metadata):
    first = write(Run("x", RANKINGS))
    path = metadata_path(first.path)
    path.unlink() if metadata is None else path.write_bytes(metadata)
    write()
    assert read_metadata(first.path).run.sha256 == first.sha256
