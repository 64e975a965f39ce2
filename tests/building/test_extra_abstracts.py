"""Conference abstracts are read from an archive or a folder, in the track's format."""

import gzip
import shutil
import tarfile

import pytest
from small_pool import ABSTRACTS, write_archive

from irplatform.building.pm_sources import is_extra, read_extra_abstracts
from irplatform.errors import InputError

NAME = "AACR_2012-1"


@pytest.fixture
def archive(tmp_path):
    return write_archive(tmp_path / "extra_abstracts.tar.gz")


@pytest.fixture
def folder(tmp_path, archive):
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    return tmp_path / "unpacked"


def test_an_archive_and_a_folder_give_the_same(archive, folder):
    abstracts = [read_extra_abstracts(path, ABSTRACTS) for path in (archive, folder)]
    assert abstracts[0] == abstracts[1]
    document = abstracts[0][NAME]
    assert document.id == NAME
    assert document.title == "Meeting talk one"
    assert document.abstract == "About Meeting talk one."
    assert document.fields == {"meeting": "AACR Annual Meeting"}


def test_only_wanted_ones_are_read(folder):
    (next(folder.rglob("ASCO*"))).write_bytes(b"\xff nonsense")
    assert set(read_extra_abstracts(folder, {NAME, "AACR_none"})) == {NAME}


@pytest.mark.parametrize(
    ("text", "title", "abstract"),
    [
        ("Meeting: M\r\nTitle: A\r\nlong title\r\n\r\nOne\r\n\r\ntwo", "A long title", "One two"),
        ("Meeting: M\n\nTitle: A\n\nB", "A", "B"),
        ("\ufeffMeeting: M\nTitle: A\n", "A", ""),
    ],
)
def test_lines_may_wrap(folder, text, title, abstract):
    next(folder.rglob(f"{NAME}.txt")).write_text(text, newline="", encoding="utf-8")
    document = read_extra_abstracts(folder, {NAME})[NAME]
    assert (document.title, document.abstract) == (title, abstract)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Title: A\n\nB", "AACR_2012-1 in it has another format"),
        (b"Meeting: M\nA\n\nB", "another format"),
        (b"", "another format"),
        (b"Meeting: \xff", "not UTF-8"),
    ],
)
def test_another_format_is_named(folder, content, message):
    next(folder.rglob(f"{NAME}.txt")).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_extra_abstracts(folder, {NAME})


@pytest.mark.parametrize("content", [b"nothing of the kind", b"PK\x03\x04 broken", b""])
def test_what_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "extra.tar.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"extra\.tar\.gz: this cannot be read as a folder"):
        read_extra_abstracts(path, {NAME})


def test_a_truncated_archive_is_refused(archive):
    archive.write_bytes(archive.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read"):
        read_extra_abstracts(archive, ABSTRACTS)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("damage", ["cut off", "damaged"])
def test_an_archive_that_ends_before_its_end_is_refused(tmp_path, archive, packed, damage):
    """Python's tarfile would give what comes before, and nobody would miss the rest."""
    content = gzip.decompress(archive.read_bytes())
    second = content.index(b".txt", 512) // 512 * 512
    content = content[:second] + (b"" if damage == "cut off" else b"x" * 512 + content[second:])
    path = tmp_path / "broken.tar"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match=r"broken\.tar: this cannot be read .* not a whole tar"):
        read_extra_abstracts(path, ABSTRACTS)


def test_links_in_an_archive_lead_nowhere(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("Meeting: M\nTitle: secret\n\nsecret")
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as packed:
        entry = tarfile.TarInfo(f"{NAME}.txt")
        entry.type, entry.linkname = tarfile.SYMTYPE, str(secret)
        packed.addfile(entry)
    assert read_extra_abstracts(path, {NAME}) == {}


def test_ids_of_conferences_are_told_from_others():
    assert is_extra("AACR_2012-1")
    assert is_extra("ASCO_191-199")
    assert not is_extra("12345")
    assert not is_extra("AACR")
