"""Machines that judge the documents of a pool, and write their judgments beside those of people.

A machine's judgments are in a file of its own in the pool's folder, `NAME.jsonl`. Its source has
the judge's name and a version: what decided, and the topics that it was fitted on. Documents that
this source has judged are not judged again, so that an interrupted command goes on. A document to
which a judge gives no grade stays unjudged; the next call asks it again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, PluginError, counted, listing, one_line, quoted
from irplatform.experiment.arguments import (
    as_names,
    as_path,
    as_paths,
    collection_name,
    settings_by_name,
)
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import refuse_large_downloads, unknown_option
from irplatform.files.digests import fingerprint
from irplatform.files.locks import lock
from irplatform.judging.judgments import (
    MACHINE,
    Judgment,
    Source,
    now,
    read_judgments,
    write_judgments,
)
from irplatform.judging.page.grades import read_grades
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.sources import choose, gather
from irplatform.judging.store import stored_grades
from irplatform.options import option_values
from irplatform.plugin.judges import Judge, Tokens
from irplatform.registry.dependencies import Chosen
from irplatform.registry.loading import registry
from irplatform.spelling import option
from irplatform.system.console import notice, progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Documents, Topic
    from irplatform.experiment.arguments import AnyCollection, AnyPath, Names, Paths
    from irplatform.judging.pool_folder import Pool
    from irplatform.plugin.judges import Grades
    from irplatform.registry.registration import Registration

AT_ONCE = 32
"""Documents that a judge is asked about at once."""
_SECONDS = 10
"""Between two writings of the file."""
_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """The prices of a million tokens that a service reads, and of a million that it writes."""

    read: float = 0.0
    written: float = 0.0

    def told(self, tokens: Tokens) -> str:
        """Return tokens in words, with their price if there is one.

        >>> Prices(2, 8).told(Tokens(1_500_000, 4_000))
        '1,500,000 tokens read, 4,000 written, 3.03'
        """
        text = f"{counted(tokens.read, 'token')} read, {tokens.written:,} written"
        return f"{text}, {self.of(tokens):,.2f}" if self.read or self.written else text

    def of(self, tokens: Tokens) -> float:
        """Return the price of tokens."""
        return (tokens.read * self.read + tokens.written * self.written) / _MILLION


@dataclass(frozen=True)
class MachineJudgments:
    """What a machine judged.

    Attributes:
        path: the file of its judgments.
        source: its name and version.
        judged: number of documents that it judged now.
        before: number of those that it had judged before.
        unjudged: number of those that stay unjudged.
        absent: number of those that are not in the collection.
        expected: tokens that were expected.
        spent: tokens that were paid for.
        price: of these; 0 without prices.
    """

    path: Path
    source: Source
    judged: int
    before: int
    unjudged: int
    absent: int
    expected: Tokens = field(default_factory=Tokens)
    spent: Tokens = field(default_factory=Tokens)
    price: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return this as a JSON object."""
        told = {name: getattr(self, name) for name in ("judged", "before", "unjudged", "absent")}
        tokens = {name: vars(getattr(self, name)) for name in ("expected", "spent")}
        source = {name: getattr(self.source, name) for name in ("kind", "name", "version")}
        return {
            "path": str(self.path),
            "source": source,
            **told,
            "tokens": tokens,
            "price": self.price,
        }


