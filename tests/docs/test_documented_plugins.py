"""The plugins that the documentation shows are plugins: they load, score, learn and run."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from feature_resources import feature_resources
from pages import fences
from small import labelled

from irplatform import RunSettings, run
from irplatform.data import Collection, Corpus
from irplatform.features.side_features import SideFeatures
from irplatform.plugin import Document, Documents, FeatureGroup, Topic, TrainingData
from irplatform.registry.loading import load
from irplatform.registry.session import load_plugin
from irplatform.training.samplers import PairSampler, PairSettings

pytest_plugins = ["irplatform.testing"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/irplatform-document-length/irplatform_document_length.py"
README, GUIDE, EXAMPLES = (
    ROOT / name for name in ("README.md", "docs/plugins.md", "docs/plugin-examples.md")
)

_PLUGIN = re.compile(r'^```python title="plugin.py"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class IdLength(FeatureGroup):
    """How long a document's id is."""

    def names(self):
        return ("length",)

    def compute(self, topic, documents):
        return np.array([[len(doc_id)] for doc_id in documents.ids], dtype=np.float32)


DOCUMENTS = [Document("a", "Long title", "and more"), Document("b", "Short")]


def _code(page: Path) -> list[str]:
    return _PLUGIN.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def plugged(tmp_path, monkeypatch):
    """Load blocks of code as plugins, beside the built-in ones that are named."""
    monkeypatch.syspath_prepend(tmp_path)

    def plugged(*blocks: str, beside: str = ""):
        points = []
        for number, block in enumerate(blocks):
            module = f"documented_{tmp_path.name}_{number}".replace("-", "_")
            (tmp_path / f"{module}.py").write_text(block, encoding="utf-8")
            points.append(metadata.EntryPoint(f"documented-{number}", module, "irplatform"))
        companions = [
            p for p in metadata.entry_points(group="irplatform") if p.name in beside.split()
        ]
        plugins = load([*points, *companions])
        assert plugins.broken == []
        return plugins

    return plugged


@pytest.mark.parametrize("page", [README, GUIDE], ids=lambda page: page.name)
def test_the_first_plugin_is_the_example_and_scores(page, plugged):
    code = _code(page)[0]
    lines = [line for line in code.splitlines() if line.strip() and '"""' not in line]
    assert len(lines) <= 10
    example = EXAMPLE.read_text(encoding="utf-8")
    assert [line for line in lines if line.strip() not in example] == []
    reranker = plugged(code).reranker("document-length").create({})
    assert reranker.score(Topic("t", "query"), Documents.of(DOCUMENTS)) == [19.0, 5.0]


def test_every_plugin_of_the_guide_loads(plugged):
    plugins = plugged(*_code(GUIDE), *_code(EXAMPLES))
    learned = {"linear", "hidden-layer"}
    assert {"document-length", "overlap", "overlap-title", "hashed"} | learned <= {
        *plugins.rerankers
    }
    assert "disease-only" in plugins.retrievers
    assert "two-articles" in plugins.collections
    assert "FirstRelevant" in plugins.measures
    assert plugins.reranker("overlap-title").options({}).model_dump() == {"where": "title"}


@pytest.mark.java
def test_the_test_that_is_shown_passes(small_collection, tmp_path):
    ((_, code),) = fences(EXAMPLES, 'python title="test_plugin.py"')
    file = tmp_path / "document-length.py"
    file.write_text(_code(GUIDE)[0])
    namespace = {}
    with load_plugin(file):
        exec(compile(code, "shown", "exec"), namespace)
        namespace["test_longer_documents_come_first"](small_collection, tmp_path / "runs")
        (cases,) = namespace["test_contract"].pytestmark
        assert ("reranker", "document-length", "another order") in [c.values for c in cases.args[1]]
        namespace["test_contract"]("reranker", "document-length", "another order")


