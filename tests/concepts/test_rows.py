"""The rows of documents, written in several attempts."""

from pathlib import Path

import numpy as np
import pytest

from irplatform.concepts.document_links import Linked, RowWriter


@pytest.mark.parametrize("removals", range(4))
def test_a_kill_between_the_last_steps_loses_no_links(tmp_path, monkeypatch, removals):
    columns = (np.array(values, np.int32) for values in ([1, 1], [0, 1], [1, 2]))
    batch = Linked(["a", "b"], *columns, empty=0)
    _write(tmp_path, batch)
    remove, removed = Path.unlink, []

    def killed(path, **options):
        if len(removed) == removals:
            raise KeyboardInterrupt
        removed.append(path)
        remove(path, **options)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "unlink", killed)
        _finish(tmp_path)
        raise KeyboardInterrupt  # after all of them
    _write(tmp_path, batch)
    assert _finish(tmp_path)["without_concept"] == 0
    assert np.fromfile(tmp_path / "documents.indptr.int64", np.int64).tolist() == [0, 1, 2]


def test_rows_that_a_crash_of_the_machine_cut_are_written_again(tmp_path, capsys):
    columns = (np.array(values, np.int32) for values in ([2, 2], [1, 3, 1, 3], [1, 1, 1, 1]))
    batch = Linked(["a", "b"], *columns, empty=0)
    _write(tmp_path, batch)
    indices = tmp_path / "documents.indices.int32"
    indices.write_bytes(indices.read_bytes()[:8])
    _write(tmp_path, batch)
    assert "starting over" in capsys.readouterr().err
    with RowWriter(tmp_path) as writer:
        assert writer.documents == 2
    assert writer.finish(concepts=4)["links"] == 4
    assert np.fromfile(indices, np.int32).tolist() == [1, 3, 1, 3]


def _write(folder, batch):
    """Go on with an attempt: what is there already is not asked for."""
    with RowWriter(folder) as writer:
        if not writer.documents:
            writer.add(batch)


def _finish(folder):
    with RowWriter(folder) as writer:
        pass
    return writer.finish(concepts=2)