def judge_pool(
    pool: AnyPath,
    judge: str,
    *,
    collection: AnyCollection | None = None,
    grades: Grades | str | None = None,
    settings: Mapping[str, object] | None = None,
    fit_on: Paths = (),
    fit_topics: Names = (),
    prices: Prices | None = None,
    estimate: bool = False,
    device: str = "auto",
) -> MachineJudgments:
    r"""Let a machine judge the documents of a pool.

    Its judgments are in the pool's folder, in a file with the judge's name. The same call goes on
    where an interrupted one ended.

    Args:
        pool: the pool's folder.
        judge: the name of a judge, such as "llm".
        collection: has topics and documents; by default the one that the pool's runs name.
        grades: grades with their definitions; by default those that people judge this pool by, or
            the collection's.
        settings: options of the judge.
        fit_on: pools and files with people's judgments that it is fitted on, if it learns.
        fit_topics: the topics of these that it is fitted on; by default all. `platform agree`
            leaves them out.
        prices: of tokens.
        estimate: judge nothing; say what it would cost.
        device: "auto", "cpu", "cuda" or "mps".

    Raises:
        InputError: a wrong name or option, a file cannot be read or written, the collection lacks
            a topic or grades, or the judge cannot judge.

    Examples:
        >>> import irplatform as ir
        >>> class Longest(ir.Judge):
        ...     '''Takes long documents for relevant.'''
        ...     def judge(self, topic, documents, grades):
        ...         return [int(len(document.text) > 500) for document in documents]
        >>> topic = ir.collection("demo").topics[0].id
        >>> (found,) = ir.retriever("bm25", "demo").search("melanoma", depth=3).rankings.values()
        >>> _ = ir.pool_runs([ir.Run("bm25", {topic: found})], "pool", depth=3)
        >>> grades = {0: "not relevant", 1: "relevant"}
        >>> with ir.register("longest", Longest):
        ...     done = ir.judge_pool("pool", "longest", collection="demo", grades=grades)
        >>> done.path.name, done.judged
        ('longest.jsonl', 3)
    """
    folder = as_path(pool, "pool")
    held, prices = read_pool(folder), prices or Prices()
    chosen = choose_judge(judge, settings_by_name(settings))
    name = collection_name(collection) if collection is not None else held.collection
    if not name:
        raise InputError(
            f"the pool does not say of which collection it is: give {option('collection')}.",
            path=folder,
        )
    opened = registry().documents_of(name)
    refuse_large_downloads(opened, name)
    defined = _defined(grades, folder, opened)
    if check := chosen.reads.check:
        check()
    resources = resources_for(RunSettings(name, device=device), opened)
    topics = {topic.id: topic for topic in opened.topics}
    if lacking := [topic for topic in held.topics if topic not in topics]:
        raise InputError(
            f"'{name}' lacks topics of the pool: {listing(lacking)}. Give its collection with "
            f"{option('collection')}."
        )
    ready = ReadyJudge.of(chosen, defined, resources)
    if paths := as_paths(fit_on, "fit_on"):
        ready.fit(_judged(paths, as_names(fit_topics, "fit_topics"), topics, resources))
    elif fit_topics:
        raise InputError(f"{option('fit_topics')} needs {option('fit_on')}.")
    path = folder / f"{chosen.name}.jsonl"
    with _alone(path):
        work = _Work(held, topics, ready, resources, path)
        return work.estimated(prices) if estimate else work.done(prices)


def choose_judge(name: str, settings: Mapping[str, object]) -> Chosen[Judge]:
    """Return a judge with its options; InputError for a wrong name or option."""
    registration = registry().judge(name)
    used, values = option_values(registration, settings)
    for key in settings:
        if key not in used:
            raise unknown_option(key, [registration], registry())
    return Chosen(registration, registration.options(values))


