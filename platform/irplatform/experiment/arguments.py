"""Arguments of Python's functions: collections, paths, names and systems, and their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from irplatform.data import Collection
from irplatform.errors import InputError, quoted
from irplatform.plugin.rerankers import Reranker
from irplatform.plugin.retrievers import Retriever
from irplatform.registry.loading import registry
from irplatform.registry.session import register, register_system, registered_as
from irplatform.runs.in_memory import qrels_of
from irplatform.settings import flat
from irplatform.spelling import option

if TYPE_CHECKING:
    from irplatform.data import Qrels

Kind = TypeVar("Kind")
AnyPath: TypeAlias = Path | str
Names: TypeAlias = Iterable[str] | str
Paths: TypeAlias = Iterable[AnyPath] | AnyPath
AnySystem: TypeAlias = str | Kind | type[Kind]
Systems: TypeAlias = AnySystem[Kind] | Iterable[AnySystem[Kind]] | Mapping[str, AnySystem[Kind]]
"""Names, classes or objects of systems; a mapping gives each a label."""
AnyCollection: TypeAlias = Path | str | Collection
Collections: TypeAlias = AnyCollection | Sequence[AnyCollection]
AnyQrels: TypeAlias = Path | str | Mapping[str, Mapping[str, float]] | Any
"""A file of judgments, or topic to document to grade, a frame or records."""
FOLDER = "folder"
"""The attribute of reports that has the folder of their runs."""
OPENED_AS = "opened_as"
"""The attribute of a `Collection` that keeps the name that it was opened by."""


def as_names(value: Names, argument: str) -> tuple[str, ...]:
    """Return a list of names; one name stands for a list of one."""
    names = (value,) if isinstance(value, str) else value
    names = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{argument} is {quoted(value)}; it must be a name or a list of names.")
    return names


def as_systems(value: object, argument: str) -> tuple[str, ...]:
    """Return names of systems; classes and objects are registered in this session.

    Raises:
        InputError: one is no system of the kind, or two have one name.
    """
    kind = Reranker if argument.startswith("reranker") else Retriever
    one = isinstance(value, str | Path | type | kind) or not isinstance(value, Iterable)
    labelled = value.items() if isinstance(value, Mapping) else None
    systems = [value] if one else [*value] if labelled is None else []  # type: ignore[misc]
    pairs: list[tuple[str, object]] = (
        [*labelled] if labelled is not None else [("", s) for s in systems]
    )
    names: list[str] = []
    objects: dict[str, object] = {}
    for label, system in pairs:
        if isinstance(system, str | Path):
            name = str(system)
            names.append(f"{label}={name}" if label and label != name else name)
            continue
        if not issubclass(system if isinstance(system, type) else type(system), kind):
            raise InputError(
                f"{argument} has {quoted(system)}; it takes names, and classes or objects of "
                f"irplatform.{kind.__name__}."
            )
        name = label or registered_as(system)
        if objects.setdefault(name, system) is not system:
            raise InputError(
                f"two of the {argument} would be called '{name}': give each a name, as in "
                f"{argument}={{'first': …, 'second': …}}."
            )
        names.append(register_system(system, label))
    return tuple(names)


def collection(name: AnyPath) -> Collection:
    """Open a collection: its topics, judgments and documents.

    Args:
        name: a name, a path or an ir_datasets id.

    Raises:
        InputError: there is no such collection, or its files cannot be read.

    Examples:
        >>> import irplatform as ir
        >>> demo = ir.collection("demo")
        >>> len(demo.topics), demo.topics[0].query
        (20, 'breast cancer ERBB2 amplification')
    """
    opened = registry().collection(str(name))
    vars(opened)[OPENED_AS] = str(name)
    return opened


def as_retriever(value: object) -> str:
    """Return the name of one retriever; a class or an object is registered in this session.

    Raises:
        InputError: there are several, or it is none: a fused or judged first stage is not.
    """
    names = as_systems(value, "retriever")
    if len(names) != 1:
        raise InputError(f"{option('retriever')} takes one retriever, not {len(names)}.")
    registry().retriever(names[0])
    return names[0]


def collection_name(value: object) -> str:
    """Return the name of a collection; a `Collection` is registered under its id.

    One that `collection` opened keeps the name that it was opened by.
    """
    if not isinstance(value, Collection):
        return str(value)
    if name := vars(value).get(OPENED_AS):
        return str(name)
    register(value.id, value)
    return value.id


def as_path(value: object, argument: str) -> Path:
    """Return a path, also for a text; a report of runs stands for their folder."""
    if not isinstance(value, Path | str) and isinstance(folder := getattr(value, FOLDER, 0), Path):
        return folder
    if not isinstance(value, Path | str) or value == "":
        raise InputError(f"{argument} is {quoted(value)}; it must be a path.")
    return Path(value)


def as_qrels(value: AnyQrels | None) -> Path | Qrels | None:
    """Return the path of judgments, or judgments in memory by topic and document."""
    if isinstance(value, Path | str):
        return as_path(value, "qrels")
    return None if value is None else qrels_of(value)


def as_paths(value: Paths, argument: str) -> tuple[Path, ...]:
    """Return a list of paths; one path stands for a list of one."""
    paths = (value,) if isinstance(value, Path | str) or not isinstance(value, Iterable) else value
    return tuple(as_path(path, argument) for path in paths)


def settings_by_name(table: Mapping[str, object] | None) -> dict[str, object]:
    """Return options of systems by full names: `{"rm3": {"fb_terms": 20}}` is rm3.fb_terms."""
    if not isinstance(table or {}, Mapping):
        raise InputError(
            f"settings is {quoted(table)}; it must map options to values: {{'rm3.fb_terms': 20}}."
        )
    settings: dict[str, object] = {}
    for name, value in (table or {}).items():
        is_option = not isinstance(value, dict) or "." in name
        settings |= {name: value} if is_option else flat({name: value})
    return settings
