"""Large files are hashed once; a changed file is hashed again."""

import hashlib
import os
import threading
import time

import pytest

from irplatform.errors import InputError
from irplatform.files import digests


@pytest.fixture
def hashed(fresh_home, monkeypatch):
    """Every file counts as large; the list grows by every file that is really read."""
    monkeypatch.setattr("irplatform.files.digests._LARGE", 0)
    monkeypatch.setattr("irplatform.files.digests._SETTLED", -1)
    read = []
    original = digests.file_digest
    monkeypatch.setattr(digests, "file_digest", lambda p, *_: read.append(p) or original(p))
    return read


def test_a_digest_is_the_files_sha256_and_read_once(tmp_path, hashed):
    path = tmp_path / "big"
    path.write_bytes(b"content")
    for _ in range(3):
        assert digests.digest(path) == hashlib.sha256(b"content").hexdigest()
    assert hashed == [path]


def test_a_digest_is_remembered_of_a_file_whose_name_is_not_utf8(tmp_path, hashed):
    path = tmp_path / os.fsdecode(b"Z\xfcrich.tsv")
    path.write_bytes(b"content")
    for _ in range(2):
        assert digests.digest(path) == hashlib.sha256(b"content").hexdigest()
    assert hashed == [path]


def test_a_change_of_content_is_seen_although_size_and_time_stamp_are_kept(tmp_path, hashed):
    path = tmp_path / "big"
    path.write_bytes(b"content")
    stamp = path.stat()
    before = digests.digest(path)
    path.write_bytes(b"CONTENT")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert digests.digest(path) != before


def test_a_file_that_was_just_written_is_not_remembered(tmp_path, hashed, monkeypatch):
    monkeypatch.setattr("irplatform.files.digests._SETTLED", 2_000_000_000)
    path = tmp_path / "big"
    path.write_bytes(b"content")
    digests.digest(path)
    digests.digest(path)
    assert hashed == [path, path]


def test_a_spoilt_memory_is_only_forgotten(tmp_path, hashed, fresh_home):
    path = tmp_path / "big"
    path.write_bytes(b"content")
    digests.digest(path)
    (fresh_home / "digests.json").write_text("{spoilt")
    assert digests.digest(path) == hashlib.sha256(b"content").hexdigest()
    assert hashed == [path, path]


def test_a_file_whose_content_is_older_than_the_file_is_not_remembered_at_once(
    tmp_path, hashed, monkeypatch
):
    """As one that was unpacked or copied just now: its time of content is the archive's."""
    monkeypatch.setattr("irplatform.files.digests._SETTLED", 2_000_000_000)
    path = tmp_path / "big"
    path.write_bytes(b"content")
    os.utime(path, (0, 0))
    digests.digest(path)
    digests.digest(path)
    assert hashed == [path, path]


def test_small_files_are_not_remembered(tmp_path, hashed, fresh_home, monkeypatch):
    monkeypatch.setattr("irplatform.files.digests._LARGE", 8)
    for content in (b"1234567", b"12345678"):
        (tmp_path / "file").write_bytes(content)
        assert digests.digest(tmp_path / "file") == hashlib.sha256(content).hexdigest()
        assert (fresh_home / "digests.json").exists() == (len(content) == 8)


def test_what_was_hashed_longest_ago_is_forgotten_first(tmp_path, hashed, monkeypatch):
    monkeypatch.setattr("irplatform.files.digests._REMEMBERED", 2)
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for path, content in ((one, "1"), (two, "2"), (one, "changed"), (three, "3")):
        path.write_text(content)
        digests.digest(path)
    hashed.clear()
    digests.digests([one, three])
    assert hashed == []
    digests.digest(two)
    assert hashed == [two]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        digests.digest(tmp_path / "nowhere")


def test_several_files_keep_their_order_and_are_remembered_together(tmp_path, hashed):
    paths = [tmp_path / name for name in "cab"]
    for path in paths:
        path.write_text(path.name)
    expected = [hashlib.sha256(path.name.encode()).hexdigest() for path in paths]
    assert digests.digests(paths) == digests.digests(paths) == expected
    assert sorted(hashed) == sorted(paths)
    assert digests.digests([]) == []


def test_the_files_of_a_folder_are_known_by_their_paths_in_it(tmp_path):
    (tmp_path / "inner.json").mkdir()
    for name in ("b.txt", "a.json", "inner.json/c.json"):
        (tmp_path / name).write_text(name)
    expected = {
        name: hashlib.sha256(name.encode()).hexdigest()
        for name in ("a.json", "b.txt", "inner.json/c.json")
    }
    result = digests.folder_digests(tmp_path)
    assert result == expected
    assert list(result) == list(expected)
    del expected["b.txt"]
    assert digests.folder_digests(tmp_path, ("*.json", "a*")) == expected


def test_who_interrupts_does_not_wait_for_large_files(tmp_path, fresh_home, monkeypatch):
    """The threads that hash are told; Python waits for them before anything else happens."""
    (tmp_path / "large").write_bytes(b"x" * 100)
    (tmp_path / "other").write_bytes(b"x")
    begun = threading.Event()
    original = digests.file_digest

    def hashing(path, stopped):
        if path.name == "other":
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        assert wait_until(stopped)
        return original(path, stopped)

    monkeypatch.setattr(digests, "file_digest", hashing)
    with pytest.raises(KeyboardInterrupt):
        digests.digests([tmp_path / "other", tmp_path / "large"])


def wait_until(holds):
    for _ in range(1000):
        if holds():
            return True
        time.sleep(0.01)
    return False
