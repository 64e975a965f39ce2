"""First stages as they are named: `bm25`, `bm25+rm3`, `judged`, `scoreddocs`, or a run file.

Retrievers that are joined by "+" are fused. A retriever beside another source ranks the judged
documents (`judged+rm3`), or finds the candidates of training topics that a run file does not have
(`theirs.run+rm3`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.retrieval.candidate_sources import JUDGED, RETRIEVED, SCORED
from irplatform.runs.names import file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL = ("bm25",)
"""The retrievers of a stage that names none."""
_STRANGE = re.compile(r"[^A-Za-z0-9+._-]+")


@dataclass(frozen=True)
class Stage:
    """A first stage.

    Attributes:
        retrievers: names; several are fused.
        candidates: "retrieved", "judged", "scoreddocs", or the path of a run file.
    """

    retrievers: tuple[str, ...] = USUAL
    candidates: str = RETRIEVED

    @classmethod
    def parse(cls, text: str) -> Stage:
        """Read a name.

        Raises:
            InputError: it names two sources of documents, nothing, or a file that is not there.

        Examples:
            >>> Stage.parse("bm25+rm3")
            Stage(retrievers=('bm25', 'rm3'), candidates='retrieved')
            >>> Stage.parse("judged")
            Stage(retrievers=('bm25',), candidates='judged')
        """
        parts = text.split("+")
        for end in range(len(parts), 0, -1):
            if _is_file(path := "+".join(parts[:end])):
                sources, names = [path], parts[end:]
                break
        else:
            sources = [part for part in parts if part in (JUDGED, SCORED)]
            names = [part for part in parts if part not in sources]
        if not text.strip() or not all(map(str.strip, names)):
            raise InputError(
                f"'{text}' is not a first stage: take a retriever, several joined by '+', "
                f"{JUDGED}, {SCORED}, or a run file."
            )
        if missing := next((name for name in names if _looks_like_path(name)), ""):
            raise InputError("there is no such run file.", path=missing)
        if len(sources) > 1 or JUDGED in names or SCORED in names:
            raise InputError(f"'{text}' names more than one source of documents; give each alone.")
        return cls(tuple(names) or USUAL, sources[0] if sources else RETRIEVED)

    @property
    def name(self) -> str:
        """How it is written.

        >>> Stage(("rm3",), "judged").name
        'judged+rm3'
        """
        if self.candidates == RETRIEVED:
            return "+".join(self.retrievers)
        return "+".join([self.candidates, *(self.retrievers if self.retrievers != USUAL else ())])

    @property
    def is_file(self) -> bool:
        """True if a run file has the documents."""
        return self.candidates not in (RETRIEVED, JUDGED, SCORED)


def short_names(stages: Sequence[Stage]) -> list[str]:
    """Return names for tables and folders; a run file is called as the file, without its folder.

    >>> short_names([Stage(), Stage(candidates="a/x.run"), Stage(candidates="b/x.run.gz")])
    ['bm25', 'x', 'x-2']
    """
    names: list[str] = []
    times: Counter[str] = Counter()
    for stage in stages:
        name = stage.name
        if stage.is_file:
            name = file_name(Path(stage.candidates)) + name.removeprefix(stage.candidates)
        name = _STRANGE.sub("-", name).strip("-.") or "run"
        times[name] += 1
        names.append(name if times[name] == 1 else f"{name}-{times[name]}")
    return names


def _looks_like_path(text: str) -> bool:
    return "/" in text or file_name(Path(text)) != text


def _is_file(text: str) -> bool:
    """Return whether a run file is there; names of retrievers have no dots and slashes."""
    path = Path(text)
    return ("/" in text or "." in text) and path.exists() and not path.is_dir()
