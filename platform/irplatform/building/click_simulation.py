"""Simulated click logs of judged collections, for users without a log.

A user who examines a document clicks on it with a probability that depends on its grade. In the
position-based model every rank r is examined with probability r^−η (Joachims, Swaminathan and
Schnabel, WSDM 2017). In the cascade model users go down from the first rank and stop at a click
(Craswell et al., WSDM 2008), or with probability `stop` (Chapelle and Zhang, WWW 2009). A session
sees the retriever's ranking, perturbed; of several retrievers, their documents by best rank. Random
numbers depend on the seed and the topic's id alone.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from irplatform.building.click_log import COLUMNS
from irplatform.collection_resources import CollectionResources
from irplatform.documents.jsonlines import pack
from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems, with_expansion_of
from irplatform.files.digests import number_of
from irplatform.files.writing import atomic_write, writable_file
from irplatform.registry.loading import registry
from irplatform.retrieval.retrievers import cached_runs
from irplatform.settings import check_least
from irplatform.spelling import option
from irplatform.system.console import progress
from irplatform.workers.distribution import available_cores

if TYPE_CHECKING:
    import gzip
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from irplatform.data import Topic

Model = Literal["position", "cascade"]
Clicks = npt.NDArray[np.bool_]
Probabilities = npt.NDArray[np.float64]
_LINES = 200_000


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of simulated users.

    Attributes:
        model: "position" or "cascade".
        decay: η, how fast examination falls with the rank (0: not at all); "position" only.
        stop: probability of ending a session at a click; "cascade" only.
        noise: probability of a click on an examined document that is not relevant.
        by_grade: probabilities of a click by grade, in place of the formula with noise.
        fulltext: probability that a click on a document of the highest grade goes on to its full
            text, if there is one; for other grades it is lower in proportion.
    """

    model: Model = "position"
    decay: float = 1.0
    stop: float = 1.0
    noise: float = 0.1
    by_grade: Mapping[int, float] | None = None
    fulltext: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.decay < np.inf:
            raise InputError("the decay of examination must be 0 or more.")
        grade_chances = {f"of a click at grade {g}": p for g, p in (self.by_grade or {}).items()}
        for case, probability in {
            "of stopping": self.stop,
            "of noise": self.noise,
            "of going on to the full text": self.fulltext,
            **grade_chances,
        }.items():
            if not 0 <= probability <= 1:
                raise InputError(f"the probability {case} lies between 0 and 1, not {probability}.")

    def attraction(self, grades: npt.NDArray[np.float64], highest: float) -> Probabilities:
        """Probabilities of a click on documents that are examined.

        By default noise + (1 − noise)·(2^g − 1)/(2^highest − 1) (Chapelle et al., CIKM 2009). With
        `by_grade`, an unnamed grade has the probability of the next lower named one, or noise.
        Grades have any shape; below 0 counts as 0.
        """
        clipped = np.minimum(np.maximum(grades, 0), highest)
        if self.by_grade is None:
            top = 1 - np.exp2(-max(highest, 1))
            gain = (np.exp2(clipped - highest) - np.exp2(-highest)) / top
            return np.asarray(self.noise + (1 - self.noise) * gain)
        chance_of = {-1: self.noise} | dict(self.by_grade)
        named_grades = sorted(chance_of)
        values = np.array([chance_of[grade] for grade in named_grades])
        next_lower = np.searchsorted(named_grades, clipped, side="right") - 1
        return np.asarray(values[next_lower])

    def click(self, attraction: Probabilities, random: np.random.Generator) -> Clicks:
        """Draw the clicks on documents with these attractions; both are [sessions, ranks]."""
        looks, stops = random.random((2, *attraction.shape))
        if self.model == "position":
            examined = np.arange(1.0, attraction.shape[1] + 1) ** -self.decay
            return np.asarray(looks < attraction * examined)
        would_click = looks < attraction
        ends = would_click & (stops < self.stop)
        ended_above = np.cumsum(ends, axis=1) - ends > 0
        return np.asarray(would_click & ~ended_above)


