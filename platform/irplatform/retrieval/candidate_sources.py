"""Where candidates come from: the protocol of an experiment.

`Retrieved`: the results of the retrievers. `Judged`: exactly the judged documents of each topic, as
many papers do; scores are then much higher, and only comparable among themselves. `FromRun`: a run
file in place of the first stage. `Scored`: the results that a collection of ir_datasets brings.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.collections.identical_ids import notice_of_documents
from irplatform.errors import InputError, did_you_mean, listing
from irplatform.files.digests import file_digest, fingerprint
from irplatform.files.reading import readable_again
from irplatform.retrieval.candidates import Candidates, Provenance
from irplatform.retrieval.first_stage import FirstStage, Retrieval, retrieve
from irplatform.retrieval.lookup import missing_documents
from irplatform.runs import Ranking, Run, read_run
from irplatform.runs.names import retriever_name, system_of
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Qrels
    from irplatform.retrieval.first_stage import ChosenRetriever


RETRIEVED, JUDGED, SCORED = "retrieved", "judged", "scoreddocs"
_MOST_MISSING = 0.5
"""Share of a run that may be missing: a closed pool lacks some results of runs on MEDLINE."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Request:
    """A request to a source of candidates.

    Each retriever finds `depth` documents per topic; `rerank_depth` of them are reranked. The first
    stage's run must not have one of the rerankers' `names`.
    """

    collection: Collection
    retrievers: Sequence[ChosenRetriever]
    depth: int
    rerank_depth: int
    resources: CollectionResources
    names: Sequence[str] = ()


class CandidateSource(ABC):
    """A way of choosing candidates."""

    def refuse(self, _collection: Collection) -> None:
        """Raise an InputError before any work if a collection does not fit."""
        return

    @abstractmethod
    def find(self, request: Request) -> Candidates:
        """Choose candidates for all topics of a collection."""

    def for_training(self, _training: Collection) -> CandidateSource:
        """The source for the topics of another collection, which rerankers learn from."""
        return self


def source_of(text: str) -> CandidateSource:
    """The source of candidates with a name (`candidates`).

    Raises:
        InputError: neither a protocol nor a run file.
    """
    if text == RETRIEVED:
        return Retrieved()
    if text == JUDGED:
        return Judged()
    if text == SCORED:
        return Scored()
    path = Path(text)
    if not path.exists() or path.is_dir():  # a pipe will do
        guess = did_you_mean(text, (RETRIEVED, JUDGED, SCORED))
        raise InputError(
            f"there is no such run file. {guess}{' ' if guess else ''}Take {RETRIEVED}, {JUDGED}, "
            f"{SCORED}, or a run file.",
            path=path,
        )
    return FromRun(path)


class Retrieved(CandidateSource):
    """The first documents of every retriever."""

    def find(self, request: Request) -> Candidates:
        """Search, and take the union of the first documents."""
        topics, name = request.collection.topics, request.collection.id
        searched = (request.retrievers, topics, request.depth, request.resources)
        found = retrieve(*searched, label=name)
        # No reranker may have the name of a run: "x" finds as "x-retriever".
        retrievals = [
            replace(each, run=each.run.renamed(retriever_name(each.run.name)))
            if each.run.name in request.names
            else each
            for each in found.retrievals
        ]
        final = retrievals[0].run if len(retrievals) == 1 else found.final
        first = replace(found, retrievals=retrievals, final=final)
        _tell_of_documents(final, request)
        names = ", ".join(choice.name for choice in request.retrievers)
        reranked = min(request.rerank_depth, request.depth)
        facts = {"protocol": RETRIEVED, "rerank_depth": reranked}
        how = Provenance(facts, f"the first {reranked:,} of {names}", usual=True)
        return Candidates(topics, first, first.candidates(request.rerank_depth), how, name)


