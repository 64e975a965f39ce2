"""The example plugin is installed as its README says, found, and scores."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from irplatform.plugin import Document, Documents, Topic
from irplatform.registry.loading import load

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "irplatform-document-length"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the installed plugin; it is built from a copy, so that no build stays here."""
    copy = tmp_path_factory.mktemp("source")
    for file in EXAMPLE.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--isolated", "--no-cache-dir", "--no-index", "--no-deps", "--no-build-isolation"]
    command += ["--target", str(target)]
    subprocess.run([*command, str(copy)], check=True, capture_output=True, text=True)
    return target


def _platform(installed, *arguments):
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "irplatform", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_it_is_short():
    code = (EXAMPLE / "irplatform_document_length.py").read_text().splitlines()
    lines = [line for line in code if line.strip() and not line.strip().startswith('"""')]
    assert len(lines) <= 10


def test_the_command_line_finds_it(installed):
    details = json.loads(_platform(installed, "rerankers", "show", "document-length", "--json"))
    assert details["distribution"] == "irplatform-document-length"
    assert details["version"] == "1.0"
    assert details["summary"] == "Ranks longer documents first."
    assert "document-length" in _platform(installed, "plugins", "list")


def test_it_scores(installed, monkeypatch):
    monkeypatch.syspath_prepend(installed)
    (info,) = installed.glob("*.dist-info")
    registry = load(metadata.Distribution.at(info).entry_points)
    assert registry.broken == []
    reranker = registry.reranker("document-length").create({})
    documents = Documents.of([Document("a", "Long title", "and more"), Document("b", "Short")])
    assert reranker.score(Topic("t", "query"), documents) == [19, 5]
