"""Names of runs and of their files, compressed or not."""

from pathlib import Path

import pytest

from irplatform.runs.names import file_beside, file_name, other_form, run_file


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", ["bm25", "delta-seed42-alone", "big.v2", "odd.gz", "mine.txt"])
def test_the_name_of_a_run_survives_its_file(name, compressed):
    path = Path("runs") / run_file(name, compressed=compressed)
    assert path.name == f"{name}.run" + ".gz" * compressed
    assert file_name(path) == file_name(other_form(path)) == name
    assert other_form(other_form(path)) == path != other_form(path)
    assert file_beside(path, "ltr") == Path("runs") / run_file("ltr", compressed=compressed)
