"""The file of a new task: what its topics and a run show, and what the user knows of its rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.collections.topic_formats import FORMATS, read_topics
from irplatform.errors import InputError, listing
from irplatform.files.formats import toml_value
from irplatform.runs.bioasq import holds_json
from irplatform.runs.content import read_content
from irplatform.spelling import option
from irplatform.tasks.catalogue.files import rule_problem
from irplatform.tasks.catalogue.rules import RANKS, RULES, in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import date
    from pathlib import Path

QUESTIONS = {
    "title": "Full title of the task, with its year",
    "place": "Address of the page with its rules",
    "depth": "Most results per topic",
    "runs": "Most runs of a group",
    "tag": "Regular expression for run tags",
    "file": "Name of the file to send, with {tag} or {team}",
    "deadline": "Last day of submissions, as 2027-08-31",
}
"""What the files cannot show."""
_TRIED = ("bioasq", "trec-pm", "trec", "jsonl", "tsv")
"""Formats of topics, those that accept least first."""
_FEW = 3
"""Spellings of ids that a pattern lists."""
_MOST_IDS = 1000
"""Ids of topics that a file lists."""
_PARTS = re.compile(r"[0-9]+|[A-Za-z]+|[^0-9A-Za-z]")
_WORDS = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z]")
_NUMBERED = re.compile(r"([^\s{},]*?)(0|[1-9][0-9]*)([^\s{},0-9]*)")


def task_file(
    name: str,
    run: Path,
    topics: Path,
    answers: Mapping[str, Any],
    *,
    day: date,
    topic_format: str | None = None,
    query: str | None = None,
    dense: bool = False,
) -> str:
    """Return the TOML of a task.

    Args:
        name: its name.
        run: a run of its topics, which shows the form of the ids of documents.
        topics: its file of topics.
        answers: what the user knows, by the names of `QUESTIONS`.
        day: today; with a place of the rules, the day on which they were read.
        topic_format: the format of the topics; by default found.
        query: the template of queries; by default the format's.
        dense: ranks have to be 1, 2, 3, … from line to line.

    Raises:
        InputError: a file cannot be read, an answer is no value of its rule, or the run has topics
            that the file of topics lacks.
    """
    of_topics, ids = _topic_rules(topics, topic_format, query)
    of_run = _run_rules(run, ids)
    rules = {key: answers[key] for key in RULES if answers.get(key) is not None}
    rules |= {"ranks": [*RANKS]} if dense else {}
    for key, value in rules.items():
        if problem := rule_problem(key, value):
            raise InputError(f"'{key}' {problem}.")
    title, place = answers.get("title") or name, answers.get("place")
    lines = [f"# Made by `platform tasks new` on {in_words(day)}."]
    if place:
        lines += [f"read = {day.isoformat()}", "", "[sources.page]"]
        lines += [f"title = {toml_value(f'{title}, rules')}", f"place = {toml_value(place)}"]
    lines += ["", "[[task]]", f"name = {toml_value(name)}", f"title = {toml_value(title)}"]
    sentence = "Add the sentence that says it" if place else "Add the source and the sentence"
    lines += _entry(f"As you know it. {sentence}.", rules, 'source = "page"' if place else "")
    lines += _entry(f"As {topics.name} has it.", of_topics)
    lines += _entry(f"As {run.name} has it: compare with what the task says.", of_run)
    return "\n".join([*lines, ""])


def _entry(comment: str, rules: Mapping[str, Any], *head: str) -> list[str]:
    if not rules:
        return []
    values = [f"{key} = {_value(value)}" for key, value in rules.items()]
    return ["", f"# {comment}", "[[task.rules]]", *filter(None, head), *values]


def _value(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else toml_value(value)


def _topic_rules(
    path: Path, topic_format: str | None, query: str | None
) -> tuple[dict[str, Any], list[str]]:
    """The rules that a file of topics shows, and the ids of the topics."""
    name = topic_format or _format_of(path)
    if name not in FORMATS:
        raise InputError(f"'{name}' is no format of topics; formats are {', '.join(FORMATS)}.")
    template = query or FORMATS[name].default_query(
        {field for record in FORMATS[name].read(path) for field in record.fields}
    )
    ids = [topic.id for topic in read_topics(path, name, template)]
    rules: dict[str, Any] = {"topics": len(ids), "topic_ids": id_ranges(ids)}
    if rules["topic_ids"] is None:
        rules["topic_ids"] = ids if len(ids) <= _MOST_IDS else None
    if rules["topic_ids"] is None:
        rules = {"topics": len(ids), "topic_pattern": pattern_of(ids)}
    return {**rules, "topic_format": name, "query": template}, ids


def _format_of(path: Path) -> str:
    for name in _TRIED:
        try:
            if next(FORMATS[name].read(path), None) is not None:
                return name
        except InputError:
            continue
    raise InputError(
        f"the format of these topics is none of {', '.join(_TRIED)}. Name another with "
        f"{option('topic_format')}: {', '.join(FORMATS)}.",
        path=path,
    )


def _run_rules(path: Path, topics: Collection[str]) -> dict[str, Any]:
    if holds_json(path):
        raise InputError(
            "answers in JSON show no form of ids: name a run in TREC's form.", path=path
        )
    content = read_content(path, documents=True)
    if content.unsound:
        raise InputError(content.unsound[0].message, path=path, line=content.unsound[0].line)
    if strange := [topic for topic in content.counts if topic not in {*topics}]:
        raise InputError(
            f"this run has topics that the file of topics lacks: {listing(strange, 3)}.", path=path
        )
    return {"form": "trec", "documents": pattern_of(content.documents)}


def id_ranges(ids: Sequence[str]) -> str | None:
    """Return ids as ranges, such as "1-75" or "q{1-3}"; None if they are no numbers in a row.

    >>> id_ranges(["rag2026-0", "rag2026-1", "rag2026-2"])
    'rag2026-{0-2}'
    """
    matches = [_NUMBERED.fullmatch(name) for name in ids]
    around = {(match[1], match[3]) for match in matches if match}
    if None in matches or len(around) != 1:
        return None
    numbers = [int(match[2]) for match in matches if match]
    if sorted(numbers) != [*range(min(numbers), max(numbers) + 1)]:
        return None
    ((before, after),) = around
    span = f"{min(numbers)}-{max(numbers)}"
    return f"{before}{{{span}}}{after}" if before or after else span


def pattern_of(ids: Collection[str]) -> str:
    r"""Return a regular expression for ids of the same forms as these.

    >>> pattern_of(["NCT00001234", "NCT02332980"])
    'NCT[0-9]+'
    >>> pattern_of(["26088450", "AACR_2013-2446"])
    'AACR_[0-9]+\\-[0-9]+|[0-9]+'
    """
    for parts, word in ((_PARTS, _literal), (_WORDS, _class)):
        shapes = {"".join(map(word, parts.findall(name))) for name in ids}
        if len(shapes) <= _FEW:
            return "|".join(sorted(shapes))
    others = sorted({character for name in ids for character in name if not character.isalnum()})
    return f"[A-Za-z0-9{''.join(map(re.escape, others))}]+"


def _literal(part: str) -> str:
    return "[0-9]+" if part.isdecimal() else re.escape(part)


def _class(part: str) -> str:
    if not part.isalnum():
        return re.escape(part)
    kinds = (("a-z", str.islower), ("A-Z", str.isupper), ("0-9", str.isdecimal))
    return f"[{''.join(text for text, holds in kinds if any(map(holds, part)))}]+"
