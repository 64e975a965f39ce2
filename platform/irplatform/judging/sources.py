"""Whose judgments count: people's, machines' where no person judged, or those of some sources.

Judgments of pools and files are gathered with their sources, and *chosen* in an order of
preference. For a document the first sources with a grade count. Among them a person's adjudication
goes before all others; where sources differ and nobody settled it, the lower median of their grades
counts.

A pool that is a sample of strata is scored by infNDCG and infAP. There a judged document stands for
others of its stratum, so documents that were not drawn count only if their whole stratum is judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from irplatform.data import fault
from irplatform.errors import InputError, counted, listing, quoted, unknown
from irplatform.evaluation.sampled import NOT_JUDGED
from irplatform.evaluation.sampled import Pool as SampledPool
from irplatform.experiment.arguments import as_path, as_paths
from irplatform.files.writing import atomic_write
from irplatform.judging.formats import read_any, write_doccano
from irplatform.judging.judgments import (
    ADJUDICATED,
    MACHINE,
    PERSON,
    Judgment,
    Source,
    current,
    write_judgments,
)
from irplatform.judging.pool_folder import BEFORE, EARLIER, FACTS, LINES, Pool, is_pool, read_pool
from irplatform.judging.store import FILE, stored_judgments
from irplatform.spelling import command, option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.experiment.arguments import AnyCollection, AnyPath, Paths

    Grades: TypeAlias = dict[str, dict[str, int]]

PEOPLE, PEOPLE_FIRST, MACHINES = "people", "people-first", "machines"
_NAMES = {PERSON: PEOPLE, MACHINE: MACHINES}

Form: TypeAlias = Literal["trec", "json", "doccano"]


@dataclass(frozen=True)
class Gathered:
    """Judgments of pools and files with their sources.

    Attributes:
        judgments: the current ones.
        pools: the pools among them.
        name: what names all in messages.
    """

    judgments: Sequence[Judgment]
    pools: Sequence[Pool] = ()
    name: str = ""

    @property
    def sample(self) -> Pool | None:
        """The pool that is a sample of strata, if one is."""
        return next((pool for pool in self.pools if pool.is_sample), None)


@dataclass(frozen=True)
class ChosenGrades:
    """A grade for each document, by the sources that count.

    Attributes:
        grades: topic to document to grade.
        machine: topic to the documents whose grade is a machine's.
        sampled: the pool of each topic, if it is a sample of strata; None if not.
        notes: whose judgments count, and what was left out, in sentences without a full stop.
        judges: the machines whose grades count.
    """

    grades: Grades
    machine: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sampled: Mapping[str, SampledPool] | None = None
    notes: tuple[str, ...] = ()
    judges: tuple[Source, ...] = ()


def gather(paths: Sequence[Path], by: Source | None = None) -> Gathered:
    """Read the judgments of pools and files.

    A pool has those that were made on its page, and of each `.jsonl` file in its folder.

    Args:
        paths: folders of pools, and files of any form, see `read_any`.
        by: whose judgments those are that name no source.

    Raises:
        InputError: one cannot be read, or two pools are samples.
    """
    judgments: list[Judgment] = []
    pools = [read_pool(path) for path in paths if is_pool(path)]
    if sum(pool.is_sample for pool in pools) > 1:
        raise InputError("two pools are samples, each with its own strata: give one of them.")
    for path in paths:
        pooled = is_pool(path)
        if pooled and (path / FILE).exists():
            judgments += stored_judgments(path)
        for file in sorted(path.glob("*.jsonl")) if pooled else [path]:
            judgments += read_any(file, by)
    return Gathered(current(judgments), pools, listing(map(str, paths)))


def choose(gathered: Gathered, sources: str | None = None) -> ChosenGrades:
    """Choose one grade for each document.

    Args:
        gathered: judgments with their sources.
        sources: "people", "people-first", "machines", or names of sources separated by commas, the
            first one first. None is people alone.

    Raises:
        InputError: there is no such source, or none of these judged anything.
    """
    ranks = _ranks(gathered, sources or PEOPLE)
    by_document: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in gathered.judgments:
        if judgment.grade is not None and judgment.source in ranks:
            by_document.setdefault((judgment.topic, judgment.document), []).append(judgment)
    if not by_document:
        candidates = {judgment.source for judgment in gathered.judgments}
        raise InputError(
            f"{gathered.name}: no grade by {sources or PEOPLE}; there are judgments of "
            f"{listing(source.short for source in sorted(candidates))}: {option('sources')} says "
            "whose count."
        )
    grades: Grades = {}
    machine: dict[str, set[str]] = {}
    unsettled = 0
    for (topic, document), judgments in by_document.items():
        counting = _counting(judgments, ranks)
        values = [judgment.grade or 0 for judgment in counting]
        grades.setdefault(topic, {})[document] = median_low(values)
        unsettled += len({*values}) > 1
        if all(judgment.source.kind == MACHINE for judgment in counting):
            machine.setdefault(topic, set()).add(document)
    of_machines = sum(map(len, machine.values()))
    judges = tuple(source for source in ranks if of_machines and source.kind == MACHINE)
    note = f"judgments: {counted(len(by_document), 'document')} by "
    note += listing(source.short for source in ranks if source.kind == PERSON or of_machines)
    notes = [note + f", {of_machines:,} of them by machines alone" * (of_machines > 0)]
    if sources is None and (passed := {j.source for j in gathered.judgments} - ranks.keys()):
        notes.append(
            f"left out: judgments of machines ({listing(source.short for source in sorted(passed))}"
            f"); {option('sources', PEOPLE_FIRST)} takes them where no person judged"
        )
    if unsettled:
        agree_command = command("agree", gathered.name.replace(",", ""))
        notes.append(
            f"sources differ about {counted(unsettled, 'document')} and nobody settled it: the "
            f"lower median of the grades counts ({agree_command} lists them)"
        )
    sampled = None
    if sample := gathered.sample:
        sampled = {topic: _sampled(sample, topic, grades.get(topic, {})) for topic in sample.topics}
        total = sum(int(pool.judged.sum()) for pool in sampled.values())
        if total < len(by_document):
            left_out = counted(len(by_document) - total, "judged document")
            notes.append(f"left out: {left_out} that the sample has not drawn")
    marked = {topic: frozenset(documents) for topic, documents in machine.items()}
    return ChosenGrades(grades, marked, sampled, tuple(notes), judges)


def write_qrels(
    judged: Paths,
    out: AnyPath,
    *,
    sources: str | None = None,
    form: Form = "trec",
    by: str | None = None,
    collection: AnyCollection | None = None,
) -> None:
    r"""Write the judgments of pools and files, by the sources that count.

    Args:
        judged: folders of pools, and files of judgments in any form.
        out: the file to write.
        sources: "people" (the default), "people-first", "machines", or names of sources.
        form: "trec" has a line for each document, with its stratum if the pool is a sample;
            "json" has every judgment with its source; "doccano" has examples to import there, with
            the texts of the `collection`; of a pool also those that are not judged.
        by: whose judgments those are that name no source: "person:NAME" or "machine:NAME:VERSION".
        collection: where the texts of "doccano" are.

    Raises:
        InputError: a file cannot be read or written, or nothing is judged by these sources.

    Examples:
        >>> from pathlib import Path
        >>> import irplatform as ir
        >>> Path("nist.txt").write_text("1 0 d7 2\n1 0 d9 0\n")
        18
        >>> ir.write_qrels("nist.txt", "nist.jsonl", form="json", by="person:nist")
        >>> ir.write_qrels("nist.jsonl", "qrels.txt")
        >>> Path("qrels.txt").read_text()
        '1 0 d7 2\n1 0 d9 0\n'
    """
    paths, path = as_paths(judged, "judged"), as_path(out, "out")
    if form not in get_args(Form):
        raise unknown("form", form, get_args(Form))
    if is_pool(path.parent) and path.name in (FACTS, LINES, EARLIER, FILE):
        raise InputError("this is a file of the pool itself; name another.", path=path)
    gathered = gather(paths, Source.parse(by) if by else None)
    if form == "json":
        ranks = _ranks(gathered, sources or f"{PEOPLE},{MACHINES}")
        write_judgments(path, (j for j in gathered.judgments if j.source in ranks))
    elif form == "trec":
        choice = choose(gathered, sources)
        for note in choice.notes:
            notice(note)
        with atomic_write(path) as file:
            file.writelines(_trec_lines(choice, gathered.sample, path))
    elif collection is None:
        raise InputError(f"doccano needs texts: name their collection, {option('collection')}.")
    else:
        graded: dict[str, dict[str, int | None]] = {}
        for pool in gathered.pools:
            for topic in pool.topics:
                graded.setdefault(topic, {}).update((i.document, None) for i in pool.items(topic))
        if gathered.judgments:
            for topic, grades in choose(gathered, sources).grades.items():
                graded.setdefault(topic, {}).update(grades)
        write_doccano(path, graded, collection)


def _trec_lines(choice: ChosenGrades, sample: Pool | None, path: Path) -> Iterator[str]:
    """The lines of qrels: topics in the order of the judgments or the pool, documents by id."""
    for topic, pool in (choice.sampled or {}).items():
        strata = {i.document: i.stratum for i in sample.pooled(topic)} if sample else {}
        for document, place in sorted(pool.positions.items()):
            yield f"{topic} 0 {document} {strata[document]} {pool.grades[place]}\n"
    for topic, grades in choice.grades.items() if choice.sampled is None else ():
        for name in (topic, *grades):
            if problem := fault(name):
                raise InputError(f"cannot be written: the id {quoted(name)} {problem}.", path=path)
        for document in sorted(grades):
            yield f"{topic} 0 {document} {grades[document]}\n"


def _ranks(gathered: Gathered, sources: str) -> dict[Source, int]:
    """The sources that count, with their ranks, the first one first."""
    if not gathered.judgments:
        raise InputError(f"{gathered.name}: nobody has judged yet.")
    candidates = sorted({judgment.source for judgment in gathered.judgments})
    ranks: dict[Source, int] = {}
    for rank, word in enumerate(sources.replace(PEOPLE_FIRST, f"{PEOPLE},{MACHINES}").split(",")):
        matches = [s for s in candidates if word in (_NAMES[s.kind], s.name, s.short, str(s))]
        if not matches and word not in _NAMES.values():
            choices = [PEOPLE, PEOPLE_FIRST, MACHINES, *(source.short for source in candidates)]
            raise unknown("source", word, choices)
        for source in matches:
            ranks.setdefault(source, rank)
    return ranks


def _counting(judgments: Sequence[Judgment], ranks: Mapping[Source, int]) -> Sequence[Judgment]:
    """The judgments of a document that count: of its first sources, or what settled them."""
    if len(judgments) == 1:
        return judgments
    first = min(ranks[judgment.source] for judgment in judgments)
    counting = [judgment for judgment in judgments if ranks[judgment.source] == first]
    settled = [judgment for judgment in counting if judgment.source.version == ADJUDICATED]
    return [max(settled, key=lambda judgment: judgment.time)] if settled else counting


def _sampled(pool: Pool, topic: str, grades: Mapping[str, int]) -> SampledPool:
    """The pool of a topic, with the grades that stand for their strata."""
    items = pool.pooled(topic)
    open_strata = {item.stratum for item in items if item.document not in grades}
    values = [
        max(grades[item.document], 0)
        if item.document in grades
        and (item.place or item.stratum == BEFORE or item.stratum not in open_strata)
        else NOT_JUDGED
        for item in items
    ]
    strata = np.unique([str(item.stratum) for item in items], return_inverse=True)[1]
    positions = {item.document: place for place, item in enumerate(items)}
    return SampledPool(positions, strata, np.array(values, dtype=np.int64))
