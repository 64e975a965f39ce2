"""Judgments of other programs, read as judgments with a source, and examples for doccano.

- Columns of TREC, as AutoJudge (`autojudge-base`) writes them, too, and all other forms that
  `irplatform.evaluation.qrels` reads.
- JSON lines of doccano (text classification): an example has labels, and beside them the topic and
  the document that it was imported with.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import Field, TypeAdapter

from irplatform.errors import InputError
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled import is_sampled, judged_documents, read_sampled_qrels
from irplatform.experiment.arguments import collection_name
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.files.formats import JSONError, parse_json
from irplatform.files.reading import numbered_lines
from irplatform.files.writing import atomic_write
from irplatform.judging.judgments import Judgment, Source, read_judgments
from irplatform.judging.pool_folder import is_pool
from irplatform.registry.loading import registry
from irplatform.run_folder.forms import of_form
from irplatform.runs.bioasq import holds_json
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.data import Qrels
    from irplatform.experiment.arguments import AnyCollection

CANNOT_TELL = "cannot tell"
"""The label of a document whose grade a person could not tell."""
_LABEL = re.compile(r"([+-]?[0-9]{1,6})(?![0-9.,])")
"""A label that is a grade or begins with one, such as "2: highly relevant"."""
_HINT = (
    "An example of doccano has a topic, a document and one label, which begins with the grade, as "
    f"'2' and '2: highly relevant' do, or is '{CANNOT_TELL}'."
)


@dataclass(frozen=True)
class _Example:
    topic: str
    document: str
    label: Annotated[list[str], Field(max_length=1)]
    Comments: tuple[str, ...] = ()


_EXAMPLE = TypeAdapter(_Example)


def names_sources(path: Path) -> bool:
    """Tell if a path is a pool, or a file of judgments with their sources."""
    return is_pool(path) or (path.is_file() and isinstance(_first_line(path).get("source"), dict))


def read_any(path: Path, by: Source | None = None) -> list[Judgment]:
    """Read judgments of any form; those of a file that names no source are `by` this one.

    Raises:
        InputError: the file cannot be read, nothing says whose judgments they are, a grade has
            decimals, or a source judges a document in two ways.
    """
    if names_sources(path):
        return read_judgments(path)
    if by is None:
        if not path.exists() or path.is_dir():
            raise InputError("this is no file of judgments and no pool.", path=path)
        raise InputError(
            f"nothing says whose judgments these are: add {option('by', 'person:NAME')} or "
            f"{option('by', 'machine:NAME:VERSION')}.",
            path=path,
        )
    if _first_line(path).keys() >= {"label", "text"}:
        return read_judgments(path, partial(_of_example, by=by))
    sampled = is_sampled(path)
    qrels = judged_documents(read_sampled_qrels(path)) if sampled else read_qrels(path)
    return judgments_by(by, qrels)


def judgments_by(source: Source, qrels: Qrels) -> list[Judgment]:
    """Return qrels as judgments of a source; InputError for a grade that is no whole number."""
    judgments = []
    for topic, grades in qrels.items():
        for document, grade in grades.items():
            if not float(grade).is_integer():
                raise InputError(
                    f"the grade {grade} of document '{document}' of topic '{topic}' is no whole "
                    "number, as those of judges are."
                )
            judgments.append(Judgment(topic, document, int(grade), source))
    return judgments


def write_doccano(
    path: Path, graded: Mapping[str, Mapping[str, int | None]], collection: AnyCollection
) -> None:
    """Write lines that doccano imports into a project of text classification.

    Args:
        path: the file.
        graded: topic to document to its grade; None for one that is not judged.
        collection: has the texts.
    """
    name = collection_name(collection)
    opened = registry().collection(name)
    resources = resources_for(RunSettings(name), opened)
    queries = {topic.id: topic.query for topic in opened.topics}
    with atomic_write(path, "wb") as file:
        for topic, grades in graded.items():
            for document in resources.documents([*grades]):
                grade = grades[document.id]
                example = {
                    "text": "\n\n".join(filter(None, (document.title, document.abstract))),
                    "label": [] if grade is None else [str(grade)],
                    "topic": topic,
                    "query": queries.get(topic, ""),
                    "document": document.id,
                }
                file.write(orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE))


def _first_line(path: Path) -> dict[str, Any]:
    """The object in the first line of a file; empty if it has none."""
    with suppress(JSONError):
        if holds_json(path):
            _, line = next(numbered_lines(path))
            if isinstance(record := parse_json(line), dict):
                return record
    return {}


def _of_example(record: Any, path: Path, line: int, *, by: Source) -> Judgment | None:
    """The judgment of an example of doccano; None without a label."""
    example = of_form(record, _EXAMPLE, _HINT, path, line)
    if not example.label:
        return None
    grade, (label,) = None, example.label
    if match := _LABEL.match(label):
        grade = int(match[1])
    elif label.strip().lower() != CANNOT_TELL:
        raise InputError(f"the label '{label}' is no grade. {_HINT}", path=path, line=line)
    note = "; ".join(example.Comments)
    return Judgment(example.topic, example.document, grade, by, note=note)
