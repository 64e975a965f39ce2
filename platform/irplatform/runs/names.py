"""Names of runs: the fused first stage, rerankers' runs, run files and run tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TAG_LENGTH = 20
"""Characters that TREC accepts in a run tag, unless a task says otherwise."""
TAG = re.compile(r"[A-Za-z0-9_.-]+")
"""A run tag that TREC accepts."""
FUSED = "fused"
"""The name of the run that several retrievers make together."""
PACKED = ".gz"
"""What the name of a compressed file ends in."""
_ENDING = re.compile(r"(?<=.)(\.(run|txt|trec|res|trec_results|results))?(\.gz)?$")
"""The part of a run file's name after the system's."""
_SEED = re.compile(r"-seed(\d+)$")


def alone_name(name: str) -> str:
    """Return the name of a reranker's own scores, not mixed with the first stage's."""
    return f"{name}-alone"


def system_of(name: str) -> str:
    """Return the system of a run's name: delta for delta-seed42-alone."""
    return _SEED.sub("", name.removesuffix(alone_name("")))


def seed_of(name: str) -> int | None:
    """Return the seed in a run's name: 42 for delta-seed42-alone."""
    match = _SEED.search(name.removesuffix(alone_name("")))
    return int(match[1]) if match else None


def retriever_name(name: str) -> str:
    """Return the name of a retriever's run beside that of a reranker of the same name."""
    return f"{name}-retriever"


def run_file(name: str, *, compressed: bool = False) -> str:
    """Return the name of the file that a run is written to: bm25.run, or bm25.run.gz."""
    return f"{name}.run{PACKED if compressed else ''}"


def other_form(path: Path) -> Path:
    """Return the file that a run has packed, or else unpacked: bm25.run.gz for bm25.run."""
    packed = path.name.endswith(PACKED)
    return path.with_name(path.name.removesuffix(PACKED) if packed else path.name + PACKED)


def file_beside(path: Path, name: str) -> Path:
    """Return the file of another run in the same folder and form: ltr.run.gz for bm25.run.gz."""
    return path.with_name(name + path.name.removeprefix(file_name(path)))


def file_name(path: Path) -> str:
    """Return the name of a run by its file: bm25 for runs/main/bm25.run."""
    return _called(path, 1)


def names_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Name runs by their files: bm25 for runs/main/bm25.run.

    If two have the same name, their folders go before it: main/bm25 and other/bm25.
    """
    names = {}
    for path in paths:
        by_depth = ((depth, _called(path, depth)) for depth in range(1, len(path.parts) + 1))
        unique = (n for d, n in by_depth if sum(_called(other, d) == n for other in paths) == 1)
        names[path] = next(unique, str(path))
    return names


def _called(path: Path, depth: int) -> str:
    return _ENDING.sub("", "/".join(path.parts[-depth:]))


def check_tag(tag: str) -> None:
    """Refuse a run tag that no task accepts, and warn of one that is too long for most.

    Raises:
        InputError: it has characters that a run tag cannot have.
    """
    if not TAG.fullmatch(tag):
        raise InputError(
            f"{option('tag', tag, quoted=True)} is not a run tag: TREC takes letters, "
            "digits, '-', '_' and '.'."
        )
    if len(tag) > TAG_LENGTH:
        notice(
            f"WARNING: {option('tag', tag, quoted=True)} has {len(tag)} characters; TREC accepts "
            f"{TAG_LENGTH} where a task does not say otherwise."
        )


def read_tag_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for tags; slashes around it, as in Perl, are dropped.

    Raises:
        InputError: it is not a regular expression.
    """
    try:
        return re.compile(re.sub(r"^/(.*)/$", r"\1", pattern))
    except re.error as error:
        raise InputError(
            f"{option('tag_pattern', pattern, quoted=True)} is not a regular expression: {error}. "
            "An example: '[A-Za-z0-9_]{1,12}'."
        ) from error
