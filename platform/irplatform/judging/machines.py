"""Machines that judge the documents of a pool, and write their judgments beside those of people.

A machine's judgments are in a file of its own in the pool's folder, `NAME.jsonl`. Its source has
the judge's name and a version: what decided, and the topics that it was fitted on. Documents that
this source has judged are not judged again, so that an interrupted command goes on. A document to
which a judge gives no grade stays unjudged; the next call asks it again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, PluginError, counted, listing, quoted, unknown
from irplatform.experiment.arguments import (
    as_names,
    as_path,
    as_paths,
    collection_name,
    settings_by_name,
)
from irplatform.experiment.calls import content_digest
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import unknown_option
from irplatform.files.digests import fingerprint
from irplatform.files.locks import lock
from irplatform.files.writing import writable_folder
from irplatform.judging.judgments import (
    MACHINE,
    Judgment,
    Source,
    now,
    read_judgments,
    write_judgments,
)
from irplatform.judging.page.opening import defined_grades, opened_collection
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pooling import grades_of, next_batch
from irplatform.judging.shared_models import DIGITS, as_word, models_in
from irplatform.judging.sources import choose, gather
from irplatform.judging.store import FILE, stored_grades, stored_judgments
from irplatform.options import option_values
from irplatform.plugin.judges import Judge, Tokens
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.loading import registry
from irplatform.registry.plugin_answers import text_answer
from irplatform.system.console import notice, progress
from irplatform.training.checkpoints import Checkpoint
from irplatform.workers.distribution import batched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Documents, Topic
    from irplatform.experiment.arguments import AnyCollection, AnyPath, Names, Paths
    from irplatform.judging.pool_folder import Pool
    from irplatform.plugin.judges import Grades
    from irplatform.registry.registration import Registration

AT_ONCE = 32
"""Documents that a judge is asked about at once."""
_SECONDS = 10
"""Between two writings of the file."""


@dataclass(frozen=True)
class MachineJudgments:
    """What a machine judged, or in an estimate, would judge.

    Attributes:
        path: the file of its judgments.
        source: its name and version.
        judged: number of documents that it judged now.
        before: number of those that it had judged before.
        unjudged: number of those that stay unjudged.
        tokens: those that were paid for, or in an estimate, expected.
        price: of these; 0 without prices.
        sentence: the same in words.
    """

    path: Path
    source: Source
    judged: int
    before: int
    unjudged: int
    tokens: Tokens
    price: float
    sentence: str

    def as_json(self) -> dict[str, Any]:
        """Return this as a JSON object."""
        return {**asdict(self), "path": str(self.path)}


def judge_pool(
    pool: AnyPath,
    judge: str,
    *,
    collection: AnyCollection | None = None,
    grades: Grades | str | None = None,
    settings: Mapping[str, object] | None = None,
    fit_on: Paths = (),
    fit_topics: Names = (),
    prices: tuple[float, float] = (0.0, 0.0),
    estimate: bool = False,
    device: str = "auto",
) -> MachineJudgments:
    r"""Let a machine judge the documents of a pool; one that learns gets all its rounds.

    Its judgments are in the pool's folder, in a file with the judge's name. The same call goes on
    where an interrupted one ended.

    Args:
        pool: the pool's folder.
        judge: the name of a judge, such as "llm".
        collection: has topics and documents; by default the one that the pool's runs name.
        grades: grades with their definitions; by default those that people judge this pool by, or
            the collection's.
        settings: options of the judge.
        fit_on: pools and files with people's judgments that it is fitted on, if it learns; by
            default this pool, if topics are named.
        fit_topics: the topics of these that it is fitted on; by default all. `platform agree`
            leaves them out.
        prices: of a million tokens that a service reads, and of a million that it writes.
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
    content, choice = read_pool(folder), choose_judge(judge, settings_by_name(settings))
    name = None if collection is None else collection_name(collection)
    name, opened = opened_collection(content, name)
    definitions = defined_grades(grades, stored_grades(folder), opened)
    choice.check_training()
    resources = resources_for(RunSettings(name, device=device), opened)
    topics = {topic.id: topic for topic in opened.topics}
    if missing := [topic for topic in content.topics if topic not in topics]:
        raise unknown("topic", missing[0], topics, of="the collection, but of the pool")
    ready = ReadyJudge.of(choice, definitions, resources)
    if (only := as_names(fit_topics, "fit_topics")) or fit_on:
        ready.fit(_by_people(as_paths(fit_on, "fit_on") or (folder,), only, topics, resources))
    path = writable_folder(folder) / f"{choice.name}.jsonl"
    with lock(path.with_name(f".{path.name}")) as ownership:
        if not ownership:
            raise InputError("another process judges this pool with this judge.", path=path)
        return _Work(ready, topics, resources, path, prices).judgments(estimate=estimate)


