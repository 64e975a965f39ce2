"""`--plugin FILE`: a Python file is a plugin for one command."""

import json

import pytest
from commands import call

from irplatform.registry.loading import registry

CODE = """
from irplatform import Field, Options, Reranker

class ShortTitles(Reranker):
    '''Prefers documents with short titles.'''

    class Options(Options):
        words: int = Field(10, description="Longer titles count the same.")

    def score(self, topic, documents):
        return [-min(len(d.title.split()), self.options.words) for d in documents]
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "my_ranker.py"
    path.write_text(CODE)
    yield path
    for loaded in [entry for entry in registry().plugins if entry.name == "my_ranker"]:
        for provided in loaded.provides:
            registry().drop(provided)
        registry().plugins.remove(loaded)


def test_its_systems_are_shown(plugin, capsys, monkeypatch):
    # The option comes last: it is read before the names all the same.
    outcome = call(capsys, monkeypatch, "rerankers", "show", "short-titles", "--plugin", plugin)
    assert outcome.code == 0, outcome.err
    assert "From plugin 'my_ranker' (my_ranker.py)" in outcome.out
    assert "Longer titles count the same." in outcome.out


@pytest.mark.java
def test_a_run_uses_and_records_it(plugin, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    reranker_options = ["--reranker", "short-titles", "--set", "words=3", "--interpolate", "0"]
    run_options = ["--collection", "demo", "--depth", "5", "--run-dir", "runs", "--plugin", plugin]
    outcome = call(capsys, monkeypatch, "run", *reranker_options, *run_options)
    assert outcome.code == 0, outcome.err
    metadata = json.loads((tmp_path / "runs/short-titles.run.meta.json").read_text())
    described = metadata["method"]["retrieval"][-1]
    assert described["options"] == {"words": 3}
    assert (described["distribution"], len(described["source"])) == ("my_ranker.py", 16)
    inputs = {entry["role"]: entry["path"] for entry in metadata["data"]["inputs"]}
    assert inputs["plugin"] == str(plugin)


def test_what_is_no_plugin_is_told(tmp_path, capsys, monkeypatch):
    path = tmp_path / "nothing.py"
    path.write_text("x = 1\n")
    for file, message in ((path, "it has no hooks"), (tmp_path / "none.py", "no such file")):
        outcome = call(capsys, monkeypatch, "rerankers", "list", "--plugin", file)
        assert outcome.code == 2
        assert message in outcome.err
        assert outcome.err.count("\n") == 1