class Judged(CandidateSource):
    """All judged documents of every topic, relevant or not."""

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError if there are no judgments."""
        if collection.load_qrels is None:
            raise InputError(
                f"'{collection.id}' has no judgments, which {JUDGED} takes its documents from."
            )

    def find(self, request: Request) -> Candidates:
        """Rank the judged documents with the retrievers; those outside the index are left out."""
        collection = request.collection
        self.refuse(collection)
        qrels: Qrels = collection.qrels
        judged = {  # a negative grade marks what was pooled and not judged
            topic.id: [
                doc_id
                for doc_id, grade in qrels.get(topic.id, {}).items()
                if grade >= 0 and doc_id not in topic.left_out
            ]
            for topic in collection.topics
        }
        missing = missing_documents(judged.values(), request.resources)
        among = {t: sorted(d for d in grades if d not in missing) for t, grades in judged.items()}
        total = sum(map(len, judged.values()))
        left_out = total - sum(map(len, among.values()))
        if left_out:
            notice(
                f"{collection.id}: {left_out:,} of {total:,} judged documents are not in the "
                f"collection and are not ranked, {listing(sorted(missing))}"
            )
        if unjudged := [topic for topic, grades in judged.items() if not grades]:
            notice(f"{collection.id}: topics without judged documents: {listing(unjudged)}")
        searched = (request.retrievers, collection.topics, request.depth, request.resources)
        first = retrieve(*searched, label=f"{collection.id}-judged", among=among)
        return Candidates(
            collection.topics,
            first,
            {topic: ranking.doc_ids for topic, ranking in first.final.rankings.items()},
            Provenance(
                {"protocol": JUDGED, "documents": total - left_out, "missing": left_out},
                f"the judged documents of each topic only ({total - left_out:,} in all"
                + (f"; {left_out:,} more are not in the collection)" if left_out else ")"),
            ),
            collection.id,
        )


@dataclass(frozen=True)
class FromRun(CandidateSource):
    """The documents of a run file, which is the first stage."""

    path: Path

    @cached_property
    def run(self) -> Run:
        """The run as the file has it."""
        return read_run(self.path)

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError if the file is not a run, or has topics outside the collection."""
        known = dict.fromkeys(topic.id for topic in collection.topics)
        all_known = known.keys() | collection.topics_left_out
        if unknown := [topic for topic in self.run.rankings if topic not in all_known]:
            raise InputError(
                f"'{collection.id}' has no topic {listing(unknown)}; its {len(known):,} topics "
                f"are {listing(list(known))}. Is this another collection's run?",
                path=self.path,
            )

    def find(self, request: Request) -> Candidates:
        """Take the run; documents outside the collection are left out and counted."""
        self.refuse(request.collection)
        run = replace(self.run, name=self.name(request.names))
        digest = file_digest(readable_again(self.path))
        facts = {"run": run.name, "file": self.path.name, "sha256": digest}
        return _of_run(run, request, facts, "run", self.path)

    def for_training(self, _training: Collection) -> CandidateSource:
        """The retrievers: the run has no other topics."""
        return Retrieved()

    def name(self, taken: Sequence[str]) -> str:
        """The run's tag if it can name a file that no reranker writes, else the file's name."""
        stem = self.path.name.removesuffix(".gz").rpartition(".")[0] or self.path.name
        return _free_name([self.run.name, stem, f"{stem}-candidates", "candidates"], taken)


