"""From a folder to scored runs, as a user calls it; and again, and after a kill: the same bytes."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from irplatform.run_folder.metadata_files import metadata_path
from irplatform.runs import read_run

pytestmark = pytest.mark.java

CONCEPTS = ["melanoma", "glioma", "lymphoma", "sarcoma", "leukemia", "myeloma"]
WANTED = "therapy trial patients response survival"
UNWANTED = "mouse assay cells culture plasmid"
OPTIONS = (
    "--set=loop.epochs=3",
    "--set=vectors.dimensions=16",
    "--set=filters=4",
    "--set=vectors.epochs=2",
    "--device=cpu",
    "--threads=1",
)

KILLED = """
import os, pkgutil, signal, sys
from irplatform.cli.main import main
from irplatform.reranking import scoring

scoring.BATCH_DOCUMENTS = 1  # a line in the journal for every topic
module, name = sys.argv[1].rsplit(".", 1)
held = pkgutil.resolve_name(module)
function, left = getattr(held, name), int(sys.argv[2])

def call(*arguments, **keywords):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments, **keywords)

setattr(held, name, call)
sys.argv = ["platform", *sys.argv[3:]]
main()
"""

AT_ONCE = """
import sys
from irplatform.cli.main import main
from irplatform.reranking import training as members

