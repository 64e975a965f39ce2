"""The file beside a run that says how it was made."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from irplatform import __version__
from irplatform.files.digests import fingerprint
from irplatform.run_folder.environment import (
    LIBRARIES,
    describe_platform,
    library_versions,
    source_revision,
)
from irplatform.run_folder.metadata_files import (
    metadata_path,
    run_metadata,
    write_run_with_metadata,
)
from irplatform.run_folder.metadata_model import Data, Marks, Method, RunMetadata
from irplatform.runs import Ranking, Run
from irplatform.system.packages import EXTRAS

ROOT = Path(__file__).parents[2]
NONE = Ranking.of([], [])
HARMLESS = {
    "altair",
    "click",
    "fastapi",  # servers show scores
    "filelock",
    "jinja2",
    "lz4",
    "mcp",
    "networkx",  # exports the graph of concepts
    "numba",  # its rankings are Lucene's and its word vectors gensim's, to the bit
    "orjson",
    "packaging",
    "pandas",  # frames of results
    "platformdirs",
    "prometheus-client",
    "protobuf",  # reads whole numbers
    "psutil",
    "pyjnius",
    "pyyaml",
    "requests",
    "rich",
    "safetensors",
    "uvicorn",
    "vl-convert-python",
}
"""Dependencies that show, store or fetch, and change no value."""


def some_metadata(**changes):
    arguments = {
        "tag": "delta",
        "command": "platform run --tag 'two words'",
        "data": Data(test_collection=Marks(name="demo")),
        "method": Method(seed=1),
        "timings": {"rerank": 1.23456},
    }
    return run_metadata(**(arguments | changes))


def written(folder, content):
    path = folder / "a.run"
    write_run_with_metadata(Run("x", {}), path, content)
    return json.loads(metadata_path(path).read_text(encoding="utf-8"))


def test_it_lies_beside_its_run():
    assert metadata_path(Path("runs") / "a.run.gz") == Path("runs") / "a.run.gz.meta.json"


def test_it_reads_back_as_it_was_written(tmp_path):
    content = some_metadata()
    back = written(tmp_path, content)
    assert back.pop("run")["file"] == "a.run"
    assert json.dumps(back) == json.dumps(content.content())


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_it_has_the_digest_of_the_unpacked_lines(tmp_path, name):
    rankings = {"1": Ranking.of(["d2", "d1"], [2, 1.5]), "2": Ranking.of(["d1"], [1]), "3": NONE}
    write_run_with_metadata(Run("x", rankings), tmp_path / name, some_metadata(tag="t"))
    about = json.loads((tmp_path / f"{name}.meta.json").read_text(encoding="utf-8"))["run"]
    lines = b"1 Q0 d2 1 2.0 t\n1 Q0 d1 2 1.5 t\n2 Q0 d1 1 1.0 t\n"
    assert about["sha256"] == hashlib.sha256(lines).hexdigest()
    first = hashlib.sha256(b" Q0 d2 1 2.0 \n Q0 d1 2 1.5 \n").hexdigest()[:8]
    assert about["rankings"] == {"1": first, "2": ANY}


def test_it_says_when_and_where():
    content = some_metadata(call={"function": "run", "settings": {"collection": "demo"}}).content()
    date = datetime.fromisoformat(content["date"])
    assert abs(datetime.now(UTC) - date) < timedelta(minutes=1)
    implementation = content["implementation"]
    assert implementation["executable"]["working directory"] == str(Path.cwd())
    assert implementation["call"] == {"function": "run", "settings": {"collection": "demo"}}


def test_it_has_the_sections_of_primad_and_names_nobody():
    goal = {"measures": ["AP"], "baseline": "bm25", "significance": [{"name": "t-test"}]}
    content = some_metadata(**goal).content()
    assert {"platform", "research goal", "implementation", "method", "data"} <= content.keys()
    assert "actor" not in content
    assert content["research goal"]["evaluation"] == {
        "reported measures": ["AP"],
        "baseline": ["bm25"],
        "significance test": [{"name": "t-test"}],
    }
    assert content["implementation"]["executable"]["cmd"] == "platform run --tag 'two words'"
    assert content["implementation"]["source"]["version"] == __version__
    assert content["timings"] == {"rerank": 1.235}


def test_the_machine_is_described():
    described = describe_platform(java="21.0.8", lucene="9", accelerator="a GPU")
    assert described["hardware"]["cpu"]["number of cores"] >= 1
    assert described["hardware"]["cpu"]["model"]
    assert described["hardware"]["gpu"] == {"model": "a GPU"}
    assert described["hardware"]["ram"].endswith(" GiB")
    assert described["software"]["java"] == "21.0.8"
    assert described["software"]["lucene"] == "9"
    assert described["software"]["libraries"]["python"]["numpy"] == np.__version__


def test_every_dependency_that_can_move_a_score_is_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    groups = [extras[name] for name in EXTRAS if name != "ray"]
    needed = [*project["dependencies"], *(need for extra in groups for need in extra)]
    names = {re.match(r"[\w-]+", requirement).group() for requirement in needed}
    assert names - HARMLESS - {"irplatform"} <= set(LIBRARIES)
    assert names >= HARMLESS
    installed = {d.name.lower().replace("_", "-") for d in metadata.distributions()}
    assert library_versions().keys() == {*LIBRARIES} & installed


def test_describing_the_machine_imports_nothing_heavy():
    program = (
        "import sys; from irplatform.run_folder.environment import describe_platform\n"
        "describe_platform(); "
        "print([m for m in ('torch', 'gensim', 'pandas', 'scipy', 'jnius') if m in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"


def test_only_a_tracked_source_has_a_revision(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "module.py").write_text("")
    assert source_revision(str(tmp_path / "module.py")) is None


def test_numbers_paths_and_sets_are_said_in_json(tmp_path):
    method = {"weight": np.float32(0.5), "path": Path("x"), "set": {"b", "a"}}
    content = written(tmp_path, RunMetadata.model_validate({"tag": "x", "method": method}))
    assert content["method"] == {"weight": 0.5, "path": "x", "set": ["a", "b"]}


def test_a_file_whose_name_is_not_utf8_can_be_named(tmp_path):
    name = os.fsdecode(b"Z\xfcrich.run")
    content = written(tmp_path, some_metadata(command=shlex.join(["platform", "fuse", name])))
    assert name in content["implementation"]["executable"]["cmd"]
    assert fingerprint({"file": name}) != fingerprint({"file": "Zürich.run"})


def test_what_json_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(TypeError, match="cannot hold"):
        written(tmp_path, RunMetadata.model_validate({"tag": "x", "method": {"seed": object()}}))
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_written_again_in_its_order():
    """Parts that are not declared stay, and none is added."""
    content = {"method": {"x y": 1, "seed": 2, "retrieval": [{"own": 1, "retriever": "a"}]}}
    metadata = RunMetadata.model_validate(content)
    assert json.dumps(metadata.content()) == json.dumps(content)
    later = metadata.having(tag="t", method=metadata.method.having(seed=3)).content()
    assert json.dumps(later) == json.dumps({"method": {**content["method"], "seed": 3}, "tag": "t"})


def test_a_missing_part_has_an_empty_value():
    metadata = RunMetadata.model_validate({"method": {"retrieval": []}})
    assert metadata.says("method")
    assert not metadata.says("data")
    assert metadata.data.test_collection.name is None
    assert metadata.implementation.call.settings == {}
