"""The JSON beside runs, read by its form: what has another form is a line with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from irplatform.errors import InputError
from irplatform.files.formats import JSONError, read_own_json

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


def read_form(path: Path, form: type[T], hint: str) -> T:
    """Read a JSON file of a form: a model, a dataclass or another type.

    Raises:
        InputError: it cannot be read, is damaged, or has another form; `hint` says what to do. A
            missing file is a FileNotFoundError or NotADirectoryError.
    """
    try:
        value = read_own_json(path)
    except JSONError as error:
        raise InputError(f"{error.message} {hint}", path=path, line=error.line) from error
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InputError(f"this cannot be read: {error.strerror}.", path=path) from error
    return of_form(value, TypeAdapter(form), hint, path)


def of_form(
    value: object, form: TypeAdapter[T], hint: str, path: Path, line: int | None = None
) -> T:
    """Return a value of a file in its form; InputError if it has another one."""
    try:
        return form.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        reason = first["msg"].removeprefix("Value error, ").partition(" or ")[0]
        fault = f"this has another form ({place}: {reason[0].lower()}{reason[1:]})."
        raise InputError(f"{fault} {hint}", path=path, line=line) from error