@dataclass
class ReadyJudge:
    """A prepared judge, whose answers are checked; errors name its plugin.

    Attributes:
        registration: where it comes from.
        judge: the judge.
        grades: the grades to choose from.
        fitted_on: the topics that it was fitted on.
    """

    registration: Registration[Judge]
    judge: Judge
    grades: Grades
    fitted_on: Sequence[str] = ()

    @classmethod
    def of(
        cls, chosen: Chosen[Judge], grades: Grades, resources: CollectionResources
    ) -> ReadyJudge:
        """Make and prepare a judge."""
        made = chosen.registration.made(chosen.options)
        with chosen.registration.plugin_call("preparing"):
            made.prepare(resources)
        return cls(chosen.registration, made, grades)

    def fit(self, judged: Sequence[tuple[Topic, Documents, Sequence[int]]]) -> None:
        """Fit it to judged documents; InputError if it learns nothing, or an id has a comma."""
        topics = [topic.id for topic, _, _ in judged]
        if wrong := [topic for topic in topics if "," in topic]:
            raise InputError(
                f"the topic '{wrong[0]}' has a comma in its id, so that the judge's version cannot "
                f"list it among those that it was fitted on: leave it out with "
                f"{option('fit_topics')}."
            )
        with self.registration.plugin_call("learning"):
            self.judge.fit(judged, self.grades)
        self.fitted_on = topics

    @cached_property
    def source(self) -> Source:
        """Its name and version."""
        with self.registration.plugin_call("returning its version"):
            told = self.judge.version(self.grades)
        if not isinstance(told, str):
            raise PluginError(f"{self.registration.who} returned {quoted(told)} from version().")
        if not told.strip():
            options = self.judge.options.model_dump(mode="json")
            mark = fingerprint({"options": options, "grades": {**self.grades}})
            told = f"{self.registration.plugin.version} options:{mark[:8]}".strip()
        fitted = f" fitted-on:{','.join(self.fitted_on)}" if self.fitted_on else ""
        return Source(MACHINE, self.registration.name, one_line(told).strip() + fitted)

    def judged(self, topic: Topic, documents: Documents) -> list[int | None]:
        """Return the grades of documents.

        Raises:
            PluginError: it fails, or returns something else.
        """
        with self.registration.plugin_call(f"judging topic {topic.id}"):
            answer = self.judge.judge(topic, documents, self.grades)
        who = self.registration.who
        if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
            raise PluginError(
                f"{who} returned {type(answer).__name__} from judge(); a list of grades is needed."
            )
        if len(answer) != len(documents):
            raise PluginError(
                f"{who} returned {counted(len(answer), 'grade')} for "
                f"{counted(len(documents), 'document')} of topic {topic.id}."
            )
        for grade in answer:
            whole = isinstance(grade, Integral) and not isinstance(grade, bool)
            if grade is not None and not (whole and int(grade) in self.grades):
                raise PluginError(
                    f"{who} gave {quoted(grade)} for topic {topic.id}; a grade is None or one of "
                    f"{listing(map(str, sorted(self.grades)), len(self.grades))}."
                )
        return [None if grade is None else int(grade) for grade in answer]

    def tokens(self, topic: Topic, documents: Documents) -> Tokens:
        """Return about how many tokens judging documents costs."""
        with self.registration.plugin_call("counting tokens"):
            return self.judge.tokens(topic, documents, self.grades)

    def spent(self) -> Tokens:
        """Return the tokens that were paid for."""
        with self.registration.plugin_call("counting tokens"):
            return self.judge.spent()


