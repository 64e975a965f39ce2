"""The runs that are committed are what this installation makes, too."""

import importlib.util
from pathlib import Path

import pytest

from irplatform import RunSettings, rerun, run
from irplatform.evaluation.scoring import evaluate
from irplatform.registry.loading import registry
from irplatform.runs import read_run
from irplatform.system.arithmetic import portable

REFERENCE = Path(__file__).parent.parent / "runs" / "reference" / "demo"


@pytest.mark.java
def test_bm25_ranks_the_demo_as_in_the_reference_run(fresh_home, tmp_path):
    run(RunSettings("demo", depth=100, run_dir=tmp_path))
    content = (tmp_path / "bm25.run").read_bytes()
    assert content == (REFERENCE / "bm25.run").read_bytes()


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.skipif(not portable(), reason="this processor trains other weights")
def test_delta_trains_to_the_reference_run():
    """From its metadata, made on another machine: training rounds alike on all."""
    assert rerun(REFERENCE / "delta.run.meta.json").same


def test_the_reference_run_of_delta_is_well_above_that_of_bm25():
    qrels = registry().collection("demo").load_qrels()
    runs = [read_run(REFERENCE / f"{name}.run") for name in ("bm25", "delta")]
    means = [evaluate(qrels, ranking, ["nDCG@20"]).aggregate["nDCG@20"] for ranking in runs]
    assert means == pytest.approx([0.4353, 0.8244], abs=5e-5)


def test_random_vectors_have_a_line_for_each_word_that_occurs_six_times(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "melanoma"}\n')
    text = '{"_id": "a", "title": "BRAF melanoma", "text": "%s"}\n' % (
        "melanoma " * 5 + "braf " * 4 + "glioma " * 6
    )
    (tmp_path / "corpus.jsonl").write_text(text)
    path = REFERENCE.parent.parent / "random_vectors.py"
    spec = importlib.util.spec_from_file_location("random_vectors", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    header, *lines = program.random_vectors(3, f"{tmp_path}:test")
    assert header == "2 3"
    assert [line.split()[0] for line in lines] == ["glioma", "melanoma"]
    numbers = [float(number) for line in lines for number in line.split()[1:]]
    assert len(set(numbers)) == 6
    assert all(-1 <= number <= 1 for number in numbers)
    assert list(program.random_vectors(3, f"{tmp_path}:test")) == [header, *lines]
