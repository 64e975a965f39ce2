"""The archive of Java's classes: used where it fits, made beside a command, never in its way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from irplatform.files.cache_contents import contents
from irplatform.files.locks import lock
from irplatform.files.writing import home
from irplatform.lucene.java import class_archive
from irplatform.lucene.java.class_archive import ARCHIVE, VARIABLE


@pytest.fixture
def java(tmp_path, monkeypatch, fresh_home):
    """A Java whose program `java` is a line of shell, an empty cache, and what was begun."""
    jar, runtime = tmp_path / "anserini.jar", tmp_path / "java"
    jar.write_text("classes")
    (runtime / "bin").mkdir(parents=True)
    (runtime / "release").write_text('JAVA_VERSION="21.0.8"\n')
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(class_archive, "lucene_jar", lambda: jar)
    monkeypatch.setattr(class_archive, "find_runtime", lambda: runtime)
    monkeypatch.setattr(class_archive, "memory", lambda: (1 << 40, 1 << 40))
    monkeypatch.setattr(class_archive, "_list", None)
    monkeypatch.setattr(os, "nice", lambda _: None)

    class Java:
        begun = 0

        def options(self):
            return class_archive.options(runtime, jar)

        def make(self, dump, file=None):
            program = runtime / "bin" / "java"
            program.write_text(f"#!/bin/sh\n{dump}\n")
            program.chmod(0o755)
            class_archive.make(lambda _: class_archive._list.write_text("java/lang/String"), file)
            monkeypatch.setattr(class_archive, "_list", None)

    one = Java()
    monkeypatch.setattr(class_archive, "_begin", lambda: setattr(one, "begun", one.begun + 1))
    return one


DUMPS = 'for o in "$@"; do case $o in *SharedArchiveFile=*) echo x > "${o#*=}";; esac; done'


def test_a_missing_archive_is_begun_and_then_used(java):
    assert (java.options(), java.begun) == ([], 1)
    java.make(DUMPS)
    (archive,) = home().glob(f"java/java-21-anserini-*/{ARCHIVE}")
    assert java.options() == [
        f"-XX:SharedArchiveFile={archive}",
        "-Xshare:auto",
        "-Xlog:cds*=off",
    ]
    assert java.begun == 1
    assert [(item.kind, item.complete) for item in contents()] == [("java", True)]
    assert sorted(path.name for path in archive.parent.iterdir()) == [ARCHIVE, "manifest.json"]


def test_while_one_process_makes_it_no_other_is_begun(java):
    java.make(DUMPS)
    (folder,) = home().glob("java/java-21-anserini-*")
    (folder / ARCHIVE).unlink()
    with lock(folder.with_name(folder.name.rpartition("-")[2])):
        assert (java.options(), java.begun) == ([], 0)
    assert (java.options(), java.begun) == ([], 1)


def test_a_java_that_makes_no_archive_is_asked_once(java):
    java.make("echo no sharing >&2; exit 1")
    assert (java.options(), java.begun) == ([], 0)
    (reason,) = home().glob("java/*/refusal.txt")
    assert reason.read_text() == "no sharing\n"


def test_another_jar_or_java_has_its_own(java, tmp_path):
    java.make(DUMPS)
    (tmp_path / "anserini.jar").write_text("other classes")
    assert (java.options(), java.begun) == ([], 1)


@pytest.mark.parametrize("memory", [None, (1 << 40, 1 << 30)])
def test_little_or_unknown_memory_is_left_alone(java, monkeypatch, memory):
    monkeypatch.setattr(class_archive, "memory", lambda: memory)
    assert (java.options(), java.begun) == ([], 0)


def test_a_cache_that_cannot_be_written_to_is_no_error(java, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "file" / "home"))
    assert (java.options(), java.begun) == ([], 0)


def test_the_variable_names_an_archive_or_none(java, tmp_path, monkeypatch):
    archive = tmp_path / "own.jsa"
    monkeypatch.setenv(VARIABLE, str(archive))
    assert java.options() == []
    java.make(DUMPS, archive)
    assert java.options()[0] == f"-XX:SharedArchiveFile={archive}"
    monkeypatch.setenv(VARIABLE, "")
    assert java.options() == []
    assert java.begun == 0
    assert not home().exists()


def test_a_passing_cache_is_lent_the_archive(java, monkeypatch):
    monkeypatch.setattr(class_archive, "is_here", lambda: True)
    assert class_archive.lent() == ""
    java.make(DUMPS)
    (archive,) = home().glob(f"java/java-21-anserini-*/{ARCHIVE}")
    assert class_archive.lent() == str(archive)
    monkeypatch.setenv(VARIABLE, "own.jsa")
    assert class_archive.lent() == "own.jsa"
    assert java.begun == 0


@pytest.mark.java
@pytest.mark.slow
def test_java_takes_its_classes_from_the_archive_and_ignores_a_damaged_one(tmp_path):
    archive = tmp_path / ARCHIVE
    subprocess.run([sys.executable, "-m", "irplatform.lucene.rehearsal", archive], check=True)
    assert [*tmp_path.iterdir()] == [archive]

    def shared(name):
        log = tmp_path / name
        program = (
            "from irplatform.lucene.java import java_class\n"
            "java_class('io.anserini.search.SimpleSearcher')\n"
        )
        logged = f"-Xlog:class+load:file={log}"
        started = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, VARIABLE: str(archive), "JAVA_TOOL_OPTIONS": logged},
            capture_output=True,
            text=True,
            check=True,
        )
        assert started.stdout + started.stderr == f"Picked up JAVA_TOOL_OPTIONS: {logged}\n"
        lines = log.read_text().splitlines()
        return sum("shared objects file" in line for line in lines) / len(lines)

    assert shared("whole") > 0.9
    content = archive.read_bytes()
    for name, damaged in {
        "cut": content[: len(content) // 2],
        "empty": b"",
        "other": b"\x00" * 4096 + content[4096:],
    }.items():
        archive.write_bytes(damaged)
        assert shared(name) == 0


def test_the_classes_that_a_rehearsal_loads_are_listed(monkeypatch):
    monkeypatch.setattr(class_archive, "_list", Path("classes.txt"))
    assert class_archive.options(Path(), Path()) == ["-XX:DumpLoadedClassList=classes.txt"]
