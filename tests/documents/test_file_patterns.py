"""Patterns and folders stand for files, in the same order everywhere."""

import pytest

from irplatform.documents.jsonlines import find_files
from irplatform.errors import InputError


@pytest.fixture
def find(tmp_path):
    """Names of the files that patterns name in a folder of some."""
    for place in (
        "baseline/n2.xml",
        "baseline/n1.xml.gz",
        "baseline/n1.xml.gz.md5",
        "baseline/._n1.xml.gz",
        "up/n3.xml.gz",
    ):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()

    def names(*patterns):
        return [path.name for path in find_files(tmp_path, patterns, (".xml", ".xml.gz"))]

    return names


def test_patterns_and_folders_name_files(find, tmp_path):
    assert find("baseline") == ["n1.xml.gz", "n2.xml"]
    assert find("baseline/*.xml.gz", "up/n3.xml.gz") == ["n1.xml.gz", "n3.xml.gz"]
    assert find("baseline", "baseline/*.xml") == ["n1.xml.gz", "n2.xml"]
    assert find(str(tmp_path / "*" / "n3*")) == ["n3.xml.gz"]
    assert find("**/*.xml.gz") == find("*/**.xml.gz") == ["n1.xml.gz", "n3.xml.gz"]


def test_files_of_a_pattern_come_by_their_names_and_patterns_as_they_are_given(find):
    assert find("up/*", "baseline/n*.xml*") == [
        "n3.xml.gz",
        "n1.xml.gz",
        "n1.xml.gz.md5",
        "n2.xml",
    ]


def test_a_file_is_named_as_it_is_although_it_looks_like_a_pattern(find, tmp_path):
    (tmp_path / "n[1].xml").touch()
    assert find("n[1].xml") == ["n[1].xml"]


def test_what_names_no_file_is_told(find):
    with pytest.raises(InputError, match=r"there are no files .*/other/\*\.xml\.gz\."):
        find("baseline", "other/*.xml.gz")
    with pytest.raises(InputError, match=r"there is no file .*/n9\.xml\."):
        find("n9.xml")
