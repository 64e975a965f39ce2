"""The same work on a local Ray."""

import sys

import pytest
from concept_data import Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import open_graph
from irplatform.concepts.document_links import ray_map
from irplatform.errors import InputError


def test_a_local_ray_builds_the_same_graph(kb_home, graph, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed (`pip install ray`)")
    monkeypatch.setattr("irplatform.concepts.build.BATCH_DOCUMENTS", 1)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    (tmp_path / "kb").symlink_to(kb_home / "kb")
    other = open_graph(Articles(), ConceptOptions(), workers="ray")
    for path in graph.folder.glob("documents.*"):
        assert path.read_bytes() == (other.folder / path.name).read_bytes(), path.name


def test_without_ray_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"--workers ray needs ray\. .*'irplatform\[ray\]'"):
        list(ray_map(abs, [1]))