def choose_judge(name: str, settings: Mapping[str, object]) -> ChosenSystem[Judge]:
    """Return a judge with its options; InputError for a wrong name or option."""
    registration = registry().judge(name)
    keys, values = option_values(registration, settings)
    for key in settings:
        if key not in keys:
            raise unknown_option(key, [registration], registry())
    return ChosenSystem(registration, registration.options(values))


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
        cls, choice: ChosenSystem[Judge], grades: Grades, resources: CollectionResources
    ) -> ReadyJudge:
        """Make and prepare a judge."""
        judge = choice.registration.make(choice.options)
        with choice.registration.plugin_call("preparing"):
            judge.prepare(resources)
        return cls(choice.registration, judge, grades)

    def fit(self, judged: Sequence[Judge.Judged]) -> None:
        """Fit it to judged documents; InputError if it learns nothing."""
        with self.registration.plugin_call("learning"):
            self.judge.fit(judged, self.grades)
        self.fitted_on = [topic.id for topic, _, _ in judged]

    @cached_property
    def source(self) -> Source:
        """Its name and version."""
        with self.registration.plugin_call("returning its version"):
            answer = self.judge.version(self.grades)
        version = text_answer(self.registration.full_title, "version", answer).strip()
        if not version:
            decides = self.registration.describe(self.judge.options)
            mark = fingerprint({**decides, "grades": {**self.grades}})
            version = f"{self.registration.plugin.version} options:{mark[:8]}".strip()
        models = {*_models(self.judge.options.model_dump())} - {Source(MACHINE, "", version).model}
        version += f" of:{','.join(sorted(models))}" if models else ""
        version += f" fitted-on:{','.join(self.fitted_on)}" if self.fitted_on else ""
        return Source(MACHINE, self.registration.name, version)

    def judged(self, topic: Topic, documents: Documents) -> list[int | None]:
        """Return the grades of documents; PluginError if it fails, or returns something else."""
        with self.registration.plugin_call(f"judging topic {topic.id}"):
            answer = self.judge.judge(topic, documents, self.grades)
            is_list = isinstance(answer, Sequence) and len(answer) == len(documents)
            if is_list and all(grade is None or grade in self.grades for grade in answer):
                return [None if grade is None else int(grade) for grade in answer]
        raise PluginError(
            f"{self.registration.full_title} returned {quoted(answer)} for topic {topic.id}; a "
            f"list is needed: for each of {counted(len(documents), 'document')} None or one of the "
            f"grades {listing(map(str, sorted(self.grades)), len(self.grades))}."
        )

    def tokens(self, topic: Topic, documents: Documents) -> Tokens:
        """Return about how many tokens judging documents costs."""
        with self.registration.plugin_call("counting tokens"):
            return self.judge.tokens(topic, documents, self.grades)

    def spent(self) -> Tokens:
        """Return the tokens that were paid for."""
        with self.registration.plugin_call("counting tokens"):
            return self.judge.spent()