members.WORTH_PROCESSES = 0
members.ordered_map = lambda *given, map=members.ordered_map, **workers: (
    print(f"in {workers}", file=sys.stderr), *map(*given, **workers)
)
sys.argv = ["platform", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Every pair of concepts is a topic; relevant is what is about patients, not about mice."""
    folder = tmp_path_factory.mktemp("collections") / "tiny"
    (folder / "qrels").mkdir(parents=True)
    pairs = list(itertools.combinations(CONCEPTS, 2))
    texts = {
        f"d{n}{kind}": f"{first} {second} {words}"
        for n, (first, second) in enumerate(pairs)
        for kind, words in (("p", WANTED), ("m", UNWANTED))
    }
    with (folder / "corpus.jsonl").open("w") as file:
        for doc_id, text in texts.items():
            file.write(json.dumps({"_id": doc_id, "title": "", "text": text}) + "\n")
    queries = [*pairs, *((concept,) for concept in CONCEPTS), *itertools.combinations(CONCEPTS, 5)]
    with (folder / "queries.jsonl").open("w") as file:
        for n, words in enumerate(queries):
            file.write(json.dumps({"_id": f"q{n}", "text": " ".join(words)}) + "\n")
    for split, numbers in (("train", range(15)), ("test", range(15, len(queries)))):
        lines = ["query-id\tcorpus-id\tscore"]
        lines += [
            f"q{n}\t{doc_id}\t{int(doc_id.endswith('p'))}"
            for n in numbers
            for doc_id, text in texts.items()
            if set(queries[n]) & set(text.split()[:2])
        ]
        lines += [f"q{min(numbers)}\tnowhere\t0"]  # as official judgments have it
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    return folder


def _call(home: Path, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    place.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "IRPLATFORM_HOME": str(home), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _arguments(collection: Path) -> tuple[str, ...]:
    return ("run", "--collection", str(collection), "--reranker", "delta", *OPTIONS, "--json")


def _run(home: Path, place: Path, collection: Path) -> dict:
    process = _call(home, place, "-m", "irplatform", *_arguments(collection))
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def _run_files(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (place / "runs").rglob("*.run")}


@pytest.fixture(scope="module")
def first(tmp_path_factory, collection):
    """The first run: its cache, its folder, what it printed."""
    home, place = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("place")
    return home, place, _run(home, place, collection)


def test_the_result_is_as_documented(first):
    _, _, printed = first
    assert printed["collection"] == "tiny-test"
    assert [run["name"] for run in printed["runs"]] == ["bm25", "delta"]
    bm25, delta = printed["runs"]
    assert set(bm25) == {"name", "path", "measures", "seconds"}
    assert set(delta) == {*bm25, "interpolation", "measures_alone"}
    assert set(delta["measures"]) == set(bm25["measures"]) == set(delta["measures_alone"])
    assert all(0 <= value <= 1 for value in delta["measures"].values())
    assert {"train", "rerank", "evaluate"} <= set(delta["seconds"])
    assert 0 <= delta["interpolation"] <= 1
    assert delta["measures"]["nDCG@20"] > bm25["measures"]["nDCG@20"]


def test_it_leaves_runs_with_metadata_and_a_report(first):
    _, place, printed = first
    folder = place / "runs" / "tiny-test"
    for name in ("bm25", "delta", "delta-alone"):
        run = read_run(folder / f"{name}.run")
        assert list(run.rankings) == [f"q{n}" for n in range(15, 27)]
        assert metadata_path(folder / f"{name}.run").is_file()
    report = json.loads((folder / "report.json").read_text())
    assert report["runs"] == printed["runs"]
    bm25, delta = (read_run(folder / f"{name}.run") for name in ("bm25", "delta"))
    for topic, ranking in bm25.rankings.items():
        assert sorted(ranking.doc_ids) == sorted(delta.rankings[topic].doc_ids)


def _artifacts(home: Path) -> dict[str, int]:
    """Times of all files but the locks and the record of what work takes."""
    files = (path for path in home.rglob("*") if path.is_file() and path.name != "costs.jsonl")
    return {str(path): path.stat().st_mtime_ns for path in files if path.suffix != ".lock"}


def test_a_second_run_builds_nothing_and_gives_the_same_bytes(first, collection, tmp_path):
    home, place, printed = first
    before = _artifacts(home)
    again = _run(home, tmp_path, collection)
    assert _artifacts(home) == before
    assert _run_files(tmp_path) == _run_files(place)
    measures = [[run["measures"] for run in result["runs"]] for result in (printed, again)]
    assert measures[0] == measures[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "call", "kinds"),
    [
        ("irplatform.lucene.build.to_record", 10, ()),
        ("irplatform.training.weights.WeightFile.save", 6, ("index", "vectors", "forward-index")),
        ("irplatform.training.checkpoints.write_checkpoint", 1, ("index", "vectors")),
        ("irplatform.reranking.scoring.append_journal", 20, ("index", "vectors")),
    ],
)
def test_after_a_kill_the_same_command_gives_the_same_bytes(
    first, collection, tmp_path, function, call, kinds
):
    home, place = tmp_path / "home", tmp_path / "place"
    for kind in kinds:
        shutil.copytree(first[0] / kind, home / kind)
    killed = _call(home, place, "-c", KILLED, function, str(call), *_arguments(collection))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "delta.run" not in _run_files(place)
    _run(home, place, collection)
    assert _run_files(place) == _run_files(first[1])


def test_members_trained_in_processes_of_their_own_are_the_same(first, collection, tmp_path):
    home, place = tmp_path / "home", tmp_path / "place"
    for kind in ("index", "vectors", "forward-index"):
        shutil.copytree(first[0] / kind, home / kind)
    arguments = [a.replace("--threads=1", "--threads=2") for a in _arguments(collection)]
    process = _call(home, place, "-c", AT_ONCE, *arguments)
    assert process.returncode == 0, process.stderr
    assert "in {'workers': 2, 'fewest': 2}" in process.stderr
    assert _run_files(place) == _run_files(first[1])
    for path in (home / "checkpoint").rglob("*.safetensors"):
        assert path.read_bytes() == (first[0] / path.relative_to(home)).read_bytes()
        assert "work" not in str(path)


@pytest.mark.slow
def test_a_checkpoint_of_train_reranks_like_the_run_that_trained_it(first, collection, tmp_path):
    home, place, _ = first
    train = ("train", "--collection", f"{collection}:train", "--reranker", "delta", *OPTIONS)
    process = _call(home, tmp_path, "-m", "irplatform", *train, "--out", "checkpoint", "--json")
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["path"] == "checkpoint"
    run = ("run", "--collection", str(collection), "--reranker", "delta", "--device=cpu")
    process = _call(home, tmp_path, "-m", "irplatform", *run, "--checkpoint", "checkpoint")
    assert process.returncode == 0, process.stderr
    assert _run_files(tmp_path) == _run_files(place)


@pytest.mark.slow
def test_the_first_of_several_seeds_ranks_like_the_run_of_that_seed(first, collection, tmp_path):
    home, place, printed = first
    process = _call(home, tmp_path, "-m", "irplatform", *_arguments(collection), "--seeds", "2")
    assert process.returncode == 0, process.stderr
    delta = json.loads(process.stdout)["runs"][-1]
    one, other = delta["seeds"]
    assert (delta["name"], one["seed"], other["seed"]) == ("delta", 42, 1042)
    assert one["measures"] == printed["runs"][-1]["measures"]
    rankings = [
        {topic: list(ranking) for topic, ranking in read_run(path).rankings.items()}
        for path in (
            tmp_path / one["path"],
            place / "runs" / "tiny-test" / "delta.run",
            tmp_path / other["path"],
        )
    ]
    assert rankings[0] == rankings[1]
    assert rankings[0] != rankings[2]
    spread = delta["spread"]["nDCG@20"]
    assert spread["min"] <= delta["measures"]["nDCG@20"] <= spread["max"]
