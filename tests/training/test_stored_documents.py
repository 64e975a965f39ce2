"""Vectors of all documents are kept in the name of whose code makes them."""

import numpy as np
import pytest
from small import small_resources

from irplatform.files.code_digests import module_of
from irplatform.training.neural import stored_documents


@pytest.fixture
def resources(tmp_path):
    stand_in = small_resources(
        tmp_path / "forward", {"d1": "one", "d2": "two"}, {"one": np.ones(2)}
    )
    stand_in.makers = []
    original = stand_in.artifact

    def artifact(kind, depends_on, build):
        stand_in.makers.append(module_of(build))
        return original(kind, depends_on, build)

    stand_in.artifact = artifact
    return stand_in


def test_they_are_made_once_in_the_order_of_the_forward_index(resources):
    calls = []

    def compute(rows):
        calls.append(rows.tolist())
        return rows[:, None].astype(np.float32)

    for _ in range(2):
        table = stored_documents(resources, "kind", {}, compute, 1)
        assert table.tolist() == [[0], [1]]
    assert calls == [[0, 1]]


def test_their_maker_is_the_plugin_and_not_the_platform(resources):
    """Or an edit of the plugin would find the vectors of before."""

    def compute(rows):
        return rows[:, None].astype(np.float32)

    compute.__module__ = "strange_plugin.vectors"
    stored_documents(resources, "kind", {}, compute, 1)
    assert resources.makers == ["strange_plugin.vectors"]
