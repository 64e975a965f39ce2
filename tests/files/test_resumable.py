"""A folder that takes several attempts appears when complete; one process at a time fills it."""

import pytest

from irplatform.errors import InputError
from irplatform.files.resumable import resumable_folder


@pytest.fixture(autouse=True)
def _home(fresh_home):
    """Locks of its own."""


def test_it_appears_when_the_block_ends_well(tmp_path):
    with resumable_folder(tmp_path / "deep/er") as partial:
        (partial / "a").write_text("1")
        assert not (tmp_path / "deep/er").exists()
    assert (tmp_path / "deep/er/a").read_text() == "1"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["er"]


def test_an_interrupted_attempt_is_handed_to_the_next(tmp_path):
    with pytest.raises(KeyboardInterrupt), resumable_folder(tmp_path / "x") as partial:
        (partial / "a").write_text("1")
        raise KeyboardInterrupt
    assert not (tmp_path / "x").exists()
    with resumable_folder(tmp_path / "x") as partial:
        assert (partial / "a").exists()


def test_an_empty_folder_is_free_and_another_one_is_not(tmp_path):
    (tmp_path / "x").mkdir()
    with resumable_folder(tmp_path / "x") as partial:
        (partial / "a").write_text("1")
    with pytest.raises(InputError, match="exists already"), resumable_folder(tmp_path / "x"):
        pass


def test_a_second_process_is_turned_away(tmp_path):
    with (
        resumable_folder(tmp_path / "x"),
        pytest.raises(InputError, match=r"x: another process is building this"),
        resumable_folder(tmp_path / "x"),
    ):
        pass


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(InputError), resumable_folder(tmp_path / "x"):
        pass
