"""Verdicts on a run: whether it gave what was expected, and a digest of the data that it read.

The digest keeps a call that resumes from reporting figures of data that has changed since.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, Literal

from irplatform.experiment.learning import MESH, NO_PRETRAINING
from irplatform.knowledge import installed
from irplatform.registry.loading import registry
from irplatform.system.digests import digest, fingerprint, folder_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.data import Collection
    from irplatform.reproduction.rows import Row


Verdict = Literal["passed", "failed", "cannot_run", "skipped"]
"""`failed`: a figure is outside its tolerance, or the run broke down. `cannot_run`: the row has a
wrong name or value. `skipped`: its data is not here.
"""

_ROUNDING = 1e-9
"""A difference of exactly the tolerance is within it."""

_LEARNED_FROM = ("--train-on", "--pretrain")

_OF_FOLDERS = ("--checkpoint", "--set")
"""Options that take folders; a word of another option may be a folder's name by chance."""


@dataclass(frozen=True)
class Judged:
    """An obtained figure with the expected one.

    Attributes:
        measure: its name.
        alone: it is of the reranker's own scores.
        expected: the figure in the table of results.
        tolerance: the difference that is allowed.
        obtained: the figure here; None if the run does not report it.
        std: the expected standard deviation over seeds; not checked.
    """

    measure: str
    alone: bool
    expected: float
    tolerance: float
    obtained: float | None
    std: float | None = None

    @property
    def passed(self) -> bool:
        """Whether it is within the tolerance."""
        if self.obtained is None:
            return False
        return abs(self.obtained - self.expected) <= self.tolerance + _ROUNDING

    @property
    def verdict(self) -> str:
        """The verdict, in words."""
        if self.passed:
            return "ok"
        if self.obtained is None:
            return "FAILED: not reported"
        difference = self.obtained - self.expected
        return (
            f"FAILED: {abs(difference):.4f} too {'high' if difference > 0 else 'low'}, "
            f"{self.tolerance:g} is allowed"
        )

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `figures`."""
        return {
            "measure": self.measure,
            "alone": self.alone,
            "expected": self.expected,
            "tolerance": self.tolerance,
            "std": self.std,
            "obtained": self.obtained,
            "verdict": "passed" if self.passed else "failed",
        }


def judge(row: Row, report: Mapping[str, Any]) -> Sequence[Judged]:
    """Compare the output of `platform run --json` with what a row expects."""
    entry: Mapping[str, Any] = next((r for r in report["runs"] if r["name"] == row.name), {})
    return [
        Judged(
            measure,
            alone,
            expected.value,
            row.tolerance if expected.tolerance is None else expected.tolerance,
            entry.get("measures_alone" if alone else "measures", {}).get(measure),
            expected.std,
        )
        for measure, alone, expected in row.figures()
    ]


def inputs_mark(collection: Collection, command: Sequence[str]) -> str:
    """Return a digest of all data that a command reads.

    It covers documents, topics and judgments, also of collections to train on, knowledge bases, and
    files and folders that options name.
    """
    options = list(_options(command))
    partner = collection.training() if collection.training else None
    learned_from = [partner, *map(registry().collection, _learned_from(options))]
    validation = [c.validation() for c in learned_from if c and c.validation]
    files = [path for _, text in options for path in _paths(text) if _is_there(path, S_ISREG)]
    folders = [
        path
        for option, text in options
        if option in _OF_FOLDERS
        for path in _paths(text)
        if _is_there(path, S_ISDIR)
    ]
    return fingerprint(
        {
            "collections": [_described(c) for c in (collection, *learned_from, *validation) if c],
            "knowledge": {name: manifest.fingerprint for name, manifest in installed().items()},
            "files": [digest(path) for path in files],
            "folders": [folder_digests(path) for path in folders],
        }
    )


def _options(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options and their values; of `--set NAME=VALUE`, too."""
    for word, following in pairwise([*command, ""]):
        option, equals, value = word.partition("=")
        if option.startswith("--"):
            text = value if equals else following
            yield option, text.partition("=")[2] if option == "--set" else text


def _learned_from(options: Sequence[tuple[str, str]]) -> list[str]:
    """Names of the collections that a run learns from."""
    names = [text for option, text in options if option in _LEARNED_FROM]
    return [name for name in names if name not in (MESH, NO_PRETRAINING)]


def _paths(text: str) -> list[Path]:
    """The paths that a value may be; lists are JSON."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    texts = values if isinstance(values, list) else [text]
    return [Path(path) for path in texts if isinstance(path, str) and path]


def _is_there(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a value is the path of such a thing; many values cannot be a path."""
    try:
        return is_kind(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _described(collection: Collection) -> dict[str, Any]:
    """A collection's content; an id of ir_datasets stands for itself, and is never downloaded."""
    if "ir_datasets id" in collection.metadata:
        return {"id": collection.id}
    sampled = collection.sampled_qrels
    qrels = collection.load_qrels() if collection.load_qrels else {}
    return {
        "documents": collection.corpus.fingerprint,
        "topics": [topic.describe() for topic in collection.load_topics()],
        "qrels": {topic: dict(grades) for topic, grades in qrels.items()},
        "sampled": digest(sampled) if sampled is not None else None,
        "plan": dict(collection.plan),
        "expand": list(collection.expand),
        "measures": list(collection.measures),
    }
