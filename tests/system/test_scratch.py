"""What a killed process leaves beside its output goes; what another one is filling stays."""

import subprocess
import sys

import pytest

from irplatform.system.writing import atomic_folder

MAKING = """
import sys
from pathlib import Path
from irplatform.system.writing import atomic_folder

with atomic_folder(Path(sys.argv[1])) as folder:
    (folder / "content").write_text("half")
    print("filling", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def making(tmp_path):
    """Another process that makes the folder `made` and is at it; it goes on when stdin ends."""
    command = [sys.executable, "-c", MAKING, str(tmp_path / "made")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"filling\n"
        yield process
        process.kill()


def test_what_a_killed_process_left_of_a_folder_goes_when_it_is_made_again(tmp_path, making):
    making.kill()
    making.wait()
    (left,) = tmp_path.iterdir()
    (tmp_path / ".made.mine").mkdir()  # a user's, under a name like those of scratch
    with atomic_folder(tmp_path / "other"):
        assert left.exists()
    with atomic_folder(tmp_path / "made"):
        assert not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.mine", "made", "other"]


def test_what_a_process_is_filling_stays(tmp_path, making):
    (scratch,) = tmp_path.iterdir()
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "made"):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == [scratch.name]
    making.communicate()
    assert (tmp_path / "made" / "content").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_where_files_cannot_be_locked_folders_are_made_all_the_same(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refused)
    with atomic_folder(tmp_path / "made") as folder:
        (folder / "content").write_text("x")
    assert [path.name for path in tmp_path.rglob("*")] == ["made", "content"]
