"""The scores beside the runs survive being written, and anything else is refused."""

import json

import pytest

from irplatform.errors import InputError
from irplatform.run_folder.folder import (
    FILE_NAME,
    FolderScores,
    SystemScores,
    read_scores,
    write_scores,
)

SCORES = FolderScores(
    "demo",
    ["AP"],
    {
        "bm25": SystemScores({"AP": 0.25}, {"AP": {"1": 0.5, "é": 0.0}}),
        "delta": SystemScores({"AP": 1 / 3}, {"AP": {"1": 2 / 3, "é": 0.0}}),
    },
)


def test_scores_come_back_as_they_were(tmp_path):
    write_scores(SCORES, tmp_path)
    assert read_scores(tmp_path) == SCORES


def test_equal_scores_give_equal_bytes(tmp_path):
    write_scores(SCORES, tmp_path / "one")
    write_scores(read_scores(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one" / FILE_NAME).read_bytes() == (
        tmp_path / "two" / FILE_NAME
    ).read_bytes()


def test_a_folder_without_scores_is_told_apart_from_no_folder(tmp_path):
    with pytest.raises(InputError, match=rf"there is no {FILE_NAME} here. `platform run`"):
        read_scores(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        read_scores(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="this is a file"):
        read_scores(tmp_path / "file")


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"collection": "x", "measures": ["AP"], "systems": {"a": {"means": {"AP": "high"}}}},
        {"collection": "x", "measures": ["AP"], "systems": {"a": {"means": {"AP": 1.0}}}},
        {"collection": "x", "measures": "AP", "systems": {}},
    ],
)
def test_other_json_is_refused(tmp_path, content):
    (tmp_path / FILE_NAME).write_text(json.dumps(content))
    with pytest.raises(InputError, match="this has another form"):
        read_scores(tmp_path)


def test_what_is_no_json_is_refused_with_its_line(tmp_path):
    (tmp_path / FILE_NAME).write_text('{\n"collection"\n')
    with pytest.raises(InputError, match=r"scores.json:\d: this is damaged: it is not JSON"):
        read_scores(tmp_path)