@dataclass(frozen=True)
class SessionSettings:
    """The sessions of a simulation: each sees a page of the first `depth` documents of a ranking.

    A session's ranking is a Plackett–Luce draw with weights rank^(−1/shuffle): the document at rank
    r comes before the one at rank s with probability 1 / (1 + (r/s)^(1/shuffle)). Where several
    retrievers find a document, its best rank counts; equal ranks come in random order.
    """

    sessions: int = 50
    page: int = 20
    depth: int = 100
    shuffle: float = 0.5
    fulltext_share: float = 0.5
    seed: int = 42
    behaviour: Behaviour = field(default_factory=Behaviour)

    def __post_init__(self) -> None:
        for name in ("sessions", "page", "depth"):
            check_least(name, getattr(self, name), 1)
        if not 0 <= self.shuffle < np.inf:
            raise InputError(f"{option('shuffle')} is {self.shuffle}; it must be 0 or more.")
        if not 0 <= self.fulltext_share <= 1:
            raise InputError("the share of documents with full text lies between 0 and 1.")


def simulate_clicks(
    collection: str,
    path: Path,
    settings: SessionSettings,
    *,
    retriever: str = "bm25",
    options: Mapping[str, object] | None = None,
    threads: int | None = None,
) -> dict[str, int]:
    """Make a click log of a judged collection; count `topics` and `lines`.

    `retriever` finds the shown documents, or several do, joined by "+".

    Raises:
        InputError: a wrong name or option, a log that exists, has another ending or cannot be
            written, a collection without judgments, or nothing to show.
    """
    if writable_file(path).exists():
        raise InputError("this exists already; choose another name, or remove it.", path=path)
    if not path.name.endswith((".tsv", ".tsv.gz")):
        raise InputError("a log's name ends in .tsv or .tsv.gz.", path=path)
    plugins = registry()
    resolved = plugins.collection(collection)
    retrievers = retriever.split("+")
    with_expansion = with_expansion_of(resolved, plugins, retrievers, options or {})
    choices, _ = choose_systems(plugins, retrievers, (), with_expansion)
    if resolved.load_qrels is None:
        raise InputError(f"'{resolved.id}' has no judgments to make clicks of.")
    qrels = resolved.qrels
    topics = [topic for topic in resolved.load_topics() if topic.id in qrels]
    resources = CollectionResources(
        resolved.corpus, "cpu", settings.seed, threads or available_cores()
    )
    runs = cached_runs(choices, topics, settings.depth, resources, label=resolved.id)
    rankings = {t.id: [r.run.rankings[t.id].doc_ids for r in runs] for t in topics}
    log_topics = [topic for topic in topics if any(rankings[topic.id])]
    return {"topics": len(log_topics), "lines": write_log(path, topics, rankings, qrels, settings)}


def write_log(
    path: Path,
    topics: Sequence[Topic],
    rankings: Mapping[str, Sequence[Sequence[str]]],
    qrels: Mapping[str, Mapping[str, float]],
    settings: SessionSettings,
) -> int:
    """Write a simulated click log, gzipped for `.gz`; return its number of lines.

    Rankings of a topic, one per retriever, have document ids, best first; topics without any are
    skipped.
    """
    highest = max((g for grades in qrels.values() for g in grades.values()), default=0)
    if highest <= 0:
        raise InputError("no document of this collection is relevant: users would not click.")
    if not any(any(rankings.get(topic.id, ())) for topic in topics):
        raise InputError("the retriever finds nothing for any topic: there is nothing to show.")
    line_count = 0
    with atomic_write(path, "wb") as plain, ExitStack() as stack:
        file: IO[bytes] | gzip.GzipFile = plain
        if path.suffix == ".gz":
            file = stack.enter_context(pack(plain, level=6))
        file.write("\t".join(COLUMNS).encode() + b"\n")
        with progress("simulating clicks", len(topics), "topics") as advance:
            for topic in topics:
                results = [ranking[: settings.depth] for ranking in rankings.get(topic.id, ())]
                grades = qrels.get(topic.id, {})
                for frame in sessions(topic, results, grades, highest, settings):
                    lines = frame.write_csv(
                        separator="\t", include_header=False, quote_style="never"
                    )
                    file.write(lines.encode())
                    line_count += frame.height
                advance(1)
    return line_count


