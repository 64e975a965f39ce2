"""Facts that take long to find and are small: kept in the cache as JSON."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError
from irplatform.files.cache import artifact, is_built, kept_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

T = TypeVar("T")
_FACT = "fact.json"


def kept_fact(kind: str, label: str, depends_on: Mapping[str, Any], find: Callable[[], T]) -> T:
    """Return a fact from the cache; find and keep it if it is not there.

    A cache that cannot be written to only costs the time to find it again.

    Args:
        kind: the kind of the artifact; see `artifact` for this and the label.
        label: a readable beginning for its name.
        depends_on: all that the fact depends on.
        find: returns the fact, as JSON has it: tuples come back as lists.
    """
    looked = False
    facts: list[T] = []

    def build(folder: Path) -> None:
        nonlocal looked
        looked = True
        facts.append(find())
        _write(folder, facts[0])

    try:
        fact: T = kept_json(artifact(kind, label, depends_on, build).path / _FACT)
    except InputError:
        if looked and not facts:
            raise
        return facts[0] if facts else find()
    return fact


def keep_fact(kind: str, label: str, depends_on: Mapping[str, Any], fact: Any) -> None:
    """Keep a fact that was found without the cache, so that no other process had to wait.

    A cache that cannot be written to keeps nothing.
    """
    with suppress(InputError):
        artifact(kind, label, depends_on, lambda folder: _write(folder, fact))


def known_fact(kind: str, label: str, depends_on: Mapping[str, Any]) -> Any:
    """Return a fact from the cache; None if it is not there."""
    if not is_built(kind, label, depends_on):
        return None
    return kept_fact(kind, label, depends_on, lambda: None)


def _write(folder: Path, fact: Any) -> None:
    content = json.dumps(fact, ensure_ascii=False, default=dict)
    (folder / _FACT).write_bytes(content.encode(errors="surrogatepass"))
