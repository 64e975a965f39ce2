"""Wherever plugins go, relative paths of users mean what they meant before."""

import os
from pathlib import Path

import pytest

from irplatform import directory
from irplatform.at_work import plugin_at_work
from irplatform.errors import PluginError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("fails", [False, True])
def test_a_plugin_that_goes_elsewhere_at_work_does_not_move_paths_of_users(home, fails):
    def work():
        with plugin_at_work("reranker 'far'", "learning", __name__):
            os.chdir("/")
            if fails:
                raise ValueError("lost")

    if fails:
        with pytest.raises(PluginError, match="failed learning: ValueError: lost"):
            work()
    else:
        work()
    assert Path.cwd() == home


def test_of_blocks_that_overlap_the_last_to_end_goes_back_to_where_the_first_began(home):
    """As those of threads do."""
    first, second = directory.restored(), directory.restored()
    first.__enter__()
    os.chdir("/")
    second.__enter__()
    first.__exit__(None, None, None)
    os.chdir("/usr")
    second.__exit__(None, None, None)
    assert Path.cwd() == home


def test_a_directory_that_is_gone_is_no_hindrance(home):
    (gone := home / "gone").mkdir()
    os.chdir(gone)
    gone.rmdir()
    with directory.restored():
        os.chdir(home)
    assert Path.cwd() == home