def sessions(
    topic: Topic,
    rankings: Sequence[Sequence[str]],
    grades: Mapping[str, float],
    highest: float,
    settings: SessionSettings,
) -> Iterator[pl.DataFrame]:
    """Draw the sessions of a topic, in frames of whole sessions with the columns of a log.

    `rankings` have document ids, best first; `highest` is the highest grade of the collection.
    """
    import polars as pl

    ranks = _best_ranks(rankings)
    if not ranks:
        return
    behaviour = settings.behaviour
    random = np.random.default_rng([settings.seed, number_of(topic.id)])
    judged = np.array([grades.get(doc_id, 0) for doc_id in ranks], dtype=np.float64)
    attraction = behaviour.attraction(judged, highest)
    available = has_fulltext(ranks, settings)
    doc_ids = np.array([*ranks], dtype=object)
    query = " ".join(topic.query.split())
    page = min(settings.page, len(ranks))
    step = max(1, _LINES // len(ranks))
    for start in range(0, settings.sessions, step):
        count = min(step, settings.sessions - start)
        pages = _pages([*ranks.values()], page, count, settings.shuffle, random)
        clicked = behaviour.click(attraction[pages], random)
        goes_on = random.random(clicked.shape) < behaviour.fulltext * attraction[pages]
        opened = clicked & goes_on & available[pages]
        yield pl.DataFrame(
            {
                "query": pl.repeat(query, pages.size, eager=True),
                "doc_id": pl.Series(doc_ids[pages.ravel()], dtype=pl.String),
                "rank": np.tile(np.arange(1, page + 1), count),
                "abstract_clicks": clicked.ravel().astype(np.int64),
                "fulltext_clicks": opened.ravel().astype(np.int64),
                "has_fulltext": available[pages].ravel().astype(np.int64),
            }
        )


def has_fulltext(doc_ids: Iterable[str], settings: SessionSettings) -> npt.NDArray[np.bool_]:
    """True for documents with a full text, the same for every topic."""
    share = settings.fulltext_share * 2**32
    return np.array(
        [number_of(f"{settings.seed} {d}") % 2**32 < share for d in doc_ids], dtype=bool
    )


def _best_ranks(rankings: Sequence[Sequence[str]]) -> dict[str, int]:
    """The documents of all rankings, each with the best of its ranks."""
    ranks: dict[str, int] = {}
    for ranking in rankings:
        for rank, doc_id in enumerate(ranking, 1):
            ranks[doc_id] = min(rank, ranks.get(doc_id, rank))
    return ranks


def _pages(
    ranks: Sequence[int], page: int, count: int, shuffle: float, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Places of the documents with these ranks that sessions see, [count, page]."""
    noise = random.gumbel(size=(count, len(ranks)))
    keys = np.log(ranks) - shuffle * noise
    order: npt.NDArray[np.int64] = np.lexsort((noise, keys), axis=1)
    return order[:, :page]


def parse_by_grade(texts: Iterable[str]) -> dict[int, float] | None:
    """Probabilities of a click written as `GRADE=P`; None for no texts."""
    chances: dict[int, float] = {}
    for text in texts:
        grade, _, probability = text.partition("=")
        try:
            number, chance = int(grade), float(probability)
        except ValueError as error:
            raise InputError(
                f"'{text}' is not a probability of a click. Write GRADE=P, such as 2=0.9."
            ) from error
        if number in chances or number < 0:
            raise InputError(f"'{text}': grades are 0 or more, and each is named once.")
        chances[number] = chance
    return chances or None
