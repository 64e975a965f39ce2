"""First stages: what they are called, and the candidates that they find.

A name is one of `bm25`, `bm25+rm3`, `judged`, `scoreddocs`, or a run file. Retrievers that are
joined by "+" are fused. A retriever beside another source ranks the judged documents
(`judged+rm3`), or finds the candidates of training topics that a run file does not have
(`theirs.run+rm3`). Scores of exactly the judged documents, as in many papers, are much higher, and
only comparable among themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.collections.identical_ids import notice_of_documents, notice_of_own, own_documents
from irplatform.errors import InputError, listing
from irplatform.files.digests import file_digest, fingerprint
from irplatform.files.facts import kept_fact
from irplatform.files.reading import readable_again
from irplatform.retrieval.candidates import Candidates, Provenance
from irplatform.retrieval.lookup import missing_documents
from irplatform.retrieval.retrievers import RetrievedRun, cached_runs
from irplatform.runs import Ranking, Run, read_run
from irplatform.runs.names import file_name, retriever_name, system_of
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection
    from irplatform.retrieval.retrievers import ChosenRetriever


RETRIEVED, JUDGED, SCORED = "retrieved", "judged", "scoreddocs"
USUAL = ("bm25",)
"""The retrievers of a first stage that names none."""
_MOST_MISSING = 0.5
"""Share of a run that may be missing: a closed pool lacks some results of runs on MEDLINE."""
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_STRANGE = re.compile(r"[^A-Za-z0-9+._-]+")


@dataclass(frozen=True)
class FirstStage:
    """A first stage, from its name to candidates.

    Attributes:
        retrievers: names; several are fused.
        source: "retrieved", "judged", "scoreddocs" (candidates that a collection of ir_datasets
            brings, such as the first 1,000 of BM25 of MS MARCO's makers), or the path of a run
            file.
        choices: the retrievers with their options, once they are chosen.
        depth: documents that a retriever finds per topic.
        rerank_depth: how many of them are candidates.
    """

    retrievers: tuple[str, ...] = USUAL
    source: str = RETRIEVED
    choices: Sequence[ChosenRetriever] = ()
    depth: int = 1000
    rerank_depth: int = 500

    @classmethod
    def parse(cls, text: str) -> FirstStage:
        """Read a name.

        Raises:
            InputError: it names two sources of documents, nothing, or a file that is not there.

        Examples:
            >>> FirstStage.parse("bm25+rm3").retrievers
            ('bm25', 'rm3')
            >>> FirstStage.parse("judged").source
            'judged'
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

        >>> FirstStage(("rm3",), "judged").name
        'judged+rm3'
        """
        if self.source == RETRIEVED:
            return "+".join(self.retrievers)
        return "+".join([self.source, *(self.retrievers if self.retrievers != USUAL else ())])

    @property
    def path(self) -> Path | None:
        """The run file that has the documents."""
        return None if self.source in (RETRIEVED, JUDGED, SCORED) else Path(self.source)

    @property
    def is_ranked(self) -> bool:
        """The documents come with an order, in a run file or from the collection."""
        return self.source not in (RETRIEVED, JUDGED)

    @cached_property
    def run(self) -> Run:
        """The run as the file has it."""
        assert self.path is not None
        return read_run(self.path)

    def run_name(self, systems: Sequence[str]) -> str:
        """The name of a run that takes the place of retrievers; none of a reranker's, in `systems`.

        A file's is its tag if that can name a file, else the file's name.
        """
        names = [SCORED, f"{SCORED}-candidates"]
        if self.path is not None:
            stem = self.path.name.removesuffix(".gz").rpartition(".")[0] or self.path.name
            names = [self.run.name, stem, f"{stem}-candidates", "candidates"]
        free = (n for n in names if _FILE_NAME.fullmatch(n) and not {n, system_of(n)} & {*systems})
        return next(free)

    def refuse(self, collection: Collection) -> None:
        """Refuse a collection that does not fit, before any work.

        Raises:
            InputError: there are no judgments to take documents from, no candidates that it brings,
                or the file is not a run, or has topics outside the collection.
        """
        if self.source == JUDGED and collection.load_qrels is None:
            raise InputError(
                f"'{collection.id}' has no judgments, which {JUDGED} takes its documents from."
            )
        if self.source == SCORED and collection.load_scored is None:
            raise InputError(
                f"'{collection.id}' brings no candidates ({SCORED}); only some collections of "
                "ir_datasets do. Name a retriever, or a run file."
            )
        if self.path is None:
            return
        topic_ids = dict.fromkeys(topic.id for topic in collection.topics)
        all_known = topic_ids.keys() | collection.topics_left_out
        if unknown := [topic for topic in self.run.rankings if topic not in all_known]:
            raise InputError(
                f"'{collection.id}' has no topic {listing(unknown)}; its {len(topic_ids):,} topics "
                f"are {listing(list(topic_ids))}. Is this another collection's run?",
                path=self.path,
            )

    def for_training(self, training: Collection) -> FirstStage:
        """The first stage for other topics, which rerankers learn from.

        These are not in a run file; the retrievers find candidates for them.
        """
        if self.path or (self.source == SCORED and training.load_scored is None):
            return replace(self, source=RETRIEVED)
        return self

    def candidates(
        self,
        collection: Collection,
        resources: CollectionResources,
        systems: Sequence[str] = (),
    ) -> Candidates:
        """Find candidates for all topics of a collection.

        The first stage's run gets none of the names of rerankers, `systems`.

        Raises:
            InputError: see `refuse`; or most documents of the run are not in the collection.
        """
        self.refuse(collection)
        if self.source == RETRIEVED:
            return self._retrieved(collection, resources, systems)
        if self.source == JUDGED:
            return self._judged(collection, resources)
        if self.path is None:
            return self._scored(collection, resources, systems)
        run = replace(self.run, name=self.run_name(systems))
        digest = file_digest(readable_again(self.path))
        facts = {"run": run.name, "file": self.path.name, "sha256": digest}
        return self._ranked(run, facts, collection, resources, systems)

    def _retrieved(
        self, collection: Collection, resources: CollectionResources, systems: Sequence[str]
    ) -> Candidates:
        """The union of the first documents of every retriever."""
        topics, depth = collection.topics, self.depth
        runs = cached_runs(self.choices, topics, depth, resources, label=collection.id)
        # No reranker may have the name of a run: "x" retrieves as "x-retriever".
        runs = [
            replace(retrieved, run=retrieved.run.renamed(retriever_name(retrieved.run.name)))
            if retrieved.run.name in systems
            else retrieved
            for retrieved in runs
        ]
        candidates = Candidates.of(topics, runs, self.rerank_depth, depth)

        def look() -> list[str]:
            return own_documents(candidates.first, collection, resources.documents)

        depends_on = {"own documents": candidates.fingerprint}
        topics_ranked = kept_fact("check", collection.id, depends_on, look)
        if message := notice_of_own(topics_ranked, candidates.first.name):
            notice(message)
        names = ", ".join(choice.name for choice in self.choices)
        reranked = min(self.rerank_depth, depth)
        facts = {"protocol": RETRIEVED, "rerank_depth": reranked}
        provenance = Provenance(facts, f"the first {reranked:,} of {names}", usual=True)
        return replace(candidates, provenance=provenance, name=collection.id)

    def _judged(self, collection: Collection, resources: CollectionResources) -> Candidates:
        """All judged documents of every topic, relevant or not, ranked by the retrievers.

        Those outside the index are left out.
        """
        pools, left_out = judged_pools(collection, resources)
        label = f"{collection.id}-judged"
        runs = cached_runs(
            self.choices, collection.topics, self.depth, resources, label=label, pools=pools
        )
        ranked = sum(map(len, pools.values()))
        provenance = Provenance(
            {"protocol": JUDGED, "documents": ranked, "missing": left_out},
            f"the judged documents of each topic only ({ranked:,} in all"
            + (f"; {left_out:,} more are not in the collection)" if left_out else ")"),
        )
        candidates = Candidates.of(
            collection.topics, runs, max(map(len, pools.values()), default=0)
        )
        return replace(candidates, provenance=provenance, name=collection.id)

    def _scored(
        self, collection: Collection, resources: CollectionResources, systems: Sequence[str]
    ) -> Candidates:
        """The documents that a collection brings for each topic, with scores."""
        scored = collection.load_scored() if collection.load_scored else {}
        rankings = {
            topic.id: Ranking.of([*scores], [*scores.values()])
            for topic in collection.topics
            if (scores := scored.get(topic.id))
        }
        if rankings and all(r.scores[0] == r.scores[-1] for r in rankings.values()):
            notice(
                f"{collection.id}: its {SCORED} all have the same score: the first stage's order "
                "means nothing (document ids, descending)."
            )
        run = Run(self.run_name(systems), rankings)
        digest = fingerprint({topic: dict(scores) for topic, scores in scored.items()})
        facts = {"run": run.name, "sha256": digest}
        return self._ranked(run, facts, collection, resources, systems)

    def _ranked(
        self,
        run: Run,
        facts: Mapping[str, str],
        collection: Collection,
        resources: CollectionResources,
        systems: Sequence[str],
    ) -> Candidates:
        """The candidates of a run that takes the place of retrievers, from a file or not.

        Documents outside the collection are left out and counted.
        """
        path, name, topics = self.path, collection.id, collection.topics
        label = path or f"{name}'s {run.name}"
        empty = Ranking.of((), ())
        results = {t.id: run.rankings.get(t.id, empty).without(t.left_out) for t in topics}
        missing = missing_documents((r.doc_ids for r in results.values()), resources)
        total = sum(map(len, results.values()))
        rankings = {topic: ranking.without(missing) for topic, ranking in results.items()}
        left_out = total - sum(map(len, rankings.values()))
        if left_out > _MOST_MISSING * total:
            raise InputError(
                f"{left_out:,} of its {total:,} documents are not in '{name}', "
                f"{listing(sorted(missing))}. Is this another collection's run?",
                path=path,
            )
        if left_out:
            notice(
                f"{label}: {left_out:,} of {total:,} results are not among the documents of "
                f"'{name}' and are left out, {listing(sorted(missing))}; the others move up, so "
                "its scores are not those of the whole run."
            )
        run = Run(run.name, rankings)
        if message := notice_of_documents(run, collection, resources.documents):
            notice(message)
        if without := [topic for topic, ranking in rankings.items() if not len(ranking)]:
            notice(f"{label}: there are no candidates for topics: {listing(without)}")
        deepest = max(map(len, rankings.values()), default=0)
        if deepest > self.depth:
            notice(
                f"{label}: topics have up to {deepest:,} results; the first {self.depth:,} "
                f"({option('depth')}) are written and scored."
            )
        index = resources.index_artifact().fingerprint
        of_topics = {t.id: t.left_out for t in topics if t.left_out}
        depends_on = {"index": index, "depth": self.depth, **facts}
        key = fingerprint(depends_on | ({"left out": of_topics} if of_topics else {}))
        counts = {
            "documents": total - left_out,
            "missing": left_out,
            "rerank_depth": self.rerank_depth,
        }
        sentence = path.name if path else f"the collection's own ({SCORED})"
        if systems:
            sentence = f"the first {self.rerank_depth:,} of {sentence}"
        if left_out:
            sentence += f" ({left_out:,} of its {total:,} results left out)"
        return Candidates(
            topics,
            [RetrievedRun(run.top(self.depth), key, facts, {"index": index})],
            run,
            key,
            {topic: ranking.top(self.rerank_depth).doc_ids for topic, ranking in rankings.items()},
            depth=min(self.depth, deepest),
            rerank_depth=self.rerank_depth,
            provenance=Provenance(
                {"protocol": "run" if path else SCORED, **facts, **counts}, sentence
            ),
            name=name,
        )


def short_names(stages: Sequence[FirstStage]) -> list[str]:
    """Return names for tables and folders; a run file is called as the file, without its folder.

    >>> short_names([FirstStage(), FirstStage(source="a/x.run"), FirstStage(source="b/x.run.gz")])
    ['bm25', 'x', 'x-2']
    """
    names: list[str] = []
    times: Counter[str] = Counter()
    for stage in stages:
        name = stage.name
        if stage.path is not None:
            name = file_name(stage.path) + name.removeprefix(stage.source)
        name = _STRANGE.sub("-", name).strip("-.") or "run"
        times[name] += 1
        names.append(name if times[name] == 1 else f"{name}-{times[name]}")
    return names


def _looks_like_path(text: str) -> bool:
    return "/" in text or file_name(Path(text)) != text


def judged_pools(
    collection: Collection, resources: CollectionResources
) -> tuple[dict[str, list[str]], int]:
    """Return the judged documents of every topic, and how many are left out.

    These are outside the index; a notice names them.
    """
    qrels = collection.qrels
    judged = {  # a negative grade marks what was pooled and not judged
        topic.id: [
            doc_id
            for doc_id, grade in qrels.get(topic.id, {}).items()
            if grade >= 0 and doc_id not in topic.left_out
        ]
        for topic in collection.topics
    }
    missing = missing_documents(judged.values(), resources)
    pools = {t: sorted(d for d in doc_ids if d not in missing) for t, doc_ids in judged.items()}
    total = sum(map(len, judged.values()))
    left_out = total - sum(map(len, pools.values()))
    if left_out:
        notice(
            f"{collection.id}: {left_out:,} of {total:,} judged documents are not in the "
            f"collection and are not ranked, {listing(sorted(missing))}"
        )
    if unjudged := [topic for topic, doc_ids in judged.items() if not doc_ids]:
        notice(f"{collection.id}: topics without judged documents: {listing(unjudged)}")
    return pools, left_out


def _is_file(text: str) -> bool:
    """Return whether a run file is there; names of retrievers have no dots and slashes."""
    path = Path(text)
    return ("/" in text or "." in text) and path.exists() and not path.is_dir()
