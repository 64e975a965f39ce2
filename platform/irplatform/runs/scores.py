"""The scores of a folder of runs, topic by topic: `scores.json` beside the run files.

It is what later comparisons need (of sources with each other, of runs of different days), so that
nothing has to be scored again. It names the systems of the command that wrote it and no others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from irplatform.errors import InputError
from irplatform.json_io import read_own_json
from irplatform.storage import atomic_write

FILE_NAME = "scores.json"
_HINT = "`platform run` writes it when it has scored its runs."


@dataclass(frozen=True)
class SystemScores:
    """The scores of one run.

    Attributes:
        means: measure name to the figure of the table.
        per_topic: measure name to topic id to value.
    """

    means: Mapping[str, float]
    per_topic: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Scores:
    """The scores of all runs of a command.

    Attributes:
        collection: the collection's id.
        measures: names, in the order of the table.
        systems: name of each run to its scores, in the order of the table; a reranker's own scores
            come after its final run, as NAME-alone.
    """

    collection: str
    measures: Sequence[str]
    systems: Mapping[str, SystemScores]


def write_scores(scores: Scores, folder: Path) -> None:
    """Write the scores of a folder's runs, whole or not at all.

    Raises:
        InputError: the folder cannot be written to.
    """
    content = orjson.dumps(scores, default=dict)  # the other mappings
    with atomic_write(folder / FILE_NAME, "wb") as file:
        file.write(content + b"\n")


def read_scores(folder: Path | str) -> Scores:
    """Read what `write_scores` wrote.

    Raises:
        InputError: the file is missing, or is something else.
    """
    path = Path(folder) / FILE_NAME
    try:
        content = read_own_json(path)
    except FileNotFoundError as error:
        if path.parent.is_dir():
            raise InputError(f"there is no {FILE_NAME} here. {_HINT}", path=path.parent) from error
        raise InputError("there is no such folder.", path=path.parent) from error
    except NotADirectoryError as error:
        raise InputError("this is a file; name the folder of runs.", path=path.parent) from error
    except OSError as error:
        raise InputError(f"this cannot be read: {error.strerror}.", path=path) from error
    try:
        return TypeAdapter(Scores).validate_python(content)
    except ValidationError as error:
        raise InputError(f"this does not hold the scores of runs. {_HINT}", path=path) from error
