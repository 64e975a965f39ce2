"""Models that users bring: found and checked, downloaded only when asked, never run as code."""

import errno
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pretrained_models import save_transformer
from safetensors.numpy import save_file

from irplatform.errors import InputError
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.pretrained import (
    PretrainedOptions,
    content,
    model_folder,
    opening,
    tell_how_slow,
)

COMMIT = "5f" * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_transformer(tmp_path_factory.mktemp("model"))


def _found(model, **options):
    return model_folder("ranker", PretrainedOptions(model=str(model), **options))


def test_a_folder_is_taken_as_it_is(folder):
    assert _found(folder) == folder
    assert "model.safetensors" in content(folder)


def test_content_tells_weights_apart(folder, tmp_path):
    assert content(save_transformer(tmp_path / "same")) == content(folder)
    assert content(save_transformer(tmp_path / "other", seed=2)) != content(folder)


def test_files_that_a_model_does_not_use_are_neither_read_nor_counted(folder, tmp_path):
    model = shutil.copytree(folder, tmp_path / "model")
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": 1}))
    for name in (
        "README.md",
        "optimizer.pt",
        "trainer_state.json",
        "eval_results.json",
        "requirements.txt",
        "onnx/config.json",
        "openvino/model.safetensors",
        "checkpoint-500/pytorch_model.bin",
        "original/consolidated.00.safetensors",
    ):
        (model / name).parent.mkdir(exist_ok=True)
        (model / name).write_text("not {json")
    assert content(_found(model)) == content(folder)
    (model / "tokenizer_config.json").write_text("{}")
    assert content(model) != content(folder)


@pytest.mark.parametrize("part", ["", "0_Transformer"])
def test_an_adapter_is_told_how_it_becomes_a_model(folder, tmp_path, part):
    model = shutil.copytree(folder, tmp_path / "model")
    (model / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.Transformer", "path": part}])
    )
    (model / part).mkdir(exist_ok=True)
    (model / part / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="an adapter of another model"):
        _found(model)


@pytest.mark.parametrize("model", [None, ""])
def test_without_a_model_the_user_is_told_what_to_give(model):
    with pytest.raises(InputError, match=r"'ranker\.model': FOLDER.*never downloaded"):
        model_folder("ranker", PretrainedOptions(model=model))


def test_a_name_of_the_hub_is_not_downloaded_unasked():
    with pytest.raises(InputError, match=r"no such folder.*never downloaded.*ranker\.download"):
        _found("somebody/some-model")


@pytest.mark.parametrize("part", ["", "0_Transformer", "2_Router/document_0_Dense"])
def test_pickled_weights_are_refused(folder, tmp_path, part):
    model = tmp_path / "model"
    shutil.copytree(folder, model)
    place = model / part
    place.mkdir(parents=True, exist_ok=True)
    kind = "sentence_transformers.models.Transformer"
    if part:
        modules = [{"type": kind, "path": path} for path in ("", part.split("/")[0])]
        (model / "modules.json").write_text(json.dumps(modules))
    (place / "model.safetensors").unlink(missing_ok=True)
    (place / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": 1}))
    with pytest.raises(InputError, match="Pickled ones"):
        _found(model)
    save_file({"weights": np.zeros(1)}, place / "model.safetensors")
    assert _found(model) == model


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("modules.json", [{"path": "", "type": "evil.Evil"}], "code that the model brings"),
        ("router_config.json", {"types": {"0": "evil.Evil"}}, "code that the model brings"),
        ("modules.json", [1, 2], "does not list the parts"),
        ("modules.json", {"a": 1}, "does not list the parts"),
        ("router_config.json", [], "does not list the parts"),
    ],
)
def test_parts_that_are_not_sentence_transformers_own_are_refused(
    folder, tmp_path, name, value, said
):
    model = tmp_path / "model"
    shutil.copytree(folder, model)
    (model / name).write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        _found(model)


def test_parts_that_a_router_chooses_from_are_read(folder, tmp_path):
    model, part = tmp_path / "model", "document_0_Transformer"
    kinds = {"model": "router.Router", part: "transformer.Transformer"}
    shutil.copytree(folder, model / part)
    base = "sentence_transformers.base.modules."
    modules = [{"path": "", "type": base + kinds["model"]}]
    (model / "modules.json").write_text(json.dumps(modules))
    (model / "router_config.json").write_text(json.dumps({"types": {part: base + kinds[part]}}))
    before = content(_found(model))
    assert f"{part}/model.safetensors" in before
    save_transformer(model / part, seed=2)
    assert content(_found(model)) != before
    (model / part / "model.safetensors").rename(model / part / "pytorch_model.bin")
    with pytest.raises(InputError, match="Pickled ones"):
        _found(model)
    (model / part / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match="no weights in safetensors format"):
        _found(model)


