"""Workers on a Ray cluster: two machines, each with a cache of its own."""

import os
import shutil
import socket
import sys
from functools import partial
from pathlib import Path

import pytest
from cluster_tasks import end_once, home_of, read_table
from concept_data import KB, Articles
from pubmed_files import article, article_set, write_gz

import irplatform as ir
from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import open_graph
from irplatform.documents.pubmed_files import latest
from irplatform.errors import InputError
from irplatform.files.cache import artifact
from irplatform.knowledge import add
from irplatform.workers.cluster_connection import check_address, handlers_kept
from irplatform.workers.distribution import cluster, ordered_map, use_workers


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """The caches of two machines of the cluster that this process is connected to."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (`pip install ray`)")
    from ray.cluster_utils import Cluster

    caches = [str(tmp_path_factory.mktemp("machine")) for _ in range(2)]
    first, second = (
        {
            "num_cpus": 1,
            "env_vars": {"IRPLATFORM_HOME": cache, "PYTHONPATH": os.pathsep.join(sys.path)},
        }
        for cache in caches
    )
    machines = Cluster(initialize_head=True, head_node_args={**first, "include_dashboard": False})
    machines.add_node(**second)
    with handlers_kept():
        ray.init(address=machines.address, log_to_driver=False)
    yield caches
    with handlers_kept():
        ray.shutdown()
    machines.shutdown()


@pytest.fixture
def meeting(tmp_path):
    """A folder in which the machines find each other."""
    (tmp_path / "meeting").mkdir()
    return str(tmp_path / "meeting")


@pytest.fixture
def ray(homes, fresh_home):
    """Ours, on the first machine, and that of the second one."""
    shutil.rmtree(homes[1], ignore_errors=True)
    with use_workers("ray"):
        yield str(fresh_home), homes[1]


def test_results_come_in_order_from_machines_with_caches_of_their_own(ray, meeting):
    assert [*ordered_map(abs, range(-20, 20))] == [*map(abs, range(-20, 20))]
    assert {*ordered_map(partial(home_of, meeting), range(40))} == {*ray}
    with pytest.raises(ValueError, match="invalid literal") as raised:
        [*ordered_map(int, ["1", "2", "3", "x"])]
    assert "Traceback" in str(raised.value.__cause__)


def test_work_of_a_killed_worker_is_done_again(ray, tmp_path):
    results = ordered_map(partial(end_once, str(tmp_path)), range(8))
    assert [*results] == [n * n for n in range(8)]
    assert (tmp_path / "killed").exists()


def test_a_machine_fetches_artifacts_of_the_one_that_asks(ray, meeting):
    def build(folder):
        (folder / "rows").mkdir()
        (folder / "rows" / "a").write_text("1 2 3")

    path = artifact("table", "t", {"of": 1}, build).path
    work = partial(read_table, meeting, f"table/{path.name}")
    assert {*ordered_map(work, range(100))} == {("1 2 3", home) for home in ray}


def test_missing_files_and_gpus_are_reported_before_work(ray, tmp_path):
    (tmp_path / "here").touch()
    cluster().require_files("delta", [tmp_path / "here"])
    with pytest.raises(InputError, match=r"nowhere: delta reads a file that \S+ does not have"):
        cluster().require_files("delta", [tmp_path / "here", tmp_path / "nowhere"])
    with pytest.raises(InputError, match="no machine of the Ray cluster has a GPU"):
        [*ordered_map(abs, range(9), on_gpu=True)]


def test_articles_of_pubmed_are_those_of_one_process(ray, tmp_path):
    content = [article_set(article(n, f"{n}"), article(9, f"{n}")) for n in range(5)]
    files = [write_gz(tmp_path / f"{n}.xml.gz", content[n]) for n in range(4)]
    (tmp_path / "4.xml").write_bytes(content[4])
    files.append(tmp_path / "4.xml")
    read = [*latest(files, ("mesh",))]
    with use_workers(1):
        assert [*latest(files, ("mesh",))] == read


@pytest.mark.slow
def test_concepts_of_articles_are_those_of_one_process(ray, tmp_path, monkeypatch):
    (tmp_path / "own.tsv").write_text(KB)
    add("own", [tmp_path / "own.tsv"])
    monkeypatch.setattr("irplatform.concepts.build.BATCH_DOCUMENTS", 1)
    graph = open_graph(Articles(), ConceptOptions())
    assert {folder.name for folder in Path(ray[1]).iterdir()} >= {"concept-table"}
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    shutil.copytree(f"{ray[0]}/kb", tmp_path / "kb")
    with use_workers(1):
        alone = open_graph(Articles(), ConceptOptions())
    for path in graph.folder.glob("documents.*"):
        assert path.read_bytes() == (alone.folder / path.name).read_bytes(), path.name


@pytest.mark.java
@pytest.mark.slow
def test_a_run_and_its_checkpoints_are_those_of_one_process(ray, tmp_path, monkeypatch):
    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 3000)
    files = []
    for workers in ("ray", 1):
        home = tmp_path / str(workers)
        monkeypatch.setenv("IRPLATFORM_HOME", str(home))
        with use_workers(workers):
            ir.run("demo", rerankers="mbm", members=2, seeds=2, run_dir=home / "runs")
        paths = [*(home / "runs").glob("*.run"), *(home / "checkpoint").glob("*/member-*/*")]
        files.append({str(path.relative_to(home)): path.read_bytes() for path in paths})
    assert files[0] == files[1]
    assert len(files[0]) == 9
    assert {folder.name for folder in Path(ray[1]).iterdir()} >= {"checkpoint", "forward-index"}
    assert not [*Path(ray[1]).glob("checkpoint/*.partial")]


def test_an_address_without_a_cluster_is_refused_at_once():
    with pytest.raises(InputError, match=r"no Ray cluster answers at 127\.0\.0\.1:1 .*refused"):
        check_address("127.0.0.1:1")


def test_an_address_of_another_service_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("irplatform.workers.cluster_connection._PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(InputError, match=rf"no Ray cluster answers at \S+:{port} .*timed out"):
            check_address(f"127.0.0.1:{port}")


def test_a_cluster_is_recognized_by_its_first_answer(homes):
    import ray

    check_address(ray.get_runtime_context().gcs_address)


def test_more_threads_than_any_machine_has_do_not_wait_for_one(ray):
    assert [*ordered_map(abs, [-1, -2], threads=64)] == [1, 2]


def test_without_ray_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"a Ray cluster needs ray\. .*'irplatform\[ray\]'"):
        ir.run("demo", workers="ray")
