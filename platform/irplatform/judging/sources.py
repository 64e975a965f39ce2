"""Whose judgments count: people's, machines' where no person judged, or those of some sources.

Judgments of pools and files are gathered with their sources, and *chosen* in an order of
preference. For a document the first group of sources with a grade counts. Within it a person's
adjudication goes before all others; where sources differ and nobody settled it, the lower median of
their grades counts.

A pool that is a sample of strata is scored by infNDCG and infAP. There a judged document stands for
others of its stratum, so documents that were not drawn count only if their whole stratum is judged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median_low
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from irplatform.data import fault
from irplatform.errors import InputError, counted, enumeration, listing, quoted, unknown
from irplatform.evaluation.sampled import NOT_JUDGED
from irplatform.evaluation.sampled import Pool as SampledPool
from irplatform.experiment.arguments import as_path, as_paths, collection_name
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.files.writing import atomic_write
from irplatform.judging.formats import has_sources, read_any, write_doccano
from irplatform.judging.judgments import (
    ADJUDICATED,
    MACHINE,
    PERSON,
    Judgment,
    Source,
    current,
    write_judgments,
)
from irplatform.judging.pool_folder import BEFORE, Pool, is_pool, read_pool
from irplatform.judging.store import FILE, stored_judgments
from irplatform.registry.loading import registry
from irplatform.spelling import command, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Document
    from irplatform.experiment.arguments import AnyCollection, AnyPath, Paths

    Grades: TypeAlias = dict[str, dict[str, int]]

PEOPLE, PEOPLE_FIRST, MACHINES = "people", "people-first", "machines"
CHOICES = (PEOPLE, PEOPLE_FIRST, MACHINES)
_GROUPS: Mapping[str, tuple[str, ...]] = {
    PEOPLE: (PERSON,),
    MACHINES: (MACHINE,),
    PEOPLE_FIRST: (PERSON, MACHINE),
}
_NAMES = {PERSON: "people", MACHINE: "machines"}


Form: TypeAlias = Literal["trec", "json", "doccano"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class Written:
    """A file of judgments: its path, the number of its lines, and what is to say about them."""

    path: Path
    lines: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gathered:
    """Judgments of pools and files with their sources.

    Attributes:
        judgments: the current ones.
        pool: the pool that is a sample of strata, if one is.
        name: what names them in messages.
    """

    judgments: Sequence[Judgment]
    pool: Pool | None = None
    name: str = ""


@dataclass(frozen=True)
class Chosen:
    """A grade for each document, by the sources that count.

    Attributes:
        grades: topic to document to grade.
        machine: topic to the documents whose grade is a machine's.
        sampled: the pool of each topic, if it is a sample of strata; None if not.
        strata: topic to document to the number of its stratum there.
        notes: whose judgments count, and what was left out, in sentences without a full stop.
        judges: the machines whose grades count.
    """

    grades: Grades
    machine: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sampled: Mapping[str, SampledPool] | None = None
    strata: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judges: tuple[Source, ...] = ()


def names_sources(path: Path) -> bool:
    """Tell if a path is a pool, or a file of judgments with their sources."""
    return is_pool(path) or (path.is_file() and has_sources(path))


def gather(
    paths: Sequence[Path], by: Source | None = None, thresholds: Sequence[float] = ()
) -> Gathered:
    """Read the judgments of pools and files.

    A pool has those that were made on its page, and of each `.jsonl` file in its folder.

    Args:
        paths: folders of pools, and files of any form, see `read_any`.
        by: whose judgments those are that name no source.
        thresholds: where numbers with decimals become grades.

    Raises:
        InputError: one cannot be read, or two pools are samples.
    """
    judgments: list[Judgment] = []
    samples = []
    for path in paths:
        if not is_pool(path):
            judgments += read_any(path, by, thresholds)
            continue
        if (path / FILE).exists():
            judgments += stored_judgments(path)
        for file in sorted(path.glob("*.jsonl")):
            judgments += read_any(file, by, thresholds)
        if (pool := read_pool(path)).is_sample:
            samples.append(pool)
    if len(samples) > 1:
        raise InputError("two pools are samples, each with its own strata: give one of them.")
    named = listing(map(str, paths))
    return Gathered(current(judgments), samples[0] if samples else None, named)


def choose(gathered: Gathered, sources: str | None = None) -> Chosen:
    """Choose one grade for each document.

    Args:
        gathered: judgments with their sources.
        sources: "people", "people-first", "machines", or names of sources separated by commas, the
            first one first. None is people alone.

    Raises:
        InputError: there is no such source, or none of these judged anything.
    """
    if not gathered.judgments:
        raise InputError(f"{gathered.name}: nobody has judged yet.")
    all_sources = sorted({judgment.source for judgment in gathered.judgments})
    groups = _groups(sources or PEOPLE, all_sources)
    ranks: dict[Source, int] = {}
    for rank, group in enumerate(groups):
        ranks = {**dict.fromkeys(sorted(group), rank), **ranks}
    given: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in gathered.judgments:
        if judgment.grade is not None and judgment.source in ranks:
            given.setdefault((judgment.topic, judgment.document), []).append(judgment)
    if not given:
        raise InputError(_nothing(gathered, sources, all_sources))
    grades: Grades = {}
    machine: dict[str, set[str]] = {}
    judges: set[Source] = set()
    by: Counter[str] = Counter()
    unsettled = 0
    for (topic, document), judged in given.items():
        first = min(ranks[judgment.source] for judgment in judged)
        counting = [judgment for judgment in judged if ranks[judgment.source] == first]
        grade, settled = _settled(counting)
        grades.setdefault(topic, {})[document] = grade
        unsettled += not settled
        kind = PERSON if any(j.source.kind == PERSON for j in counting) else MACHINE
        by[kind] += 1
        if kind == MACHINE:
            machine.setdefault(topic, set()).add(document)
            judges.update(judgment.source for judgment in counting)
    notes = _notes(gathered, ranks, by, unsettled, asked=sources is not None)
    by_machine = {topic: frozenset(documents) for topic, documents in machine.items()}
    if gathered.pool is None:
        return Chosen(grades, by_machine, notes=tuple(notes), judges=(*sorted(judges),))
    sampled, passed = _sampled(gathered.pool, grades)
    told = (*notes, *passed)
    return Chosen(grades, by_machine, sampled, gathered.pool.strata, told, (*sorted(judges),))


def write_qrels(
    judged: Paths,
    out: AnyPath,
    *,
    sources: str | None = None,
    form: Form = "trec",
    by: str | None = None,
    thresholds: Sequence[float] = (),
    collection: AnyCollection | None = None,
) -> Written:
    r"""Write the judgments of pools and files, by the sources that count.

    Args:
        judged: folders of pools, and files of judgments in any form.
        out: the file to write.
        sources: "people" (the default), "people-first", "machines", or names of sources.
        form: "trec" has a line for each document, with its stratum if the pool is a sample;
            "json" has every judgment with its source; "doccano" has examples to import there, with
            the texts of the `collection`; of a pool also those that are not judged.
        by: whose judgments those are that name no source: "person:NAME" or "machine:NAME:VERSION".
        thresholds: where numbers with decimals become grades 1, 2, ….
        collection: where the texts of "doccano" are.

    Raises:
        InputError: a file cannot be read or written, or nothing is judged by these sources.

    Examples:
        >>> from pathlib import Path
        >>> import irplatform as ir
        >>> Path("nist.txt").write_text("1 0 d7 2\n1 0 d9 0\n")
        18
        >>> ir.write_qrels("nist.txt", "nist.jsonl", form="json", by="person:nist").lines
        2
        >>> ir.write_qrels("nist.jsonl", "qrels.txt").notes
        ('judgments: 2 documents by people (nist)',)
    """
    paths, out = as_paths(judged, "judged"), as_path(out, "out")
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    if [*thresholds] != sorted({*thresholds}):
        raise InputError(f"{option('thresholds')} are ascending numbers.")
    gathered = gather(paths, Source.parse(by) if by else None, thresholds)
    if form == "json":
        kept = gathered.judgments
        if sources is not None:
            groups = _groups(sources, sorted({judgment.source for judgment in kept}))
            kept = [judgment for judgment in kept if any(judgment.source in g for g in groups)]
        write_judgments(out, kept)
        return Written(out, len(kept))
    if form == "doccano":
        if collection is None:
            raise InputError(f"doccano needs texts: name their collection, {option('collection')}.")
        grades = choose(gathered, sources).grades if gathered.judgments else {}
        count = write_doccano(out, [*_examples(paths, grades, collection)])
        return Written(out, count)
    chosen = choose(gathered, sources)
    return Written(out, _write(out, chosen), chosen.notes)


def _write(path: Path, chosen: Chosen) -> int:
    """Write TREC qrels: topics in the order of the judgments or the pool, documents by id."""
    lines = []
    if chosen.sampled is None:
        for topic, grades in chosen.grades.items():
            _refuse_ids([topic, *grades], path)
            lines += [f"{topic} 0 {document} {grades[document]}\n" for document in sorted(grades)]
    for topic, pool in (chosen.sampled or {}).items():
        strata = chosen.strata[topic]
        for document, at in sorted(pool.positions.items()):
            lines.append(f"{topic} 0 {document} {strata[document]} {pool.grades[at]}\n")
    with atomic_write(path) as file:
        file.writelines(lines)
    return len(lines)


def _examples(
    paths: Sequence[Path], grades: Grades, name: AnyCollection
) -> Iterator[tuple[str, str, Document, int | None]]:
    """Topic, query, document and grade of what is to be judged, or was."""
    listed = {topic: dict.fromkeys(own) for topic, own in grades.items()}
    for pool in (read_pool(path) for path in paths if is_pool(path)):
        for topic in pool.topics:
            documents = {item.document: None for item in pool.items(topic)}
            listed[topic] = {**documents, **listed.get(topic, {})}
    named = collection_name(name)
    collection = registry().collection(named)
    queries = {topic.id: topic.query for topic in collection.topics}
    resources = resources_for(RunSettings(named), collection)
    for topic, wanted in listed.items():
        for document in resources.documents([*wanted]):
            grade = grades.get(topic, {}).get(document.id)
            yield topic, queries.get(topic, ""), document, grade


def _refuse_ids(ids: Iterable[str], path: Path) -> None:
    for each in ids:
        if problem := fault(each):
            raise InputError(f"cannot be written: the id {quoted(each)} {problem}.", path=path)


def _groups(sources: str, known: Sequence[Source]) -> list[set[Source]]:
    """The sources that count, in groups, the first one first."""
    groups = []
    for word in sources.split(","):
        groups += [{s for s in known if s.kind == kind} for kind in _GROUPS.get(word, ())]
        if word not in _GROUPS:
            named = {source for source in known if word in (source.name, source.short, str(source))}
            if not named:
                raise unknown("source", word, [*CHOICES, *(source.short for source in known)])
            groups.append(named)
    return groups


def _settled(judgments: Sequence[Judgment]) -> tuple[int, bool]:
    """The grade that counts, and whether nobody differs or somebody decided."""
    if len(judgments) == 1:
        return judgments[0].grade or 0, True
    decided = [j for j in judgments if j.source.kind == PERSON and j.source.version == ADJUDICATED]
    if decided:
        latest = max(decided, key=lambda judgment: (judgment.time, judgment.source))
        return latest.grade or 0, True
    grades = [judgment.grade or 0 for judgment in judgments]
    return median_low(grades), len({*grades}) == 1


def _sampled(pool: Pool, grades: Grades) -> tuple[dict[str, SampledPool], list[str]]:
    """The pools of topics with the grades that stand for their strata, and what does not count."""
    sampled = {}
    passed, outside = 0, sum(len(own) for topic, own in grades.items() if topic not in pool.strata)
    for topic in pool.topics:
        items, own = pool.pooled(topic), grades.get(topic, {})
        open_strata = {item.stratum for item in items if item.document not in own}
        values = []
        for item in items:
            counts = item.place or item.stratum == BEFORE or item.stratum not in open_strata
            judged = item.document in own
            passed += judged and not counts
            values.append(max(own[item.document], 0) if judged and counts else NOT_JUDGED)
        strata = np.unique([str(item.stratum) for item in items], return_inverse=True)[1]
        positions = {item.document: place for place, item in enumerate(items)}
        outside += len(own.keys() - positions.keys())
        sampled[topic] = SampledPool(positions, strata, np.array(values, dtype=np.int64))
    told = []
    if passed:
        told.append(
            f"left out: {counted(passed, 'document')} judged but not drawn, whose strata are not "
            "judged whole"
        )
    if outside:
        told.append(f"left out: {counted(outside, 'judged document')} outside the pool")
    return sampled, told


def _nothing(gathered: Gathered, sources: str | None, known: Sequence[Source]) -> str:
    """Why no judgment counts, and what to do."""
    named = enumeration([source.short for source in known])
    if all(judgment.grade is None for judgment in gathered.judgments):
        return f"{gathered.name}: {named} could not tell any grade."
    if sources is None:
        return (
            f"{gathered.name}: no person judged; these are judgments of {named}. "
            f"{option('sources', MACHINES)} uses them."
        )
    return f"{gathered.name}: {sources} judged nothing; these are judgments of {named}."


def _notes(
    gathered: Gathered,
    ranks: Mapping[Source, int],
    by: Counter[str],
    unsettled: int,
    *,
    asked: bool,
) -> list[str]:
    """Whose judgments count and what was left out."""
    told = []
    for kind, name in _NAMES.items():
        if by[kind]:
            sources = listing(source.short for source in ranks if source.kind == kind)
            told.append(f"{counted(by[kind], 'document')} by {name} ({sources})")
    notes = [f"judgments: {', '.join(told)}"]
    left = [
        j.source for j in gathered.judgments if j.source not in ranks and j.source.kind == MACHINE
    ]
    if left and not asked:
        named = listing(source.short for source in sorted({*left}))
        notes.append(
            f"left out: {counted(len(left), 'judgment')} of machines ({named}); "
            f"{option('sources', PEOPLE_FIRST)} takes them where no person judged"
        )
    if not any(judgment.source.kind == PERSON for judgment in gathered.judgments):
        notes.append("no person judged: nothing here says how good the machine is")
    if unsettled:
        notes.append(
            f"sources differ about {counted(unsettled, 'document')} and nobody settled it: the "
            f"lower median of the grades counts ({command('agree', gathered.name)} lists them)"
        )
    return notes