def test_features_of_groups_are_had_as_shown(tmp_path):
    ((_, example),) = fences(EXAMPLES, 'python title="features.py"')
    ids = ["d0", "d1", "d2"]
    resources = feature_resources(
        tmp_path, dict.fromkeys(ids, "words"), {"x": np.ones(2)}, groups={"length": IdLength}
    )
    training = [labelled(f"t{n}", ids, {"d0": 1, "d1": 0}) for n in range(5)]
    namespace = {
        "self": SimpleNamespace(options=SimpleNamespace(features=("length",), feature_settings={})),
        "resources": resources,
        "data": TrainingData(training, training, tmp_path),
        "sampler": PairSampler(training, PairSettings(), seed=1),
        "topic": training[0].topic,
        "documents": Documents.of([Document(i) for i in ids]),
        "SideFeatures": SideFeatures,
    }
    exec(compile(example, "shown", "exec"), namespace)
    assert [len(matrix) for matrix in namespace["matrices"]] == [
        len(p.doc_ids) for p in namespace["sampler"].pools
    ]
    assert namespace["matrix"].shape == (3, 1)


@pytest.mark.slow
def test_mypy_is_content_with_what_it_is_said_to_need(tmp_path):
    pytest.importorskip("mypy", reason="mypy is installed for developers only")
    (settings,) = (body for _, body in fences(EXAMPLES, "toml") if "[tool.mypy]" in body)
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    blocks = [
        *_code(GUIDE),
        *_code(EXAMPLES),
        *(body for _, body in fences(EXAMPLES, 'python title="test_plugin.py"')),
    ]
    for number, code in enumerate(blocks):
        (tmp_path / f"documented_{number}.py").write_text(code, encoding="utf-8")
    files = tmp_path.glob("*.py")
    result = subprocess.run(
        # As of an installed package, only what its users' code does wrong is told.
        [sys.executable, "-m", "mypy", "--follow-imports=silent", *sorted(map(str, files))],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "platform")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


class _Articles(Corpus):
    name = "documented"
    fields = ()
    fingerprint = "documented-1"

    def __iter__(self):
        for number in range(40):
            word = "skin" if number % 2 else "lung"
            yield Document(f"d{number}", f"Cancer of the {word}", f"gene{number % 10} cancer")


def _collection(name: str, numbers: range, training: Collection | None = None) -> Collection:
    topics = [Topic(f"{name}{n}", f"cancer lung gene{n}", {"disease": "cancer"}) for n in numbers]
    return Collection(
        id=name,
        title=name,
        corpus=_Articles(),
        load_topics=lambda: topics,
        load_qrels=lambda: {t.id: {f"d{n}": 1 for n in range(0, 40, 2)} for t in topics},
        measures=("RR",),
        training=None if training is None else lambda: training,
    )


@pytest.mark.java
def test_they_run_together(plugged, tmp_path, fresh_home, capsys):
    plugins = plugged(*_code(GUIDE), *_code(EXAMPLES), beside="lucene")
    learned = _collection("documented-train", range(5, 10))
    plugins.collections["documented"] = lambda: _collection("documented", range(5), learned)
    report = run(
        RunSettings(
            "documented",
            first_stages="bm25+disease-only",
            rerankers=("document-length", "overlap", "hashed", "linear", "hidden-layer"),
            measures=("RR", "FirstRelevant"),
            run_dir=tmp_path / "runs",
            device="cpu",
        ),
        plugins=plugins,
    )
    scores = {system.name: system.measures for system in report.systems}
    trained = ["linear", "hidden-layer"]
    rerankers = ["document-length", "overlap", "hashed", *trained]
    assert list(scores) == ["bm25", "disease-only", "fused", *rerankers]
    for name in trained:
        assert scores["bm25"]["FirstRelevant"] < scores[name]["FirstRelevant"] == 1.0
    notice = capsys.readouterr().err
    assert f"documented: bm25, disease-only, {', '.join(rerankers)}" in notice
    assert f"{tmp_path / 'runs'}: linear" in notice
    assert f"{tmp_path / 'runs' / 'linear-alone.run'}\n" in notice


@pytest.mark.java
def test_the_two_articles_are_a_collection(plugged, tmp_path, fresh_home):
    plugins = plugged(*_code(GUIDE), *_code(EXAMPLES), beside="lucene")
    report = run(RunSettings("two-articles", run_dir=tmp_path / "runs"), plugins=plugins)
    (system,) = report.systems
    assert system.measures == {"RR": 1.0}