@dataclass
class _Work:
    """The judging of a pool: all its documents, and of one that learns, all its rounds.

    `_grades` has what this call need not ask about: None for documents that stay unjudged.
    """

    ready: ReadyJudge
    topics: Mapping[str, Topic]
    resources: CollectionResources
    path: Path
    prices: tuple[float, float]

    def judgments(self, *, estimate: bool) -> MachineJudgments:
        """Judge, or say what the documents that have a place would cost."""
        self._judgments = read_judgments(self.path) if self.path.exists() else []
        self._grades: dict[str, dict[str, int | None]] = {}
        source = self.ready.source
        for judgment in self._judgments:
            if judgment.source == source:
                self._grades.setdefault(judgment.topic, {})[judgment.document] = judgment.grade
        before = self._count()
        try:
            while True:
                pool = read_pool(self.path.parent)
                parts = self._unasked(pool)
                tokens = self._expected(parts)
                count = sum(len(ids) for _, ids in parts)
                later = pool.settings["budget"] - pool.placed if pool.settings.get("batch") else 0
                sentence = f"{counted(count, 'document')} to judge by {source.short}"
                sentence += f": about {self._in_words(tokens)}" if tokens != Tokens() else ""
                sentence += f"; up to {later:,} more in later rounds" if later > 0 else ""
                if estimate:
                    price = self._price(tokens)
                    return MachineJudgments(
                        self.path, source, 0, before, count, tokens, price, sentence
                    )
                if parts:
                    notice(sentence)
                    self._judge(parts, pool.id)
                if later <= 0 or not next_batch(pool.folder, self._training_grades()):
                    break
        finally:
            spent = self.ready.spent()
            if spent != Tokens() and not estimate:
                notice(f"spent: {self._in_words(spent)}")
        judged = self._count() - before
        if unjudged := sum(map(len, self._grades.values())) - self._count():
            notice(f"unjudged: {counted(unjudged, 'document')} without a grade or a text")
        prefix = f"{self.path}: " if self.path.exists() else ""
        sentence = f"{prefix}{counted(judged, 'judgment')} by {source.short}"
        sentence += f" ({before:,} before)" if before else ""
        return MachineJudgments(
            self.path, source, judged, before, unjudged, spent, self._price(spent), sentence
        )

    def _unasked(self, pool: Pool) -> list[tuple[Topic, list[str]]]:
        """The documents to ask about, a few of a topic at once."""
        placed = {topic: [item.document for item in pool.items(topic)] for topic in pool.topics}
        absent = self.resources.index().missing([d for ids in placed.values() for d in ids])
        parts = []
        for topic, ids in placed.items():
            grades = self._grades.setdefault(topic, {})
            grades.update(dict.fromkeys(absent.intersection(ids).difference(grades)))
            documents = [document for document in ids if document not in grades]
            parts += [(self.topics[topic], part) for part in batched(documents, AT_ONCE)]
        return parts

    def _judge(self, parts: Sequence[tuple[Topic, list[str]]], pool: str) -> None:
        """Judge, and write after every few seconds, and at the end or an interruption."""
        moment = time.monotonic()
        try:
            with progress("judging", sum(len(ids) for _, ids in parts), "documents") as advance:
                for topic, ids in parts:
                    judged = self.ready.judged(topic, self.resources.documents(ids))
                    grades = dict(zip(ids, judged, strict=True))
                    self._grades[topic.id].update(grades)
                    self._judgments += [
                        Judgment(topic.id, document, grade, self.ready.source, now(), pool)
                        for document, grade in grades.items()
                        if grade is not None
                    ]
                    advance(len(ids))
                    if time.monotonic() - moment > _SECONDS:
                        write_judgments(self.path, self._judgments)
                        moment = time.monotonic()
        finally:
            if self._judgments:
                write_judgments(self.path, self._judgments)

    def _training_grades(self) -> dict[str, dict[str, float | None]]:
        """What a pool learns from: people's judgments, and those of the machine for the rest."""
        folder = self.path.parent
        people = grades_of(stored_judgments(folder)) if (folder / FILE).exists() else {}
        return {
            topic: {**grades, **people.get(topic, {})} for topic, grades in self._grades.items()
        }

    def _count(self) -> int:
        return sum(g is not None for grades in self._grades.values() for g in grades.values())

    def _expected(self, parts: Sequence[tuple[Topic, list[str]]]) -> Tokens:
        documents = self.resources.documents  # which reads them when a judge looks at them
        return sum((self.ready.tokens(topic, documents(ids)) for topic, ids in parts), Tokens())

    def _price(self, tokens: Tokens) -> float:
        input_price, output_price = self.prices
        return (tokens.read * input_price + tokens.written * output_price) / 1_000_000

    def _in_words(self, tokens: Tokens) -> str:
        text = f"{counted(tokens.read, 'token')} read, {tokens.written:,} written"
        return f"{text}, {self._price(tokens):,.2f}" if any(self.prices) else text


def _models(options: Mapping[str, Any]) -> Iterator[str]:
    """The models of options, and those that they were trained from: names, and digests."""
    for model in models_in(options):
        path = Path(model).expanduser()
        if (isinstance(model, str) and os.sep not in model) or not path.exists():
            yield as_word(str(model))  # as a server calls it, also beside a folder of this name
            continue
        yield as_word(path.name)
        yield content_digest(path)[:DIGITS]
        if (path / "checkpoint.json").is_file():
            yield from _models(Checkpoint.read(path).options)


def _by_people(
    paths: Sequence[Path],
    only: Sequence[str],
    topics: Mapping[str, Topic],
    resources: CollectionResources,
) -> list[Judge.Judged]:
    """The documents that people judged, of some topics or of all that the collection has."""
    people = choose(gather(paths)).grades
    topic_ids = only or sorted(people.keys() & topics.keys())
    if wrong := [t for t in topic_ids if t not in people or t not in topics or "," in t]:
        raise InputError(
            f"a judge cannot be fitted on topic {listing(wrong)}: no person judged it in "
            f"{listing(map(str, paths))}, the collection lacks it, or its id has a comma."
        )
    judged: list[Judge.Judged] = []
    for topic in topic_ids:
        grades = people[topic]
        if ids := sorted(grades.keys() - resources.index().missing([*grades])):
            judged.append((topics[topic], resources.documents(ids), [grades[d] for d in ids]))
    if not judged:
        raise InputError("no judged document of these topics is in the collection.")
    return judged
