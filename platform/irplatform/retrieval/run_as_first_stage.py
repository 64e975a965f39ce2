"""Candidates from a run file, which takes the place of the first stage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, did_you_mean, listing
from irplatform.retrieval.candidates import (
    JUDGED,
    RETRIEVED,
    CandidateSource,
    Found,
    Judged,
    Provenance,
    Request,
    Retrieved,
    missing_documents,
)
from irplatform.retrieval.first_stage import FirstStage, Retrieval
from irplatform.runs import Ranking, Run, read_run
from irplatform.runs.run import system_of
from irplatform.system.console import notice
from irplatform.system.digests import file_digest, fingerprint
from irplatform.system.reading import numbered_lines, readable_again

if TYPE_CHECKING:
    from collections.abc import Collection as Members
    from collections.abc import Sequence

    from irplatform.data import Collection

__all__ = [
    "JUDGED",
    "RETRIEVED",
    "CandidateSource",
    "FromRun",
    "Judged",
    "Provenance",
    "Request",
    "Retrieved",
    "source_of",
]


_STRANGE_SHARE = 0.5
"""Share of a run's documents that may be missing in the collection: a closed pool has only part of
what runs over all of MEDLINE found, but a run with hardly any of them is another collection's."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class FromRun:
    """The documents of a run file, which is the first stage."""

    path: Path

    @cached_property
    def run(self) -> Run:
        """The run as the file has it."""
        return read_run(self.path)

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError if the file is no run, or has topics that the collection has not."""
        known = dict.fromkeys(topic.id for topic in collection.load_topics())
        if strange := [topic for topic in self.run.rankings if topic not in known]:
            raise InputError(
                f"'{collection.id}' has no topic {listing(strange)}; its {len(known):,} topics "
                f"are {listing(list(known))}. Is this another collection's run?",
                path=self.path,
                line=_line_of(self.path, strange[0]),
            )

    def find(self, request: Request) -> Found:
        """Take the run; documents that are not in the collection are left out and counted."""
        name = request.collection.id
        self.refuse(request.collection)
        missing = missing_documents(
            (r.doc_ids for r in self.run.rankings.values()), request.resources
        )
        total = sum(map(len, self.run.rankings.values()))
        rankings = {
            topic.id: _without(self.run.rankings.get(topic.id), missing) for topic in request.topics
        }
        left_out = total - sum(map(len, rankings.values()))
        if left_out > _STRANGE_SHARE * total:
            raise InputError(
                f"{left_out:,} of its {total:,} documents are not in '{name}', "
                f"{listing(sorted(missing))}. Is this another collection's run?",
                path=self.path,
            )
        if left_out:
            notice(
                f"{self.path}: {left_out:,} of {total:,} results are not among the documents of "
                f"'{name}' and are left out, {listing(sorted(missing))}; the others move up, so "
                "its scores are not those of the whole run."
            )
        if empty := [topic for topic, ranking in rankings.items() if not len(ranking)]:
            notice(f"{self.path}: there are no candidates for topics: {listing(empty)}")
        deepest = max(map(len, rankings.values()), default=0)
        if deepest > request.depth:
            notice(
                f"{self.path}: topics have up to {deepest:,} results; the first {request.depth:,} "
                "(--depth) are written and scored."
            )
        run = Run(self.name(request.names), rankings)
        digest = file_digest(readable_again(self.path))
        index = request.resources.index_artifact().fingerprint
        facts = {"run": run.name, "file": self.path.name, "sha256": digest}
        mark = fingerprint({"index": index, "depth": request.depth, **facts})
        shown = run.top(request.depth)
        return Found(
            FirstStage(
                [Retrieval(shown, mark, facts, {"index": index})], run, mark, depth=request.depth
            ),
            {
                topic: ranking.top(request.rerank_depth).doc_ids
                for topic, ranking in rankings.items()
            },
            Provenance(
                {
                    "protocol": "run",
                    **facts,
                    "documents": total - left_out,
                    "missing": left_out,
                    "rerank_depth": request.rerank_depth,
                },
                (f"the first {request.rerank_depth:,} of " if request.names else "")
                + self.path.name
                + (f" ({left_out:,} of its {total:,} results left out)" if left_out else ""),
            ),
        )

    def for_training(self) -> CandidateSource:
        """The retrievers: the run has no other topics."""
        return Retrieved()

    def name(self, taken: Sequence[str]) -> str:
        """The run's tag where it can name a file that no reranker writes, else the file's name."""
        stem = self.path.name.removesuffix(".gz").rpartition(".")[0] or self.path.name
        names = [self.run.name, stem, f"{stem}-candidates", "candidates"]
        return next(
            n for n in names if _FILE_NAME.fullmatch(n) and not {n, system_of(n)} & {*taken}
        )


def _without(ranking: Ranking | None, missing: Members[str]) -> Ranking:
    if ranking is None:
        return Ranking.of((), ())
    kept = [place for place, doc_id in enumerate(ranking.doc_ids) if doc_id not in missing]
    return Ranking(tuple(ranking.doc_ids[place] for place in kept), ranking.scores[kept])


def _line_of(path: Path, topic: str) -> int:
    encoded = topic.encode()
    return next(number for number, line in numbered_lines(path) if line.split()[:1] == [encoded])


# Where the documents come from that rerankers rank: the protocol of an experiment.
#
# `Retrieved`: what the retrievers find, the usual way. `Judged`: exactly the judged documents of
# each topic, as many papers do; scores are then much higher, and only comparable among themselves.
# `FromRun`: somebody's run file, which takes the place of the first stage.


def source_of(text: str) -> CandidateSource:
    """What `--candidates` names.

    Raises:
        InputError: neither a protocol nor a run file.
    """
    if text == RETRIEVED:
        return Retrieved()
    if text == JUDGED:
        return Judged()
    path = Path(text)
    if not path.exists() or path.is_dir():  # a pipe will do
        guess = did_you_mean(text, (RETRIEVED, JUDGED))
        raise InputError(
            f"there is no such run file. {guess}{' ' if guess else ''}--candidates takes "
            f"{RETRIEVED}, {JUDGED}, or a run file.",
            path=path,
        )
    return FromRun(path)
