"""Checks of TREC run files before submission.

Errors are what keeps a file from being read (`scan`) and what TREC's check scripts refuse: a wrong
second column, ranks that are not whole, a wrong run tag, unknown topics or topics without results,
too many results per topic. Warnings are tags that some tracks refuse, ranks that begin at 0 or fall
from line to line, and ranks that contradict the scores, by which trec_eval orders: release 10 by 64
bits, older ones by 32. That topics have fewer results than accepted is a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.files.reading import starts_with_mark
from irplatform.runs.bioasq import holds_json
from irplatform.runs.content import read_content
from irplatform.runs.json_runs import read_json_run
from irplatform.runs.names import TAG, TAG_LENGTH
from irplatform.runs.trec import COLUMNS, Problem, scan
from irplatform.spelling import option
from irplatform.tasks.catalogue.rules import NO_RULES

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Collection as Members

    from irplatform.runs.content import Content, Spans
    from irplatform.tasks.catalogue.rules import Rules

_SOME_REFUSE = re.compile(r"[.-]")
"""Characters of a tag that some tracks refuse."""
_SHOWN = 5
"""Topics that a message names."""
_VARYING = re.compile(r"'[^']*'|\b(line|ranks?) \d+( and \d+)?")
"""Parts that differ between messages of the same kind."""
_LINES_SHOWN = 3
_MARK = Problem(
    "error",
    "the file begins with a byte order mark, which other programs read as part of the first topic. "
    "Save it as UTF-8 without one.",
    1,
)


@dataclass(frozen=True)
class RunCheck:
    """The result of checking a run file.

    Attributes:
        problems: those of lines first; each once, with all its lines.
        topics: number of topics with results.
        results: least and most results of a topic.
        tag: the run tag of the first line.
        ties: by topic, the first and the last rank of each group of results with equal scores.
        tied: measures that these ties can move, in words.
        answers: the file has answers in JSON, not a run.
        nouns: what it has, and what each of these has.
        unread: the file is missing, or of a kind that cannot be read.
    """

    problems: Sequence[Problem]
    topics: int = 0
    results: tuple[int, int] = (0, 0)
    tag: str = ""
    ties: Mapping[str, Spans] = field(default_factory=dict)
    tied: tuple[str, ...] = ()
    answers: bool = False
    nouns: tuple[str, str] = ("topic", "result")
    unread: bool = False

    @property
    def counts(self) -> str:
        """The number of topics, and of the results of each, in words."""
        (least, most), (topic, result) = self.results, self.nouns
        results = counted(most, result)
        results = results if least == most else f"{least:,} to {results}"
        return f"{counted(self.topics, topic)}, {results} each"

    @property
    def refused(self) -> bool:
        """True if TREC would refuse the run."""
        return any(problem.level == "error" for problem in self.problems)


def validate_run(
    path: Path | str,
    rules: Rules = NO_RULES,
    *,
    topics: Members[str] | None = None,
    tag_length: int | None = None,
    has_document: Callable[[str], bool] | None = None,
) -> RunCheck:
    """Check a run file as TREC's submission checks do.

    Args:
        path: the file.
        rules: the task's; of the tag, the default is letters, digits, '-', '_' and '.'.
        topics: ids of the task's topics; others are errors, and so are those without results.
        tag_length: characters that the task accepts in a run tag; by default 20, or as its rule
            allows.
        has_document: says if the task's corpus has a document; called once per id.

    Raises:
        InputError: the file cannot be opened.
    """
    path = Path(path)
    if holds_json(path):
        return _of_json(path)
    tag_pattern = re.compile(rules.tag) if rules.tag else None
    id_pattern = re.compile(rules.documents) if rules.documents else None
    problems = [_MARK] if starts_with_mark(path) else []
    content = read_content(path, documents=has_document is not None, pattern=id_pattern)
    problems += content.unsound
    counts = content.counts
    if not counts and not problems:
        problems.append(Problem("error", f"there are no results in this file. {COLUMNS}"))
    for fault, lines in content.faults.items():
        problems.append(Problem("error", f"{fault}, in {counted(len(lines), 'line')}.", lines[0]))
    length = TAG_LENGTH if tag_length is None and tag_pattern is None else tag_length
    problems += _tag_problems(content.tags, length, tag_pattern)
    problems += _count_problems(counts, rules.depth)
    problems += _topic_problems(counts, topics)
    if topics is None and rules.topic_pattern is not None:
        problems += _form_problems(counts, rules.topic_pattern)
    if id_pattern is not None and content.strange:
        names = [f"'{name}' (line {line})" for name, line in content.strange.items()]
        fault = f"ids of documents that are not of the form {id_pattern.pattern}: {_sample(names)}."
        places = tuple(sorted(content.strange.values()))
        problems.append(Problem("error", fault, places[0], places))
    for topic, line in content.rising.items() if rules.falling else ():
        fault = f"topic '{topic}': the score is higher than that of the line before."
        problems.append(Problem("error", fault, line))
    problems += content.rank_problems
    problems += _ranks_refused(content, rules.ranks or [])
    faults = {"from 1": ("begin at 0", content.from_zero), "in order": ("fall", content.unordered)}
    for kind, (fault, topics_at) in faults.items():
        for topic, line in topics_at.items() if kind not in (rules.ranks or []) else ():
            message = (
                f"topic '{topic}': ranks {fault}; some tasks want 1, 2, 3, … from line to line."
            )
            problems.append(Problem("warning", message, line))
    if has_document is not None:
        problems += _document_problems(content.documents, has_document)
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    tag = next(iter(content.tags), "")
    return RunCheck(_together(problems), len(counts), (least, most), tag, content.ties)


def _ranks_refused(content: Content, kinds: Sequence[str]) -> Iterator[Problem]:
    """Yield errors about ranks of which the task has a rule."""
    for topic, (rank, line) in content.lowest.items() if "from 1" in kinds else ():
        fault = f"topic '{topic}': rank {rank} is the lowest; the task wants ranks from 1."
        yield Problem("error", fault, line)
    for topic, line in content.unordered.items() if "in order" in kinds else ():
        fault = f"topic '{topic}': the rank is lower than that of the line before."
        yield Problem("error", fault, line)
    for topic, (rank, line) in content.gaps.items() if "dense" in kinds else ():
        fault = f"topic '{topic}': rank {rank} does not follow the one before it by 1."
        yield Problem("error", fault, line)


def _form_problems(counts: Counter[str], pattern: str) -> Iterator[Problem]:
    form = re.compile(pattern)
    if strange := [topic for topic in counts if not form.fullmatch(topic)]:
        yield Problem(
            "error", f"ids of topics that are not of the form {pattern}: {_listing(strange)}."
        )


def _of_json(path: Path) -> RunCheck:
    """Refuse a file of JSON, as TREC does."""
    try:
        rankings = read_json_run(path).rankings
    except InputError as error:
        return RunCheck([Problem("error", error.message, error.line)])
    numbers = [*map(len, rankings.values())]
    fault = "this is a run in JSON; TREC takes lines, which `platform submit fix` writes."
    problems = [Problem("error", f"{fault} {COLUMNS}")]
    return RunCheck(problems, len(rankings), (min(numbers), max(numbers)))


def _together(problems: Sequence[Problem]) -> list[Problem]:
    """Merge problems of the same kind into one, with the lines of all."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kind = _VARYING.sub("", problem.message) if problem.line else problem.message
        groups.setdefault((problem.level, kind), []).append(problem)
    together = []
    for first, *others in groups.values():
        lines = tuple(problem.line for problem in (first, *others) if problem.line is not None)
        lines = first.lines or lines
        message = first.message
        if others:
            message += f" {len(lines):,} such lines: {_sample(map(str, lines), _LINES_SHOWN)}."
        together.append(replace(first, message=message, lines=lines))
    return together


