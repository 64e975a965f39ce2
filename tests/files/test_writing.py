"""Files and folders: complete or absent, and refused in time where they cannot be written."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from irplatform.errors import InputError, lacks_space
from irplatform.files.digests import file_digest, fingerprint, number_of
from irplatform.files.writing import (
    atomic_folder,
    atomic_write,
    copy_folder,
    home,
    made_folder,
    writable_file,
    writable_folder,
    write_file,
    write_json,
)


def test_fingerprints_do_not_depend_on_the_order_of_keys():
    assert fingerprint({"a": 1, "b": [1, 2]}) == fingerprint({"b": [1, 2], "a": 1})
    assert fingerprint({"a": [1, 2]}) != fingerprint({"a": [2, 1]})


def test_a_file_digest_is_its_sha256(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    assert file_digest(tmp_path / "file").startswith("ba7816bf8f01cfea414140de5dae2223")


def test_the_number_of_a_text_is_the_same_everywhere():
    assert number_of("melanoma ü") == 3_851_252_642_731_241_055


def test_an_atomic_write_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_write(path) as file:
        file.write("text")
        assert not path.exists()
    assert path.read_text() == "text"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_atomic_write_leaves_nothing_and_keeps_the_old(tmp_path):
    path = tmp_path / "file"
    for _ in range(2):
        with pytest.raises(RuntimeError), atomic_write(path) as file:
            file.write("half")
            raise RuntimeError
        assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        raise RuntimeError
    assert path.read_text() == "old"


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/file")
    for content in ("new", "newer"):
        with atomic_write(tmp_path / "link") as file:
            file.write(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "far" / "file").read_text() == content
    assert len(list(tmp_path.rglob("*"))) == 3


def test_devices_and_pipes_stay_what_they_are(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for name in ("pipe", "null"):
        with pytest.raises(InputError, match="this is a device or a pipe, not a file; name a file"):
            writable_file(tmp_path / name)
        with pytest.raises(InputError, match="a device or a pipe"), atomic_write(tmp_path / name):
            pass
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "null").is_symlink()


def test_a_full_disk_is_told_with_the_file_that_could_not_be_written(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match="No space left") as raised, atomic_write(tmp_path / "a.run"):
        raise full
    assert raised.value.filename == str(tmp_path / "a.run")
    assert not list(tmp_path.iterdir())


def test_written_files_can_be_read_by_others_as_the_umask_says(tmp_path):
    before = os.umask(0o022)
    try:
        with atomic_write(tmp_path / "file", "wb") as file:
            file.write(b"x")
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", ["file/x", "file/folder/x"])
def test_a_file_cannot_be_written_below_a_file(tmp_path, name):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="cannot write here: its folder is a file"),
        atomic_write(tmp_path / name),
    ):
        pass


def test_json_names_files_whose_names_are_not_utf8(tmp_path):
    content = {"file": os.fsdecode(b"Z\xfcrich.tsv"), "place": "Zürich"}
    write_json(tmp_path / "x.json", content)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(text) == content
    assert "Zürich" in text
    assert text.endswith("}\n")


def test_a_folder_to_write_to_is_not_made_yet(tmp_path):
    assert writable_folder(tmp_path / "a/b") == tmp_path / "a/b"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_below_a_file_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="this is a file, not a folder"):
        writable_folder(tmp_path / "file" / "runs")


def _link(tmp_path, target):
    (tmp_path / "link").symlink_to(target)
    return tmp_path / "link"


@pytest.mark.parametrize(
    ("locate", "message"),
    [
        (lambda tmp_path: _link(tmp_path, "nowhere"), "link: this link leads nowhere, or back"),
        (lambda tmp_path: _link(tmp_path, "link"), "link: this link leads nowhere, or back"),
        (lambda tmp_path: _link(tmp_path, "nowhere") / "runs", "link: this link leads nowhere"),
        (lambda tmp_path: _link(tmp_path, "file"), "link: this is a file, not a folder"),
        (lambda tmp_path: tmp_path / "file", "file: this is a file, not a folder"),
        (lambda tmp_path: tmp_path / "file" / "runs", "file: this is a file, not a folder"),
    ],
)
def test_where_no_folder_can_be_the_place_is_named(tmp_path, monkeypatch, locate, message):
    (tmp_path / "file").write_text("")
    place = locate(tmp_path)
    with pytest.raises(InputError, match=message):
        writable_folder(place)
    with pytest.raises(InputError, match=message), made_folder(place):
        pass
    monkeypatch.setenv("IRPLATFORM_HOME", str(place))
    with pytest.raises(InputError, match=rf"{message}.*Set IRPLATFORM_HOME to a folder"):
        home()


def test_a_link_to_a_folder_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    place = _link(tmp_path, "real")
    monkeypatch.setenv("IRPLATFORM_HOME", str(place))
    assert writable_folder(place) == home() == place


def test_a_file_that_is_a_link_to_itself_is_refused(tmp_path):
    with pytest.raises(InputError, match="this link leads back to itself"):
        write_file(_link(tmp_path, "link"), b"x")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_write_that_a_disk_refuses_names_the_file(tmp_path, number):
    with pytest.raises(OSError, match=r"my\.run") as caught, atomic_write(tmp_path / "my.run"):
        raise OSError(number, os.strerror(number))
    assert (caught.value.errno, list(tmp_path.iterdir())) == (number, [])


def test_a_copy_that_a_disk_refuses_keeps_its_reason(tmp_path):
    refused = shutil.Error([("a", "b", "[Errno 28] No space left on device")])
    with pytest.raises(shutil.Error) as caught, atomic_folder(tmp_path / "copy"):
        raise refused
    assert lacks_space(caught.value)


def test_a_folder_on_a_read_only_disk_cannot_be_written_to(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)  # the superuser may write anywhere else
    with pytest.raises(InputError, match=r"cannot be written to: Read-only file system"):
        writable_folder(tmp_path / "runs")


def test_a_file_to_write_is_no_folder_nor_below_a_file(tmp_path):
    assert writable_file(tmp_path / "new/file") == tmp_path / "new/file"
    with pytest.raises(InputError, match="this is a folder; name a file"):
        writable_file(tmp_path)
    (tmp_path / "file").write_text("")
    assert writable_file(tmp_path / "file").exists()
    with pytest.raises(InputError, match="this is a file, not a folder"):
        writable_file(tmp_path / "file" / "tuned.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_copied_folder_is_complete_or_absent(tmp_path, monkeypatch):
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "file").write_text("text")
    copy_folder(source, tmp_path / "new" / "copy")
    assert (tmp_path / "new" / "copy" / "inner" / "file").read_text() == "text"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["copy"]

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", fail)
    with pytest.raises(OSError, match="No space"):
        copy_folder(source, tmp_path / "new" / "other")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["copy"]


def test_folders_that_were_made_for_one_that_failed_are_gone(tmp_path):
    (tmp_path / "here").mkdir()
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "here" / "a" / "b" / "made"):
        assert (tmp_path / "here" / "a" / "b").is_dir()
        raise RuntimeError
    assert list(tmp_path.rglob("*")) == [tmp_path / "here"]
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "here" / "a" / "made"):
        (tmp_path / "here" / "a" / "somebody's").write_text("")
        raise RuntimeError
    assert (tmp_path / "here" / "a" / "somebody's").exists()
    with atomic_folder(tmp_path / "c" / "d" / "made"):
        pass
    assert (tmp_path / "c" / "d" / "made").is_dir()


def test_an_atomic_folder_appears_when_it_is_complete_and_its_scratch_vanishes(tmp_path):
    with atomic_folder(tmp_path / "made") as folder:
        (folder / "content").write_text("x")
        (folder.parent / "scratch").write_text("y")
        assert not (tmp_path / "made").exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["made", "content"]


def test_the_current_folder_cannot_be_made(tmp_path, monkeypatch):
    """Who is in it would go on seeing the one that was there."""
    monkeypatch.chdir(tmp_path)
    for name in (".", "../" + tmp_path.name, tmp_path):
        with (
            pytest.raises(InputError, match="the folder that you are in"),
            atomic_folder(Path(name)),
        ):
            pass
    assert list(tmp_path.iterdir()) == []


def test_an_atomic_folder_leaves_nothing_after_an_error_and_overwrites_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "made") as folder:
        (folder / "content").write_text("x")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    (tmp_path / "taken").write_text("mine")
    with (
        pytest.raises(InputError, match="exists already"),
        atomic_folder(tmp_path / "taken"),
    ):
        pass
    assert (tmp_path / "taken").read_text() == "mine"
