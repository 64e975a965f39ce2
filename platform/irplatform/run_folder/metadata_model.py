"""What metadata say of a run: the sections of ir_metadata, each a model.

A part that is missing has an empty value. Parts that are not declared here are kept, too: those of
other programs, and those that nothing reads. What is written again has the keys of what was read,
in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

if TYPE_CHECKING:
    from pydantic.functional_validators import ModelWrapValidatorHandler


class Part(BaseModel):
    """A part of metadata; a field's key has a space for each underscore, if none is given."""

    model_config: ClassVar = ConfigDict(
        defer_build=True,  # most commands read none
        extra="allow",
        frozen=True,
        populate_by_name=True,
        alias_generator=lambda name: name.replace("_", " "),
    )
    _keys: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _remember_keys(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        part = handler(value)
        if isinstance(value, dict):
            fields = cls.model_fields
            aliases = {name: field.alias for name, field in fields.items()}
            part._keys = tuple(aliases.get(key) or key for key in value)
        return part

    def __bool__(self) -> bool:
        """Whether anything was said."""
        return bool(self._keys)

    def says(self, key: str) -> bool:
        """Return whether a part is there, perhaps empty."""
        return key in self._keys

    def having(self, **parts: Any) -> Self:
        """Return the same with other parts, by their keys."""
        return type(self).model_validate({**self.content(), **parts})

    def content(self) -> dict[str, Any]:
        """Return the part as JSON: what was said, in that order."""
        names = {field.alias or name: name for name, field in type(self).model_fields.items()}
        return {key: _plain(getattr(self, names.get(key, key))) for key in self._keys}


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.content()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


class Marks(Part):
    """The name of a collection, and fingerprints of its parts."""

    __pydantic_extra__: dict[str, str | None]
    name: str | None = None
    documents: str | None = None
    topics: str | None = None
    qrels: str | None = None


class ChosenTopics(Part):
    """The topics that were ranked, if not all: what was asked for, and how many of how many."""

    asked: list[str] = []
    ranked: Any = None
    of: Any = None


class Data(Part):
    """What was searched, learned from and read; `artifacts` are fingerprints by name."""

    test_collection: Marks = Field(default_factory=Marks.model_construct)
    training_data: Marks = Field(default_factory=Marks.model_construct)
    topics_chosen: ChosenTopics = Field(default_factory=ChosenTopics.model_construct)
    inputs: list[Any] = []
    artifacts: dict[str, str] = {}


class FusedRun(Part):
    """A run file that a step fuses."""

    run: str | None = None
    weight: Any = 1


class Learned(Part):
    """What a step learned from."""

    runs: list[FusedRun] = Field(default=[], alias="from")


class Step(Part):
    """A step of retrieval: a retriever, a reranker, a run file, or a fusion."""

    retriever: str | None = None
    reranker: str | None = None
    name: Any = None
    method: Any = None
    reranks: Any = None
    run: Any = None
    fusion: Any = None
    interpolates: Any = Field(default_factory=dict)
    options: dict[str, Any] = {}
    fuses: list[FusedRun] = []
    learned: Learned = Field(default_factory=Learned.model_construct)


class Training(Part):
    """How a reranker was trained."""

    depends_on: dict[str, Any] = Field(default={}, alias="depends_on")


class Method(Part):
    """How the run was made; `settings` decide its content."""

    retrieval: list[Step] = []
    training: list[Training] = []
    weights: list[str] = []
    settings: dict[str, Any] | None = None
    seed: Any = None
    device: Any = None
    model_threads: Any = Field(default=None, alias="model_threads")
    warnings: list[str] = []
    neural: Any = ()
    interpolation: Any = None
    shares: Any = ()
    candidates: Any = Field(default_factory=dict)
    first_stage: Any = None
    score_ties: Any = None


class Call(Part):
    """The function of `irplatform`, and the settings, that make the run again."""

    function: str | None = None
    settings: dict[str, Any] = {}


class Implementation(Part):
    """The program: how it was called, its version and its call."""

    executable: dict[str, str] = {}
    source: dict[str, Any] = {}
    call: Call = Field(default_factory=Call.model_construct)


class Libraries(Part):
    """Versions of libraries."""

    python: dict[str, str] = {}


class Software(Part):
    """Versions of software."""

    python: str | None = None
    lucene: str | None = None
    libraries: Libraries = Field(default_factory=Libraries.model_construct)


class Platform(Part):
    """The machine."""

    software: Software = Field(default_factory=Software.model_construct)


class EvaluationGoal(Part):
    """How the run is evaluated."""

    baseline: list[str] = []
    reported_measures: list[str] = []


class Goal(Part):
    """What the run is for."""

    evaluation: EvaluationGoal = Field(default_factory=EvaluationGoal.model_construct)


class RunFile(Part):
    """The run file: the SHA-256 of its lines, and a digest of each topic's ranking."""

    file: str | None = None
    sha256: str | None = None
    rankings: dict[str, str] = {}


class RunMetadata(Part):
    """The metadata of a run; `runs` are those of a folder, if it describes all of them."""

    schema_version: Any = None
    tag: Any = None
    date: Any = None
    actor: Any = None
    platform: Platform = Field(default_factory=Platform.model_construct)
    research_goal: Goal = Field(default_factory=Goal.model_construct)
    implementation: Implementation = Field(default_factory=Implementation.model_construct)
    data: Data = Field(default_factory=Data.model_construct)
    method: Method = Field(default_factory=Method.model_construct)
    timings: dict[str, float] = {}
    resources: Any = None
    run: RunFile = Field(default_factory=RunFile.model_construct)
    runs: list[RunFile] = []


NOTHING = RunMetadata.model_construct()
"""Metadata that say nothing; no validation is built for them."""


def known_parts(content: object) -> tuple[RunMetadata, list[str]]:
    """Return metadata without the parts that have another form, and the names of these.

    Nothing is left of what has no key of metadata.

    >>> known, odd = known_parts({"tag": "x", "method": {"retrieval": 3, "seed": 1}})
    >>> known.content(), odd
    ({'tag': 'x', 'method': {'seed': 1}}, ['method.retrieval'])
    """
    if not isinstance(content, dict) or not content:
        return NOTHING, []
    sections = {k: dict(v) if isinstance(v, dict) else v for k, v in content.items()}
    odd: list[str] = []
    try:
        RunMetadata.model_validate(content)
    except ValidationError as error:
        for section, *part in dict.fromkeys(item["loc"][:2] for item in error.errors()):
            within = isinstance(sections.get(section), dict)
            holder, name = (sections[section], part[0]) if within and part else (sections, section)
            if holder.pop(name, ...) is not ...:  # of a list, each entry may have another form
                odd.append(".".join(map(str, (section, *part) if within else (section,))))
    keys = {field.alias for field in RunMetadata.model_fields.values()}
    return (RunMetadata.model_validate(sections) if sections.keys() & keys else NOTHING), odd
