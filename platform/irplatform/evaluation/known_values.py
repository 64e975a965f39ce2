"""The values of runs that were scored before, kept in the cache topic by topic.

They stand under the digest of the run's lines and that of the judgments: a run that is renamed or
copied has the same values, and one that was changed has others. Each measure has its own, so that
another one costs no more than itself. Measures of plugins are not kept: a function may change.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import orjson

from irplatform.data import subtopics_of
from irplatform.errors import InputError
from irplatform.files.cache import artifact
from irplatform.files.code_digests import our_digest
from irplatform.files.writing import atomic_write
from irplatform.runs.packed import PackedRanking, doc_ids_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from irplatform.data import Qrels
    from irplatform.evaluation.kinds import PerTopic
    from irplatform.runs.run import Run

_FILE = "values.json"
_LARGE = 20_000
"""Results of a run whose values are worth keeping; others are computed in a few milliseconds."""
_digests: WeakKeyDictionary[Run, str] = WeakKeyDictionary()
_SORTED = orjson.OPT_SORT_KEYS
_PACKAGES = ("ir-measures", "pytrec-eval-terrier", "pyndeval")
"""The packages that compute values."""


class KnownValues:
    """The values of one run by one collection's judgments.

    Attributes:
        lengths: topic id to the number of the run's results, 0 included.
    """

    def __init__(self, run: str, judgments: str, lengths: Mapping[str, int]) -> None:
        """Open them, or begin with none.

        Args:
            run: a digest of the run's lines.
            judgments: a digest of all judgments.
            lengths: topic id to the number of the run's results.
        """
        self.lengths = lengths
        depends_on = {
            "run": run,
            "judgments": judgments,
            "code": our_digest(),
            "packages": [_version(name) for name in _PACKAGES],
        }
        self._path: Path | None = None  # of a cache that cannot be written to
        self._values: dict[str, PerTopic] = {}
        with suppress(InputError):
            entry = artifact("values", run[:12], depends_on, lambda _: None, filled_later=True)
            self._path = entry.path / _FILE
            self._values = _read(self._path)

    def of(self, measures: Iterable[str]) -> dict[str, PerTopic]:
        """Return the values of those measures that are known."""
        return {name: self._values[name] for name in measures if name in self._values}

    def add(self, values: Mapping[str, PerTopic]) -> None:
        """Keep the values of further measures."""
        if not values or self._path is None:
            return
        self._values = {**_read(self._path), **values}  # of another process, too
        content = orjson.dumps(self._values, default=dict)
        with suppress(InputError), atomic_write(self._path, "wb") as file:
            file.write(_proof(content) + b"\n" + content)


def is_large(run: Run) -> bool:
    """Return whether keeping what was computed of a run pays."""
    return sum(map(len, run.rankings.values())) >= _LARGE


def run_digest(run: Run) -> str:
    """Return a digest of a run's topics, documents and scores; its name does not count."""
    if run not in _digests:
        _digests[run] = _digest_of(run)
    return _digests[run]


def _digest_of(run: Run) -> str:
    digest = hashlib.sha256()
    for topic, ranking in run.rankings.items():
        if isinstance(ranking, PackedRanking) and ranking.cells.dtype.kind == "S":
            documents = ranking.cells.dtype.str.encode() + ranking.cells.tobytes()
        else:
            documents = "\n".join(doc_ids_of(ranking)).encode("utf-8", "surrogatepass")
        scores = ranking.scores.dtype.str.encode() + ranking.scores.tobytes()
        for part in (topic.encode("utf-8", "surrogatepass"), documents, scores):
            digest.update(b"%d " % len(part))
            digest.update(part)
    return digest.hexdigest()


def judgments_digest(qrels: Qrels, sampled: str | None = None) -> str:
    """Return a digest of judgments; that of the file of sampled ones is given."""
    content = [{t: dict(grades) for t, grades in qrels.items()}, subtopics_of(qrels), sampled]
    return hashlib.sha256(orjson.dumps(content, default=dict, option=_SORTED)).hexdigest()


def _read(path: Path) -> dict[str, PerTopic]:
    """The values of a file; none if it is missing or damaged."""
    try:
        proof, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    values: dict[str, PerTopic] = orjson.loads(content) if proof == _proof(content) else {}
    return values


def _proof(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
