"""The judgments that are committed are what their commands make, too."""

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from irplatform.registry.loading import registry

ROOT = Path(__file__).parent.parent
QRELS = ROOT / "qrels"
DEMO = QRELS / "demo-clicks"


def _program(name):
    spec = importlib.util.spec_from_file_location(name, QRELS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clicks_on_the_demo_are_a_collection():
    clicks = registry().collection(f"{DEMO}:test-one-new-word")
    grades = registry().collection(f"{DEMO}:test-grades").qrels
    assert len(list(clicks.load_topics())) == 4
    assert next(iter(clicks.corpus)).id.startswith("demo")
    assert {grade for topic in grades.values() for grade in topic.values()} == {0, 1, 2}


@pytest.mark.java
def test_clicks_on_the_demo_are_made_again_to_the_byte(fresh_home, tmp_path):
    folder = _program("simulated_clicks").make("demo", tmp_path, 0.1)
    files = sorted(path.relative_to(DEMO) for path in DEMO.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert [
        name for name in files if (folder / name).read_bytes() != (DEMO / name).read_bytes()
    ] == []


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.java
def test_clicks_on_nfcorpus_are_made_again_to_the_byte(test_data, fresh_home, tmp_path):
    _program("simulated_clicks").make(f"{test_data / 'nfcorpus'}:train", tmp_path, 0.0)
    lines = (QRELS / "nfcorpus-clicks.sha256").read_text(encoding="utf-8").splitlines()
    expected = {name: digest for digest, name in map(str.split, lines) if "noise-0/" in name}
    assert len(expected) == 8
    digests = {n: hashlib.sha256((tmp_path / n).read_bytes()).hexdigest() for n in expected}
    assert digests == expected


@pytest.mark.real
def test_topics_of_2018_have_twenty_misleading_titles(test_data):
    topics = _program("misleading_titles").misleading_titles(str(test_data / "trec-pm/2018.toml"))
    assert topics == {"1", "27", "30", "32", "36", "39", "40", "45", "49", "50"}


def test_words_of_the_query_in_titles_are_counted_by_relevance(tmp_path):
    (tmp_path / "qrels").mkdir()
    titles = {"a": "Melanoma with BRAF", "b": "Melanoma", "c": "BRAF in melanoma", "d": "Glioma"}
    files = {
        "corpus.jsonl": [
            f'{{"_id": "{id_}", "title": "{title}"}}' for id_, title in titles.items()
        ],
        "queries.jsonl": ['{"_id": "1", "text": "melanoma BRAF"}'],
        "qrels/test.tsv": ["query-id\tcorpus-id\tscore", "1\ta\t2", "1\tb\t1", "1\tc\t0"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    counts = _program("words_in_titles").words_in_titles(f"{tmp_path}:test")
    assert counts == {(True, True): 1, (True, False): 1, (False, True): 1}


@pytest.mark.parametrize(
    "command",
    [
        "qrels/words_in_titles.py nowhere",
        "qrels/misleading_titles.py nowhere",
        "qrels/simulated_clicks.py nowhere OUT",
        "qrels/simulated_clicks.py demo OUT 7",
        "qrels/simulated_clicks.py demo OUT half",
        "runs/random_vectors.py 10 nowhere",
    ],
)
def test_wrong_input_of_a_program_is_one_error(command, tmp_path):
    program, *arguments = command.replace("OUT", str(tmp_path)).split()
    result = subprocess.run(
        [sys.executable, ROOT / program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "error: " in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []
