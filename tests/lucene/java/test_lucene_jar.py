"""Lucene's jar: found, or fetched."""

import errno
import os
import subprocess
import sys
import tarfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from irplatform.errors import PlatformError
from irplatform.lucene import build
from irplatform.lucene.java import jar as lucene_jar


def _pip(folder, monkeypatch, *, archive=None, stderr="", returncode=0):
    """Stands in for pip: puts an archive where it was told to."""
    commands = []

    def run(command, _folder, _advance):
        commands.append(command)
        if archive is not None:
            target = Path(command[command.index("--dest") + 1])
            with tarfile.open(target / "pyserini-2.4.0.tar.gz", "w:gz") as packed:
                packed.add(
                    archive, "pyserini-2.4.0/pyserini/resources/jars/anserini-2.3.0-fatjar.jar"
                )
        return returncode, stderr

    monkeypatch.setenv("IRPLATFORM_HOME", str(folder / "home"))
    monkeypatch.setattr(lucene_jar, "_installed", lambda: None)
    monkeypatch.setattr(lucene_jar, "_run_pip", run)
    return commands


def test_without_pyserini_its_jar_is_fetched_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "jar").write_text("classes")
    commands = _pip(tmp_path, monkeypatch, archive=tmp_path / "jar")
    for _ in range(2):
        assert lucene_jar.lucene_jar().read_text() == "classes"
    (command,) = commands
    assert {"--no-deps", "--require-hashes"} <= {*command}
    assert [path.name for path in lucene_jar.lucene_jar().parent.iterdir() if path.is_file()] == [
        "anserini-2.3.0-fatjar.jar",
        "manifest.json",
    ]
    assert "pip fetches Pyserini 2.4.0 (113 MB) into the cache" in capsys.readouterr().err


def test_without_a_network_the_line_says_what_to_install(tmp_path, monkeypatch):
    stderr = "WARNING: retrying\nERROR: No matching distribution found for pyserini==2.4.0\n"
    _pip(tmp_path, monkeypatch, stderr=stderr, returncode=1)
    with pytest.raises(PlatformError) as caught:
        lucene_jar.lucene_jar()
    assert str(caught.value) == (
        "Lucene is missing and cannot be fetched (No matching distribution found for "
        "pyserini==2.4.0). Run pip install --no-deps 'pyserini>=1.4,<3' where there is a network."
    )
    assert not list((tmp_path / "home").rglob("*.jar"))


@pytest.mark.parametrize(
    ("reason", "number", "name"),
    [
        ("[Errno 28] No space left on device", errno.ENOSPC, None),
        ("[Errno 28] No space left on device: '/a b/c'", errno.ENOSPC, "/a b/c"),
        ("[Errno 122] Disk quota exceeded: '/home/me/x'", errno.EDQUOT, "/home/me/x"),
        ("[Errno 30] Read-only file system: '/ro/x'", errno.EROFS, "/ro/x"),
        ('[Errno 13] Permission denied: "/it\'s/x"', errno.EACCES, "/it's/x"),
    ],
)
def test_a_disk_that_pip_cannot_write_to_is_told_as_such(
    tmp_path, monkeypatch, reason, number, name
):
    stderr = (
        "WARNING: Retrying after connection broken by 'NewConnectionError(: [Errno 13] Permission "
        f"denied')': /simple/\nERROR: Could not install packages due to an OSError: {reason}\n\n"
    )
    _pip(tmp_path, monkeypatch, stderr=stderr, returncode=1)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        lucene_jar.lucene_jar()
    assert caught.value.errno == number
    assert caught.value.filename == name or (not name and "/home/lucene/" in caught.value.filename)


def test_a_network_that_is_not_permitted_is_no_disk(tmp_path, monkeypatch):
    refused = "Failed to establish a new connection: [Errno 1] Operation not permitted"
    _pip(tmp_path, monkeypatch, stderr=f"ERROR: {refused}'))': /simple/\n", returncode=1)
    with pytest.raises(PlatformError, match="where there is a network"):
        lucene_jar.lucene_jar()


def test_the_bytes_that_pip_has_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(lucene_jar, "_POLL", 0.001)
    program = (
        "import os, sys, tempfile, pathlib\n"
        "place = pathlib.Path(tempfile.mkdtemp(), 'pyserini-2.4.0.tar.gz')\n"
        "file = place.open('wb')\n"
        "for size in (40_000_000, 900_000_000):\n"
        "    file.truncate(size)\n"
        "    sys.stdin.readline()\n"
        "sys.exit('ERROR: no more')\n"
    )
    steps = []
    read, write = os.pipe()
    monkeypatch.setattr(lucene_jar.subprocess, "Popen", partial(subprocess.Popen, stdin=read))

    def advance(megabytes):
        if megabytes:
            steps.append(megabytes)
            os.write(write, b"\n")

    ended = lucene_jar._run_pip([sys.executable, "-c", program], tmp_path, advance)
    assert ended == (1, "ERROR: no more\n")
    assert steps == [40, 73]  # of 113, however large the file
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("jar", "version"),
    [
        ("anserini-1.4.0-fatjar.jar", "9"),
        ("anserini-0.39.0-fatjar.jar", "9"),
        ("anserini-2.3.0-fatjar.jar", "10"),
    ],
)
def test_the_jar_tells_lucenes_version_and_an_index_depends_on_it(monkeypatch, jar, version):
    corpus = SimpleNamespace(fingerprint="x", finds_fields=False)
    monkeypatch.setattr(lucene_jar, "_installed", lambda: Path(jar))
    assert lucene_jar.lucene_version() == version
    expected = {"corpus": "x", "format": 3} | ({"lucene": "10"} if version == "10" else {})
    assert build._depends_on(corpus) == expected
