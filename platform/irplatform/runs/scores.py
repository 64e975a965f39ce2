"""The scores of a folder of runs, topic by topic: `scores.json` beside the run files.

It is what later comparisons need (of sources with each other, of runs of different days), so that
nothing has to be scored again. It names the systems of the command that wrote it and no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.errors import InputError
from irplatform.json_io import read_own_json
from irplatform.storage import atomic_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeGuard

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
    content = {
        "collection": scores.collection,
        "measures": list(scores.measures),
        "systems": {
            name: {"means": dict(system.means), "per_topic": _plain(system.per_topic)}
            for name, system in scores.systems.items()
        },
    }
    with atomic_write(folder / FILE_NAME, "wb") as file:
        file.write(orjson.dumps(content) + b"\n")


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
    if not _is_sound(content):
        raise InputError(f"this does not hold the scores of runs. {_HINT}", path=path)
    return Scores(
        content["collection"],
        content["measures"],
        {
            name: SystemScores(system["means"], system["per_topic"])
            for name, system in content["systems"].items()
        },
    )


def _plain(per_topic: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {measure: dict(values) for measure, values in per_topic.items()}


def _is_sound(content: Any) -> TypeGuard[dict[str, Any]]:
    """Whether JSON has the form that `write_scores` gives it."""
    if not (
        isinstance(content, dict)
        and isinstance(content.get("collection"), str)
        and isinstance(content.get("measures"), list)
        and isinstance(content.get("systems"), dict)
    ):
        return False
    return all(
        isinstance(system, dict)
        and _are_numbers(system.get("means"))
        and isinstance(system.get("per_topic"), dict)
        and all(map(_are_numbers, system["per_topic"].values()))
        for system in content["systems"].values()
    )


def _are_numbers(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values.values()
    )
