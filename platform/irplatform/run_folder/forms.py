"""The forms of the JSON beside runs, each a model: what has another form is a line with its name.

Metadata are also those of other programs: their parts of another form are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from irplatform.errors import InputError
from irplatform.files.formats import JSONError, read_own_json

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
_Texts = dict[str, str]
_Object = dict[str, Any]


def read_form(path: Path, form: type[T], hint: str) -> T:
    """Read a JSON file of a form: a model, a dataclass or another type.

    Raises:
        InputError: it cannot be read, is damaged, or has another form; `hint` says what to do. A
            missing file is a FileNotFoundError or NotADirectoryError.
    """
    try:
        return TypeAdapter(form).validate_python(read_own_json(path))
    except JSONError as error:
        raise InputError(f"{error.message} {hint}", path=path, line=error.line) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        reason = first["msg"].partition(" or ")[0]
        fault = f"this has another form ({place}: {reason[0].lower()}{reason[1:]})."
        raise InputError(f"{fault} {hint}", path=path) from error
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InputError(f"this cannot be read: {error.strerror}.", path=path) from error


def _model(**parts: Any) -> Any:
    """A model of an object whose parts may be missing."""
    fields: Any = {name: (form, None) for name, form in parts.items()}
    return create_model("Part", **fields)


def _several(**parts: Any) -> Any:
    return list[_model(**parts)]  # type: ignore[misc]


_Runs = _several(run=str)
_Learned = _model(**{"from": _Runs})
_Steps = _several(retriever=str, reranker=str, options=_Object, fuses=_Runs, learned=_Learned)
_Call = _model(function=str, settings=_Object)
_Trained = _several(depends_on=_Object)
_Software = _model(python=str, lucene=str, libraries=_model(python=_Texts))
_Evaluation = _model(**{"baseline": list[str], "reported measures": list[str]})
_SECTIONS: dict[str, Any] = {
    "data": {
        **dict.fromkeys(("test collection", "training data"), dict[str, str | None]),
        "topics chosen": _model(asked=list[str]),
        "inputs": list[Any],
        "artifacts": _Texts,
    },
    "implementation": {"executable": _Texts, "source": _Object, "call": _Call},
    "method": {
        "settings": _Object,
        "retrieval": _Steps,
        "training": _Trained,
        "weights": list[str],
    },
    "platform": {"software": _Software},
    "research goal": {"evaluation": _Evaluation},
    "run": {"file": str, "sha256": str, "rankings": _Texts},
}
_Metadata: type[BaseModel] = _model(
    **{section: _model(**parts) for section, parts in _SECTIONS.items()}, timings=dict[str, float]
)
"""The parts of metadata that the platform reads."""
_KEYS = {*_Metadata.model_fields, "tag", "date", "actor", "resources", "schema version"}
"""Of ir_metadata."""


def known_parts(content: object) -> tuple[dict[str, Any], list[str]]:
    """Return metadata without the parts that have another form, and the names of these.

    Nothing is left of what has no key of metadata.

    >>> known_parts({"tag": "x", "method": {"retrieval": 3, "seed": 1}})
    ({'tag': 'x', 'method': {'seed': 1}}, ['method.retrieval'])
    """
    if not isinstance(content, dict):
        return {}, []
    known = {k: dict(v) if isinstance(v, dict) else v for k, v in content.items()}
    odd: list[str] = []
    try:
        _Metadata.model_validate(content)
    except ValidationError as error:
        for section, *part in dict.fromkeys(each["loc"][:2] for each in error.errors()):
            holder, name = (known[section], part[0]) if part else (known, section)
            holder.pop(name)
            odd.append(".".join(map(str, (section, *part))))
    return (known if known.keys() & _KEYS else {}), odd
