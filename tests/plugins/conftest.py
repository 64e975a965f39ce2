"""The planted task, which several models learn."""

import pytest
from graph_resources import graph_resources
from planted import planted_resources


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def planted_graph(cache_of_module, tmp_path_factory):
    """The same with a concept graph."""
    return graph_resources(tmp_path_factory.mktemp("planted-graph"))
