"""Errors about the value of an option, in the words of a user.

pydantic names the type that it wanted; these messages say what to write.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

from irplatform.errors import unstopped
from irplatform.option_types import is_choice, type_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel, ValidationError
    from pydantic.fields import FieldInfo

_SHOULD_BE = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "dict": "a table of settings",
}
"""By the beginning of pydantic's names of problems: `int_parsing`, `int_type`."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def first_problem(options: type[BaseModel], error: ValidationError) -> tuple[str, str]:
    """The first value that does not fit: the option's name, and what is wrong.

    Args:
        options: the class that refused the values.
        error: the error that it raised.
    """
    problem = error.errors()[0]
    path, declared = _declared(options, problem["loc"])
    place, kind = ".".join(path), problem["type"]
    if declared is not None:
        annotation: Any = declared.annotation
        length = kind in ("too_short", "too_long") or (
            kind == "missing" and isinstance(problem["loc"][-1], int)
        )
        # pydantic names every type that it tried, one after another, and each in the place
        if length or (is_choice(annotation) and len(problem["loc"]) > len(path)):
            return place, f"it takes: {type_in_words(annotation, declared.metadata)}"
        if kind == "model_type" and len(problem["loc"]) == len(path):
            return place, f"it is a table; set its parts, such as {place}{_first(annotation)}"
    return ".".join(map(str, problem["loc"])), _in_words(kind, problem["msg"], problem["input"])


def _in_words(kind: str, message: str, value: object) -> str:
    if kind in ("tuple_type", "list_type"):
        example = as_list(value)
        return f"write a list, as {example} (in a shell: '{example}')"
    expected, _, problem = kind.partition("_")
    if expected in _SHOULD_BE and problem in ("type", "parsing", "from_float"):
        return f"it should be {_SHOULD_BE[expected]}"
    return (
        unstopped(message).removeprefix("Value error, ").replace("Input should be", "it should be")
    )


def as_list(value: object) -> str:
    """How a list of what was given would be written: `a,b` is `["a", "b"]`."""
    items = [item.strip(" \"'[]") for item in str(value).split(",")]
    items = [item for item in items if item] or ["NAME"]
    numbers = all(map(_NUMBER.fullmatch, items))
    return f"[{', '.join(i if numbers else json.dumps(i, ensure_ascii=False) for i in items)}]"


def _declared(
    options: type[BaseModel], loc: Sequence[str | int]
) -> tuple[list[str], FieldInfo | None]:
    """The option that a place is in, and its declaration."""
    path: list[str] = []
    declared: FieldInfo | None = None
    inner: Any = options
    for key in loc:
        fields = getattr(inner, "model_fields", {})
        if key not in fields:
            break
        declared = fields[key]
        inner = _table(declared.annotation)
        path.append(str(key))
    return path, declared


def _table(annotation: Any) -> Any:
    """The table of a type such as `Table | None`, else the type."""
    tables = [member for member in get_args(annotation) if hasattr(member, "model_fields")]
    return tables[0] if is_choice(annotation) and len(tables) == 1 else annotation


def _first(options: Any) -> str:
    """The first option within a table, as ".epochs" or ".gene.weight"."""
    for name, declared in getattr(options, "model_fields", {}).items():
        return f".{name}{_first(declared.annotation)}"
    return ""