class _Work:
    """The documents of a pool that a judge has not judged."""

    def __init__(
        self,
        pool: Pool,
        topics: Mapping[str, Topic],
        ready: ReadyJudge,
        resources: CollectionResources,
        path: Path,
    ) -> None:
        self._pool, self._topics, self._ready = pool, topics, ready
        self._resources, self._path = resources, path
        self._judgments = read_judgments(path) if path.exists() else []
        source = ready.source
        judged = {(j.topic, j.document) for j in self._judgments if j.source == source}
        placed = {t: [item.document for item in pool.items(t)] for t in pool.topics}
        present = {*chain(*placed.values())}
        present -= {*resources.index().missing([*present])}
        self._before = sum((t, d) in judged for t, ids in placed.items() for d in ids)
        self._absent = sum(d not in present for ids in placed.values() for d in ids)
        self._open = {
            topic: [d for d in ids if d in present and (topic, d) not in judged]
            for topic, ids in placed.items()
        }

    def estimated(self, prices: Prices) -> MachineJudgments:
        """Say what judging would cost."""
        return self._told(0, self._count, self._expected(), prices)

    def done(self, prices: Prices) -> MachineJudgments:
        """Judge, and write after every few seconds, and at the end or an interruption."""
        if (expected := self._expected()) != Tokens():
            count, source = counted(self._count, "document"), self._ready.source
            notice(f"{count} to judge by {source}: about {prices.told(expected)}")
        judged = unjudged = 0
        written = time.monotonic()
        try:
            with progress("judging", self._count, "documents") as advance:
                for topic, documents in self._parts():
                    grades = self._ready.judged(topic, documents)
                    self._judgments += self._as_judgments(topic, documents.ids, grades)
                    judged += sum(grade is not None for grade in grades)
                    unjudged += grades.count(None)
                    advance(len(grades))
                    if time.monotonic() - written > _SECONDS:
                        write_judgments(self._path, self._judgments)
                        written = time.monotonic()
        finally:
            if judged:
                write_judgments(self._path, self._judgments)
        return self._told(judged, unjudged, expected, prices)

    @property
    def _count(self) -> int:
        return sum(map(len, self._open.values()))

    def _parts(self) -> Iterator[tuple[Topic, Documents]]:
        for topic, ids in self._open.items():
            for start in range(0, len(ids), AT_ONCE):
                documents = self._resources.documents(ids[start : start + AT_ONCE])
                yield self._topics[topic], documents

    def _expected(self) -> Tokens:
        if type(self._ready.judge).tokens is Judge.tokens:
            return Tokens()
        return sum((self._ready.tokens(*part) for part in self._parts()), Tokens())

    def _as_judgments(
        self, topic: Topic, ids: Sequence[str], grades: Sequence[int | None]
    ) -> Iterator[Judgment]:
        source, at, pool = self._ready.source, now(), self._pool.id
        for document, grade in zip(ids, grades, strict=True):
            if grade is not None:
                yield Judgment(topic.id, document, grade, source, at, pool)

    def _told(
        self, judged: int, unjudged: int, expected: Tokens, prices: Prices
    ) -> MachineJudgments:
        spent = self._ready.spent()
        return MachineJudgments(
            self._path,
            self._ready.source,
            judged,
            self._before,
            unjudged,
            self._absent,
            expected,
            spent,
            prices.of(spent),
        )


def _defined(grades: Grades | str | None, folder: Path, collection: Collection) -> Grades:
    """The grades that the user gives, or people judge the pool by, or the collection has."""
    if isinstance(grades, str):
        return read_grades(grades)
    defined = dict(grades or stored_grades(folder) or collection.grades)
    if len(defined) < 2:
        raise InputError(
            f"'{collection.id}' does not define its grades: give "
            f"{option('grades', '0=not relevant,1=relevant', quoted=True)}."
        )
    return defined


def _judged(
    paths: Sequence[Path],
    only: Sequence[str],
    topics: Mapping[str, Topic],
    resources: CollectionResources,
) -> list[tuple[Topic, Documents, list[int]]]:
    """Documents that people judged, of some topics or of all."""
    chosen = choose(gather(paths))
    if lacking := [topic for topic in only if topic not in chosen.grades]:
        raise InputError(
            f"no person judged topic {listing(lacking)} in {listing(map(str, paths))}."
        )
    found = []
    for topic in only or sorted(chosen.grades):
        if topic not in topics:
            raise InputError(
                f"the collection lacks topic '{topic}' of {listing(map(str, paths))}: name those "
                f"to fit on with {option('fit_topics')}."
            )
        judged = chosen.grades[topic]
        missing = {*resources.index().missing([*judged])}
        ids = sorted(judged.keys() - missing)
        if ids:
            grades = [judged[document] for document in ids]
            found.append((topics[topic], resources.documents(ids), grades))
    if not found:
        raise InputError("no judged document of these topics is in the collection.")
    return found


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from writing the same file."""
    with lock(path.with_name(f".{path.name}")) as ours:
        if not ours:
            raise InputError("another process judges this pool with this judge.", path=path)
        yield