def same_tags(paths: Sequence[Path]) -> dict[Path, Problem]:
    """Return warnings about runs with the tag of an earlier one, by path."""
    first: dict[str, Path] = {}
    warnings = {}
    for path in paths:
        tag = next((f.tag for f in scan(path) if not isinstance(f, Problem)), None)
        if tag is not None and first.setdefault(tag, path) != path:
            warnings[path] = Problem(
                "warning",
                f"the run tag '{tag}' is also that of {first[tag]}; tasks identify the runs of a "
                "group by their tags.",
            )
    return warnings


def _tag_problems(
    tags: dict[str, int], length: int | None, pattern: re.Pattern[str] | None
) -> Iterator[Problem]:
    for tag, line in tags.items():
        fault = ""
        if pattern is not None and not pattern.fullmatch(tag):
            fault = f"does not match {pattern.pattern}."
        elif pattern is None and not TAG.fullmatch(tag):
            fault = "has other characters than letters, digits, '-', '_', '.'."
        elif length is not None and len(tag) > length:
            fault = f"has {len(tag)} characters; {length} are accepted."
        if fault:
            yield Problem("error", f"the run tag '{tag}' {fault}", line)
        elif pattern is None and _SOME_REFUSE.search(tag):
            yield Problem(
                "warning",
                f"the run tag '{tag}' has a '-' or '.', which several tracks refuse. "
                f"{option('tag_pattern')} "
                "checks the rule of yours: '[A-Za-z0-9_]{1,12}'.",
                line,
            )
    if len(tags) > 1:
        second = list(tags)[1]
        yield Problem("error", f"a second run tag, '{second}'; a run has one.", tags[second])


def _count_problems(counts: Counter[str], limit: int | None) -> Iterator[Problem]:
    if limit is None:
        return
    of_all = f"of {counted(len(counts), 'topic')} have"
    accepted = f"than the {limit:,} results that are accepted"
    if many := [f"'{topic}' {count:,}" for topic, count in counts.items() if count > limit]:
        yield Problem("error", f"{len(many):,} {of_all} more {accepted}: {_sample(many)}.")
    if few := [f"'{topic}' {count:,}" for topic, count in counts.items() if count < limit]:
        yield Problem("note", f"{len(few):,} {of_all} fewer {accepted}: {_sample(few)}.")


def _topic_problems(counts: Counter[str], topics: Members[str] | None) -> Iterator[Problem]:
    if topics is None:
        return
    if strange := [topic for topic in counts if topic not in topics]:
        yield Problem("error", f"topics that the task does not have: {_listing(strange)}.")
    if missing := [topic for topic in topics if topic not in counts]:
        share = f"{len(missing):,} of {len(topics):,} topics"
        yield Problem("error", f"{share} have no results: {_listing(missing)}.")


def _document_problems(
    documents: dict[str, int], has_document: Callable[[str], bool]
) -> Iterator[Problem]:
    if strange := [document for document in documents if not has_document(document)]:
        share = f"{len(strange):,} of {len(documents):,} documents"
        fault = f"{share} are not in the collection: {_listing(strange)}."
        yield Problem("error", fault, documents[strange[0]])


def _listing(names: list[str]) -> str:
    return _sample(f"'{name}'" for name in names)


def _sample(names: Iterable[str], most: int = _SHOWN) -> str:
    """The first names, and the number of others."""
    all_names = list(names)
    more = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {more:,} more" if more > 0 else "")
