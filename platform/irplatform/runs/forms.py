"""The forms of the JSON beside runs: report.json, matrix.json, scores.json, metadata.

A file of another form is refused in a line that names it. Metadata are also those of other
programs: parts of another form are left out, and nothing is known of them.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from irplatform.errors import InputError
from irplatform.system.formats import JSONError, read_own_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

T = TypeVar("T")


def _name(path: str) -> str:
    if not (name := PurePath(path).name):
        raise ValueError("it names no file")
    return name


FileName = Annotated[str, AfterValidator(_name)]
"""The last part of a path, which was given from where the command was called."""


class _Open(BaseModel):
    """An object that may have other keys."""

    model_config = ConfigDict(extra="allow")


class _Seed(_Open):
    path: FileName


class ReportedRun(_Open):
    """A row of the last table, and the files that belong to it."""

    path: FileName
    name: str = ""
    measures: dict[str, float | None] = {}
    measures_alone: dict[str, float | None] | None = None
    interpolation: float | None = None
    seeds: list[_Seed] = []

    def files(self) -> Iterator[str]:
        """Yield the run files of all seeds, and of the reranker by itself."""
        for file in (self.path, *(seed.path for seed in self.seeds)):
            yield file
            if self.measures_alone is not None:
                yield f"{file.removesuffix('.run')}-alone.run"


class ReportFile(_Open):
    """`report.json`: the runs of the last table; `files` has the SHA-256 of all that it wrote."""

    runs: list[ReportedRun]
    files: dict[str, str] = {}


class MatrixCellFile(_Open):
    """A cell of `matrix.json`; its folder is named from where the command was called."""

    collection: str
    first_stage: str
    baseline: str
    folder: str
    runs: list[ReportedRun]
    ceiling: dict[str, float] = {}

    @model_validator(mode="after")
    def _has_its_baseline(self) -> Self:
        if self.baseline not in {run.name for run in self.runs}:
            raise ValueError("its baseline is not among its runs")
        return self


class MatrixFile(_Open):
    """`matrix.json`: the cells of several first stages or collections."""

    cells: list[MatrixCellFile]


def read_form(path: Path, form: type[T], hint: str) -> T:
    """Read a JSON file of a form.

    Args:
        path: the file.
        form: a model or dataclass.
        hint: what to do where the file is another one.

    Raises:
        InputError: it cannot be read, is damaged, or has another form. A missing file is a
            FileNotFoundError or NotADirectoryError.
    """
    try:
        content = read_own_json(path)
    except JSONError as error:
        raise InputError(f"{error.message} {hint}", path=path, line=error.line) from error
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InputError(f"this cannot be read: {error.strerror}.", path=path) from error
    try:
        return TypeAdapter(form).validate_python(content)
    except ValidationError as error:
        raise InputError(f"{_fault(error)} {hint}", path=path) from error


def _fault(error: ValidationError) -> str:
    """The first thing that has another form: "this has another form (runs: …)."."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"][:1].lower() + first["msg"][1:]
    return f"this has another form ({f'{place}: ' if place else ''}{message})."


_ABSENT: Any = None
"""The default of a part that metadata may lack; None in a file is another form."""


class _Collection(_Open):
    name: str
    documents: str | None = None
    texts: str | None = None
    topics: str | None = None
    qrels: str | None = None
    sampled_qrels: str | None = Field(None, alias="sampled qrels")


class _Part(_Open):
    asked: list[str] = []


class _Data(_Open):
    collection: _Collection = Field(_ABSENT, alias="test collection")
    training: _Collection = Field(_ABSENT, alias="training data")
    part: _Part = Field(_ABSENT, alias="topics chosen")
    inputs: list[Any] = []
    artifacts: dict[str, str] = {}


class _Source(_Open):
    version: str = ""
    commit: str | None = None
    digest: str | None = None


class _Executable(_Open):
    cmd: str = ""
    folder: str = Field("", alias="working directory")


class _Call(_Open):
    function: str = ""
    settings: dict[str, Any] = {}


class _Implementation(_Open):
    executable: _Executable = _ABSENT
    source: _Source = _ABSENT
    call: _Call = _ABSENT


class _Used(_Open):
    run: str


class _Learned(_Open):
    sources: list[_Used] = Field([], alias="from")


class _Step(_Open):
    retriever: str = ""
    reranker: str = ""
    options: dict[str, Any] = {}
    fuses: list[_Used] = []
    learned: _Learned = _ABSENT


class _Trained(_Open):
    depends_on: dict[str, Any] = {}


class _Method(_Open):
    settings: dict[str, Any] = {}
    retrieval: list[_Step] = []
    training: list[_Trained] = []
    weights: list[str] = []
    candidates: dict[str, Any] = {}


class _Libraries(_Open):
    python: dict[str, str] = {}


class _Software(_Open):
    python: str = ""
    lucene: str = ""
    libraries: _Libraries = _ABSENT


class _Platform(_Open):
    software: _Software = _ABSENT
    hardware: dict[str, Any] = {}


class _Evaluation(_Open):
    baseline: list[str] = []
    measures: list[str] = Field([], alias="reported measures")


class _Goal(_Open):
    evaluation: _Evaluation = _ABSENT


class _Run(_Open):
    file: str = ""
    sha256: str = ""
    rankings: dict[str, str] = {}


class Metadata(_Open):
    """The parts of a run's metadata that the platform reads."""

    data: _Data = _ABSENT
    implementation: _Implementation = _ABSENT
    method: _Method = _ABSENT
    platform: _Platform = _ABSENT
    goal: _Goal = Field(_ABSENT, alias="research goal")
    run: _Run = _ABSENT
    timings: dict[str, float] = {}


_KNOWN = {field.alias or name for name, field in Metadata.model_fields.items()}
_KNOWN |= {"tag", "date", "actor", "resources", "schema version"}
"""Keys of ir_metadata, one of which all metadata have."""


def known_parts(content: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return metadata without the parts that have another form, and the names of these.

    >>> known_parts({"tag": "x", "method": {"retrieval": 3, "seed": 1}})
    ({'tag': 'x', 'method': {'seed': 1}}, ['method.retrieval'])
    """
    try:
        Metadata.model_validate(content)
        return dict(content), []
    except ValidationError as error:
        places = dict.fromkeys(tuple(map(str, each["loc"][:2])) for each in error.errors())
    known = {k: dict(v) if isinstance(v, dict) else v for k, v in content.items()}
    for section, *part in places:
        (known.get(section, {}) if part else known).pop(part[0] if part else section, None)
    return known, [".".join(place) for place in places]


def is_metadata(content: object) -> bool:
    """Return whether a value has a section or key of metadata."""
    return isinstance(content, dict) and bool(content.keys() & _KNOWN)