class Scored(CandidateSource):
    """The documents that a collection brings for each topic, with scores; the first stage.

    Some collections of ir_datasets do, such as the first 1,000 of BM25 of MS MARCO's makers.
    """

    def refuse(self, collection: Collection) -> None:
        """Raise an InputError if the collection brings none."""
        if collection.load_scored is None:
            raise InputError(
                f"'{collection.id}' brings no candidates ({SCORED}); only some collections of "
                "ir_datasets do. Name a retriever, or a run file."
            )

    def find(self, request: Request) -> Candidates:
        """Take the documents; those outside the collection are left out and counted."""
        collection = request.collection
        self.refuse(collection)
        found = collection.load_scored() if collection.load_scored else {}
        rankings = {
            topic.id: Ranking.of([*scores], [*scores.values()])
            for topic in collection.topics
            if (scores := found.get(topic.id))
        }
        if rankings and all(each.scores[0] == each.scores[-1] for each in rankings.values()):
            notice(
                f"{collection.id}: its {SCORED} all have the same score: the first stage's order "
                "means nothing (document ids, descending)."
            )
        run = Run(self.name(request.names), rankings)
        digest = fingerprint({topic: dict(scores) for topic, scores in found.items()})
        return _of_run(run, request, {"run": run.name, "sha256": digest}, SCORED, None)

    def for_training(self, training: Collection) -> CandidateSource:
        """The same where the training topics have some, too; else the retrievers."""
        return Retrieved() if training.load_scored is None else self

    def name(self, taken: Sequence[str]) -> str:
        """The name of the first stage's run."""
        return _free_name([SCORED, f"{SCORED}-candidates"], taken)


def _of_run(
    given: Run, request: Request, facts: Mapping[str, str], protocol: str, path: Path | None
) -> Candidates:
    """The candidates of a run that takes the place of the first stage, from a file or not."""
    name = request.collection.id
    where = path or f"{name}'s {given.name}"
    empty = Ranking.of((), ())
    topics = request.collection.topics
    chosen = {t.id: given.rankings.get(t.id, empty).without(t.left_out) for t in topics}
    missing = missing_documents((r.doc_ids for r in chosen.values()), request.resources)
    total = sum(map(len, chosen.values()))
    rankings = {topic: ranking.without(missing) for topic, ranking in chosen.items()}
    left_out = total - sum(map(len, rankings.values()))
    if left_out > _MOST_MISSING * total:
        raise InputError(
            f"{left_out:,} of its {total:,} documents are not in '{name}', "
            f"{listing(sorted(missing))}. Is this another collection's run?",
            path=path,
        )
    if left_out:
        notice(
            f"{where}: {left_out:,} of {total:,} results are not among the documents of "
            f"'{name}' and are left out, {listing(sorted(missing))}; the others move up, so "
            "its scores are not those of the whole run."
        )
    _tell_of_documents(Run(given.name, rankings), request)
    if without := [topic for topic, ranking in rankings.items() if not len(ranking)]:
        notice(f"{where}: there are no candidates for topics: {listing(without)}")
    deepest = max(map(len, rankings.values()), default=0)
    if deepest > request.depth:
        notice(
            f"{where}: topics have up to {deepest:,} results; the first {request.depth:,} "
            f"({option('depth')}) are written and scored."
        )
    run = Run(given.name, rankings)
    index = request.resources.index_artifact().fingerprint
    left = {t.id: t.left_out for t in topics if t.left_out}
    mark = fingerprint(
        {"index": index, "depth": request.depth, **facts, **({"left out": left} if left else {})}
    )
    retrieval = Retrieval(run.top(request.depth), mark, facts, {"index": index})
    reranked = request.rerank_depth
    called = path.name if path else f"the collection's own ({SCORED})"
    return Candidates(
        topics,
        FirstStage([retrieval], run, mark, depth=min(request.depth, deepest)),
        {topic: ranking.top(reranked).doc_ids for topic, ranking in rankings.items()},
        Provenance(
            {
                "protocol": protocol,
                **facts,
                "documents": total - left_out,
                "missing": left_out,
                "rerank_depth": reranked,
            },
            (f"the first {reranked:,} of " if request.names else "")
            + called
            + (f" ({left_out:,} of its {total:,} results left out)" if left_out else ""),
        ),
        name,
    )


def _tell_of_documents(run: Run, request: Request) -> None:
    if message := notice_of_documents(run, request.collection, request.resources.documents):
        notice(message)


def _free_name(names: Sequence[str], taken: Sequence[str]) -> str:
    return next(n for n in names if _FILE_NAME.fullmatch(n) and not {n, system_of(n)} & {*taken})
