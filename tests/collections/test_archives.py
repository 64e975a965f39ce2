"""Tar archives are read as streams, and refused where something is missing."""

import gzip
import io
import tarfile

import pytest

from irplatform.errors import InputError
from irplatform.files.reading import read_tar

FILES = {"a.xml": b"first", "b.txt": b"not wanted", "c.xml": b"third" * 300, "d.xml": b"last"}
WANTED = [(name, content) for name, content in FILES.items() if name != "b.txt"]


def _tar():
    """An archive, and where the headers of its files begin."""
    buffer = io.BytesIO()
    headers = []
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in FILES.items():
            headers.append(archive.offset)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue(), headers


TAR, HEADERS = _tar()
_LAST = HEADERS[-1]
_DAMAGED = TAR[: _LAST + 150] + b"?" + TAR[_LAST + 151 :]


def _read(path, content):
    path.write_bytes(content)
    return list(read_tar(path, lambda name: name.endswith(".xml")))


@pytest.mark.parametrize(
    "content",
    [
        TAR,
        gzip.compress(TAR),
        gzip.compress(TAR[:_LAST]) + gzip.compress(TAR[_LAST:]),  # as parallel packers make it
    ],
)
def test_wanted_files_come_in_order(tmp_path, content):
    assert _read(tmp_path / "a.tar", content) == WANTED


def test_no_more_is_read_of_a_file_than_asked_for(tmp_path):
    (tmp_path / "a.tar").write_bytes(TAR)
    (name, content), *_ = read_tar(tmp_path / "a.tar", lambda name: name == "c.xml", most=7)
    assert (name, content) == ("c.xml", b"thirdth")


@pytest.mark.parametrize(
    "content",
    [
        TAR[:_LAST],
        TAR[: _LAST + 100],
        TAR[: _LAST + 514],
        _DAMAGED,
        gzip.compress(TAR[: _LAST + 100]),
        gzip.compress(TAR)[:-1],
        gzip.compress(TAR)[:-6] + b"??????",  # another checksum
        b"no archive",
        b"",
    ],
)
def test_what_is_not_whole_is_refused_and_not_taken_for_the_end(tmp_path, content):
    with pytest.raises(InputError, match="this is not a whole tar archive"):
        _read(tmp_path / "a.tar", content)
