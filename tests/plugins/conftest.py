"""The planted task, which several models learn."""

import pytest
from graph_resources import graph_resources
from planted import planted_resources


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return planted_resources(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def planted_graph(tmp_path_factory):
    """The same with a concept graph, whose knowledge base is in a cache of the module's own."""
    place = tmp_path_factory.mktemp("planted-graph")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRPLATFORM_HOME", str(place / "home"))
        yield graph_resources(place)
