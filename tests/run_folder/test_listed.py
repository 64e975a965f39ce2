"""A folder stands for the runs that it says it has, and what is gone is told."""

import gzip
import json
import shutil

import pytest

from irplatform.errors import InputError
from irplatform.run_folder.listed import (
    MATRIX,
    REPORT,
    described_runs,
    listed_runs,
    matrix_cells,
    run_files,
)
from irplatform.run_folder.metadata_files import (
    is_as_recorded,
    lines_digest,
    metadata_path,
    read_metadata,
)

NAMES = ("bm25", "ltr", "ltr-alone")


def write(folder, name):
    path = folder / f"{name}.run"
    path.write_text(f"1 Q0 {name} 1 1.0 x\n")
    about = {"file": path.name, "sha256": lines_digest(path)}
    metadata_path(path).write_text(json.dumps({"method": {}, "run": about}))
    return path


def report(folder, *names, **more):
    rows = [{"name": n, "path": f"elsewhere/{n}.run", "measures_alone": {}} for n in names]
    (folder / REPORT).write_text(json.dumps({"runs": rows, **more}))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "x"
    place.mkdir()
    files = {f"{n}.run": lines_digest(write(place, n)) for n in NAMES}
    rows = [{"path": "a/bm25.run"}, {"path": "a/ltr.run", "measures_alone": {}}]
    (place / REPORT).write_text(json.dumps({"runs": rows, "files": files}))
    return place


def names(paths):
    return [path.name for path in paths]


def test_a_folder_stands_for_its_last_table(folder):
    write(folder, "earlier")
    assert names(run_files([folder])) == ["bm25.run", "ltr.run"]
    assert names(listed_runs(folder, in_table=True)) == ["bm25.run", "ltr.run"]
    assert names(listed_runs(folder)) == ["bm25.run", "ltr.run", "ltr-alone.run"]


def test_a_run_of_the_table_that_is_gone_is_an_error_with_a_way_out(folder):
    (folder / "ltr.run").unlink()
    with pytest.raises(InputError, match=r"x: ltr\.run, which it lists, is not here") as e:
        run_files([folder])
    assert "`platform rerun`, or name the run files" in e.value.message
    assert names(run_files([folder / "bm25.run"])) == ["bm25.run"]


@pytest.mark.parametrize("with_metadata", [True, False])
def test_a_renamed_run_is_told_by_its_content(folder, with_metadata):
    (folder / "ltr.run").rename(folder / "best.run")
    if with_metadata:
        (folder / "ltr.run.meta.json").rename(folder / "best.run.meta.json")
    with pytest.raises(InputError, match=r"best\.run has the content of ltr\.run"):
        run_files([folder])


def test_without_a_report_metadata_say_what_there_was(folder):
    (folder / REPORT).unlink()
    assert names(run_files([folder])) == ["bm25.run", "ltr.run"]
    (folder / "bm25.run").unlink()
    with pytest.raises(InputError, match=r"bm25\.run, which it lists, is not here"):
        run_files([folder])
    assert names(described_runs(folder)) == ["bm25.run", "ltr-alone.run", "ltr.run"]


def test_own_scores_and_runs_of_earlier_commands_are_not_missed_by_a_table(folder):
    write(folder, "earlier").unlink()
    (folder / "ltr-alone.run").unlink()
    assert names(run_files([folder])) == ["bm25.run", "ltr.run"]


def test_packed_runs_stand_for_those_that_are_listed_and_keep_their_metadata(folder):
    for path in folder.glob("*.run"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert names(run_files([folder])) == ["bm25.run.gz", "ltr.run.gz"]
    assert names(described_runs(folder)) == [f"{n}.run.gz" for n in ("bm25", "ltr-alone", "ltr")]
    assert read_metadata(folder / "ltr.run.gz").run.file == "ltr.run"


@pytest.mark.parametrize("packed_since", [False, True])
def test_runs_that_were_written_packed_are_listed_with_their_own_scores(folder, packed_since):
    rows = [{"path": "a/bm25.run.gz"}, {"path": "a/ltr.run.gz", "measures_alone": {}}]
    (folder / REPORT).write_text(json.dumps({"runs": rows}))
    endings = ".run"  # unpacked since
    if packed_since:
        endings = ".run.gz"
        for path in folder.glob("*.run"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    assert names(listed_runs(folder)) == [f"{n}{endings}" for n in ("bm25", "ltr", "ltr-alone")]
    assert read_metadata(folder / "ltr.run.gz").run.file == "ltr.run"


def test_a_run_that_was_unpacked_keeps_its_metadata(folder):
    (folder / "ltr.run.meta.json").rename(folder / "ltr.run.gz.meta.json")
    assert read_metadata(folder / "ltr.run").run.file == "ltr.run"
    assert names(described_runs(folder)) == ["bm25.run", "ltr-alone.run", "ltr.run"]


@pytest.mark.parametrize(
    "content",
    [b"", b"1 Q0 a 1 1.0 x\n", gzip.compress(b"1 Q0 a 1 1.0 x\n")[:-3]],
    ids=["empty", "plain", "cut off"],
)
def test_a_damaged_packed_run_is_not_as_recorded(tmp_path, content):
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(b"# head\n1 Q0 a 1 1.0 x\n"))
    recorded = lines_digest(path)
    assert is_as_recorded(path, recorded)
    path.write_bytes(content)
    assert not is_as_recorded(path, recorded)


def test_all_seeds_and_their_own_scores_are_listed(tmp_path):
    seeds = [{"path": f"r/ltr-seed{n}.run"} for n in (1, 2)]
    row = {"path": seeds[0]["path"], "measures_alone": {}, "seeds": seeds}
    (tmp_path / REPORT).write_text(json.dumps({"runs": [row]}))
    assert names(listed_runs(tmp_path, in_table=True)) == ["ltr-seed1.run"]
    assert {*names(listed_runs(tmp_path))} == {
        *("ltr-seed1.run", "ltr-seed2.run", "ltr-seed1-alone.run", "ltr-seed2-alone.run")
    }


@pytest.fixture
def matrix(tmp_path):
    cells = []
    for stage in ("bm25", "qld"):
        folder = tmp_path / "m" / "c" / stage
        folder.mkdir(parents=True)
        runs = [
            {"name": stage, "path": str(write(folder, stage)), "measures": {"AP": 0.5}},
            {"name": "ltr", "path": str(write(folder, "ltr")), "interpolation": 0.5},
        ]
        report(folder, stage, "ltr")
        place = {"collection": "c", "first_stage": stage, "folder": f"runs/old/c/{stage}"}
        cells.append({**place, "baseline": stage, "runs": runs})
    (tmp_path / "m" / MATRIX).write_text(json.dumps({"cells": cells}))
    return tmp_path / "m"


def test_a_matrix_that_was_moved_is_read_where_it_is(matrix):
    files = [(c.file(c.first).name, names(map(c.file, c.reranked))) for c in matrix_cells(matrix)]
    assert files == [("bm25.run", ["ltr.run"]), ("qld.run", ["ltr.run"])]
    assert len(run_files([matrix])) == 4


def test_a_cell_or_a_run_of_a_matrix_that_is_gone_is_told(matrix):
    (matrix / "c" / "qld" / "ltr.run").unlink()
    with pytest.raises(InputError, match=r"m: c/qld/ltr\.run, which it lists, is not here"):
        run_files([matrix])
    shutil.rmtree(matrix / "c" / "qld")
    with pytest.raises(InputError, match=r"c/qld/qld\.run, c/qld/ltr\.run, which it lists"):
        run_files([matrix])
