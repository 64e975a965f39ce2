"""Topics as two columns parted by a tab: id and query. A header (`qid query`) is passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.jsonlines import check_id
from irplatform.collections.topics.record import ID_NAMES, TEXTS, TopicRecord, plain_name
from irplatform.console import notice_once
from irplatform.errors import InputError, counted
from irplatform.text_files import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path) -> Iterator[TopicRecord]:
    """Yield topics with the field `query`."""
    for number, line in numbered_lines(path):
        columns = decoded(line, path, number).rstrip("\r\n").split("\t")
        if len(columns) != 2:
            raise InputError(
                f"{counted(len(columns), 'column')}. Every line needs two, parted by a tab: "
                "id query.",
                path=path,
                line=number,
            )
        if number == 1 and _is_header(*columns):
            notice_once(f"{path}: the first line is taken for a header: {', '.join(columns)}")
            continue
        check_id(columns[0], path, number)
        yield TopicRecord(columns[0], {"query": " ".join(columns[1].split())}, number)


def _is_header(first: str, second: str) -> bool:
    """Whether cells are the usual names of an id and a query."""
    texts = map(plain_name, (*TEXTS, "queries"))
    return plain_name(first) in ID_NAMES and plain_name(second) in texts
