"""The rules of a shared task, each with its source.

A rule that no source states is None. What a rule says is in its description, or in `FORMS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Day = date
Text = Annotated[str, StringConstraints(min_length=1)]
_Texts = Annotated[list[Text], Field(min_length=1)]
_Number = Annotated[int, Field(ge=1)]
Form = Literal["trec", "bioasq", "biogen-2024", "biogen-a", "biogen-b"]
FORMS: Mapping[str, str] = {
    "trec": "TREC: topic Q0 docid rank score tag",
    "bioasq": 'BioASQ: {"questions": [{"id", "documents", "snippets"}, …]}',
    "biogen-2024": 'BioGen: {"team_id", "run_name", "results": [{"topic_id", "answer", …}]}',
    "biogen-a": 'BioGen: a line {"metadata", "answer": […]} for each question',
    "biogen-b": 'BioGen: a line {"metadata", "responses": […]} for each topic',
}
"""Forms of submissions."""
Ranks = Literal["from 1", "in order", "dense"]
RANKS: Mapping[str, str] = {
    "from 1": "ranks begin at 1",
    "in order": "ranks rise from line to line",
    "dense": "ranks leave no number out and have none twice",
}
"""Rules of ranks, which hold in each topic."""
RANGES = re.compile(r"(?:[^\s{},]*\{\d+-\d+\}[^\s{},]*|\d+(?:-\d+)?)")
"""A range of ids, such as 1-75 or rag2026-{0-118}."""
_RANGE = re.compile(r"([^{}]*)\{(\d+)-(\d+)\}([^{}]*)")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class Table(BaseModel):
    """A table of a file of tasks: no other keys, no values of another kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Rules(Table):
    """Rules of a task; None where the task has no such rule.

    A description says the rule with its value.

    Attributes:
        form: the form of the submitted file.
        topics: the number of topics.
        topic_ids: their ids: ranges such as "1-75" or "rag2026-{0-118}", or a list.
        topic_pattern: a regular expression for the whole id of a topic.
        topic_format: the format of the file of topics, as collections name it.
        query: the template of a query.
        depth: the most results per topic.
        unlimited: of depth and runs, what the task does not limit.
        ranks: what holds for the ranks of a topic, of `RANKS`.
        tag: a regular expression for the whole run tag.
        documents: a regular expression for a whole document id.
        falling: scores may not rise from line to line.
        runs: the most runs of a group.
        measures: names of measures, the most important first.
        snippets: the most snippets per question.
        citations: the most citations per sentence.
        sentences: the most sentences per answer.
        words: the most words per answer.
        snapshots: names of the collection's snapshots; a submission has a run for each.
        metadata: `ir-metadata.yml` is a part of the submission.
        file: the submitted file's name, with `{tag}`, `{team}`, `{snapshot}`.
        deadline: the last day of submissions.
    """

    form: Form | None = None
    topics: _Number | None = None
    topic_ids: Text | _Texts | None = None
    topic_pattern: Text | None = None
    topic_format: Text | None = None
    query: Text | None = None
    depth: _Number | None = Field(None, description="at most {:,} results per topic")
    unlimited: Annotated[list[Literal["depth", "runs"]], Field(min_length=1)] | None = None
    ranks: Annotated[list[Ranks], Field(min_length=1)] | None = None
    tag: Text | None = None
    documents: Text | None = None
    falling: bool | None = Field(None, description="scores may not rise from line to line")
    runs: _Number | None = Field(None, description="at most {:,} of a group")
    measures: _Texts | None = None
    snippets: _Number | None = Field(None, description="at most {:,} per question")
    citations: _Number | None = Field(None, description="at most {:,} per sentence")
    sentences: _Number | None = Field(None, description="at most {:,} in an answer")
    words: _Number | None = Field(None, description="at most {:,} in an answer")
    snapshots: _Texts | None = None
    metadata: bool | None = Field(None, description="ir-metadata.yml is a part of the submission")
    file: Text | None = None
    deadline: Day | None = None


RULES = tuple(Rules.model_fields)
NO_RULES = Rules()


@dataclass(frozen=True)
class Source:
    """The source of a rule.

    Attributes:
        title: the title of the page, paper or program.
        place: its address.
        sentence: the sentence that states the rule.
    """

    title: str
    place: str
    sentence: str


@dataclass(frozen=True)
class Task:
    """A shared task.

    Attributes:
        name: the name that users give (`task`).
        title: the full name, with the year.
        rules: the rules.
        sources: name of a rule → its source; rules of users may have none.
        path: the file that declares the task.
        read: the day on which its sources were read; None if that is not known.
        edition: the year of the task; by default the one in its title.
    """

    name: str
    title: str
    rules: Rules = field(default_factory=Rules)
    sources: Mapping[str, Source] = field(default_factory=dict)
    path: Path | None = None
    read: Day | None = None
    edition: int | None = None

    @property
    def form(self) -> Form:
        """The form of a submission: TREC's unless another is given."""
        return self.rules.form or "trec"

    @property
    def topic_ids(self) -> tuple[str, ...]:
        """The ids of its topics; empty if the rules do not name them."""
        ids = self.rules.topic_ids or []
        if isinstance(ids, list):
            return tuple(ids)
        return tuple(name for part in ids.split(",") for name in _names(part))

    @property
    def year(self) -> int | None:
        """The year of its submissions; None if nothing says it."""
        if self.edition is not None:
            return self.edition
        years = _YEAR.findall(f"{self.name.replace('-', ' ')} {self.title}")
        return int(years[0]) if years else None

    def past(self, day: date) -> str:
        """Return what is over on a day, its deadline or its year, in words; "" if neither is."""
        deadline, year = self.rules.deadline, self.year
        if deadline is not None:
            return f"its deadline was {in_words(deadline)}" if deadline < day else ""
        return f"its year was {year}" if year is not None and year < day.year else ""


def _names(part: str) -> list[str]:
    """The ids of a range."""
    if match := _RANGE.fullmatch(part):
        before, first, last, after = match.groups()
    else:
        before, (first, _, last), after = "", part.partition("-"), ""
    return [f"{before}{number}{after}" for number in range(int(first), int(last or first) + 1)]


def today() -> date:
    """Return the day of today."""
    return date.today()


def in_words(day: date) -> str:
    """Return a day as text: 8 August 2026."""
    months = (
        *("January", "February", "March", "April", "May", "June", "July", "August"),
        *("September", "October", "November", "December"),
    )
    return f"{day.day} {months[day.month - 1]} {day.year}"
