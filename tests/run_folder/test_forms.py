"""Files beside runs that have another form are refused in a line with the file's name."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform.errors import InputError
from irplatform.run_folder.folder import FILE_NAME, read_scores
from irplatform.run_folder.listed import MATRIX, REPORT, matrix_cells, run_files
from irplatform.run_folder.metadata_files import known_metadata, metadata_path, read_metadata
from irplatform.run_folder.metadata_model import known_parts
from irplatform.run_folder.mixture import mixture_of

REFERENCE = Path(__file__).parents[2] / "runs" / "reference" / "demo"
OTHER_FORMS = ('{"runs": 3}', "[]", "null", "7", '"x"', "{}", '{"runs": [', "\x00", "[" * 100_000)
READERS = {
    REPORT: lambda folder: run_files([folder]),
    MATRIX: matrix_cells,
    FILE_NAME: read_scores,
    "bm25.run.meta.json": lambda folder: known_metadata(folder / "bm25.run"),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bm25.run").write_text("1 Q0 a 1 1 x\n")
    return tmp_path


@pytest.mark.parametrize("content", OTHER_FORMS)
@pytest.mark.parametrize("name", READERS)
def test_another_form_is_one_line_with_the_name_of_the_file(folder, name, content):
    (folder / name).write_text(content)
    with pytest.raises(InputError) as refused:
        READERS[name](folder)
    assert Path(refused.value.path).name == name
    assert "there is no" not in refused.value.message
    assert len(refused.value.message) < 300


@pytest.mark.parametrize("name", READERS)
def test_a_folder_in_place_of_a_file_is_named(folder, name):
    (folder / name).mkdir()
    with pytest.raises(InputError, match=f"{name}: this cannot be read"):
        READERS[name](folder)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"runs": [{"path": 7}]}', r"runs\.0\.path: input is not a valid path"),
        ('{"runs": [{"name": "x"}]}', "field required"),
        ('{"runs": [{"path": "a.run", "seeds": [1]}]}', r"runs\.0\.seeds\.0"),
    ],
)
def test_a_report_says_which_part_is_wrong(folder, content, fault):
    (folder / REPORT).write_text(content)
    with pytest.raises(InputError, match=fault):
        run_files([folder])


def test_a_matrix_whose_baseline_is_not_among_its_runs_is_refused(folder):
    cell = {"collection": "c", "first_stage": "x", "baseline": "x", "folder": "c/x", "runs": []}
    (folder / MATRIX).write_text(json.dumps({"cells": [cell]}))
    with pytest.raises(InputError, match="its baseline is not among its runs"):
        matrix_cells(folder)


def test_metadata_of_ours_have_no_other_parts():
    for run in ("bm25.run", "delta.run"):
        content = json.loads(metadata_path(REFERENCE / run).read_text())
        parts, odd = known_parts(content)
        assert (json.dumps(parts.content()), odd) == (json.dumps(content), [])
        assert read_metadata(REFERENCE / run) == parts


def test_parts_of_another_form_are_left_out_and_named(folder):
    content = {
        "tag": "theirs",
        "method": {"retrieval": {"name": "bm25"}, "seed": 1},
        "platform": "a laptop",
        "data": {"test collection": "med", "inputs": ["x"]},
        "run": {"sha256": 5},
        "runs": [1, 2],
    }
    metadata_path(folder / "bm25.run").write_text(json.dumps(content))
    assert read_metadata(folder / "bm25.run").content() == {
        "tag": "theirs",
        "method": {"seed": 1},
        "data": {"inputs": ["x"]},
        "run": {},
    }


def test_metadata_without_a_method_are_told_apart_from_none(folder):
    with pytest.raises(InputError, match=r"there is no bm25\.run\.meta\.json beside this run"):
        known_metadata(folder / "bm25.run")
    metadata_path(folder / "bm25.run").write_text('{"tag": "x", "method": 3}')
    with pytest.raises(InputError, match=r"bm25\.run\.meta\.json: these metadata have no section"):
        known_metadata(folder / "bm25.run")


WORDS = "method data run runs path retrieval settings name cells interpolation reranks fuses seeds"
KEYS = st.sampled_from(["test collection", "measures_alone", *WORDS.split()])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
def test_any_json_is_read_or_refused(folder, content):
    for name, read in READERS.items():
        (folder / name).write_text(json.dumps(content))
        try:
            read(folder)
        except InputError as error:
            assert error.path is not None
        (folder / name).unlink()
    if isinstance(content, dict):
        mixture_of(known_parts(content)[0].method)