def test_a_model_without_weights_or_tokenizer_is_refused(folder, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(folder, model)
    (model / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="no tokenizer here"):
        _found(model)
    (model / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights in safetensors format"):
        _found(model)


def test_a_revision_of_a_folder_is_refused(folder):
    with pytest.raises(InputError, match=r"ranker\.revision has no effect"):
        _found(folder, revision="abc")


def test_other_files_that_end_in_bin_do_no_harm(folder, tmp_path):
    save_transformer(tmp_path)
    (tmp_path / "openvino").mkdir()
    (tmp_path / "openvino" / "openvino_model.bin").write_bytes(b"")
    assert _found(tmp_path) == tmp_path


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"config\.json is missing"):
        _found(tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"")
    with pytest.raises(InputError, match="a model is a folder"):
        _found(file)
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json:1: this is not JSON"):
        _found(tmp_path)


def test_errors_in_opening_are_one_line(folder):
    with (
        pytest.raises(InputError, match=r"as a model of birds: no beak$"),
        opening(folder, "a model of birds"),
    ):
        raise ValueError("no beak\nand no wings")


class _Hub(BaseHTTPRequestHandler):
    """Answers as the Hugging Face hub does for one model."""

    folder: Path
    asked: list[str]

    def answer(self, body, **headers):
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.asked.append(self.path)
        paths = sorted(self.folder.iterdir())
        if self.path.startswith(f"/api/models/somebody/some-model/tree/{COMMIT}"):
            files = [
                {"type": "file", "path": f.name, "size": f.stat().st_size, "oid": f.name}
                for f in paths
            ]
            self.answer(json.dumps(files).encode(), Content_Type="application/json")
        elif self.path.startswith("/api/models/somebody/some-model/revision/"):
            files = [{"rfilename": f.name} for f in paths]
            about = {"id": "somebody/some-model", "sha": COMMIT, "siblings": files}
            self.answer(json.dumps(about).encode(), Content_Type="application/json")
        elif self.path.startswith(f"/somebody/some-model/resolve/{COMMIT}/"):
            body = (self.folder / self.path.rpartition("/")[2]).read_bytes()
            mark = hashlib.sha256(body).hexdigest()
            self.answer(body, ETag=f'"{mark}"', X_Repo_Commit=COMMIT)
        elif "/somebody/broken-model/" in self.path:
            self.send_response(503)
            self.end_headers()
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *arguments):
        pass


_DOWNLOAD = """
import sys
from irplatform.system.arithmetic import SETTINGS
from irplatform.errors import PlatformError
from irplatform_encoders.pretrained import PretrainedOptions, model_folder
try:
    print(model_folder("ranker", PretrainedOptions(model=sys.argv[1], download=True)))
except PlatformError as error:
    print(f"{error.exit_code}: {error}")
"""


@pytest.fixture
def hub(tmp_path):
    """A server in the hub's place, and what a process that asks it for a model prints."""
    _Hub.folder = save_transformer(tmp_path / "served")
    (_Hub.folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weights": 1}))
    (_Hub.folder / "modeling.py").write_text("raise SystemExit", encoding="utf-8")
    _Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    unrelated = {n: v for n, v in os.environ.items() if not n.startswith(("HF_", "TRANSFORMERS_"))}
    places = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1"}

    def ask(name, **settings):
        command = [sys.executable, "-c", _DOWNLOAD, name]
        return subprocess.run(
            command,
            env={**unrelated, **places, **settings},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    yield ask
    server.shutdown()
    server.server_close()


def test_a_model_of_the_hub_is_downloaded_when_that_is_asked_for(hub):
    place = Path(hub("somebody/some-model"))
    assert content(place) == content(_Hub.folder)
    assert not list(place.rglob("*.bin"))
    assert not list(place.rglob("*.py"))
    count = len(_Hub.asked)
    assert hub("somebody/some-model") == str(place)
    assert not [path for path in _Hub.asked[count:] if "/resolve/" in path]
    missing = "2: somebody/another-model: cannot be downloaded from the Hugging Face hub: 404"
    assert hub("somebody/another-model").startswith(missing)
    assert hub("no/such/name").startswith("2: no/such/name: is neither a folder nor a name")


def test_a_hub_that_fails_is_not_the_users_mistake(hub):
    answer = hub("somebody/broken-model")
    assert answer.startswith(
        "1: somebody/broken-model: cannot be downloaded from the Hugging Face hub"
    )
    assert re.search("Face hub: (Server error '503|503 Server Error)", answer)


def test_without_the_hub_only_its_cache_is_looked_at(hub):
    answer = hub("somebody/some-model", HF_HUB_OFFLINE="1")
    assert answer.startswith(
        "1: somebody/some-model: cannot be downloaded from the Hugging Face hub"
    )
    assert "HF_HUB_OFFLINE" in answer


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_no_model_is_told_as_such(monkeypatch, number):
    hub = pytest.importorskip("huggingface_hub")

    def refuse(*_names, **_options):
        raise OSError(number, os.strerror(number), "/cache/blobs/x")

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    options = PretrainedOptions(model=f"somebody/model-{number}", download=True)
    with pytest.raises(OSError, match=os.strerror(number)):
        model_folder("ranker", options)


@pytest.mark.parametrize(
    ("device", "texts", "arithmetic", "count"),
    [
        ("cpu", 500, "portable", 1),
        ("cpu", 499, "portable", 0),
        ("cuda", 500, "portable", 0),
        ("cpu", 500, "native", 0),
    ],
)
def test_who_reads_many_texts_on_a_cpu_is_told_what_is_faster(
    device, texts, arithmetic, count, monkeypatch
):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value if arithmetic == "portable" else "")
    lines = []
    tell_how_slow(SimpleNamespace(device=device, notice=lines.append), texts)
    assert len(lines) == count
    assert all("IRPLATFORM_ARITHMETIC=native" in line for line in lines)
