"""The base of rerankers, retrievers and feature groups: options, traits, and what a system reads.

The platform makes an instance from its options, and calls its methods in this order:

1. `traits()` and `reads()`, before any work and perhaps often; they look at `self.options` only.
2. `prepare(resources)`, once (retrievers receive the resources with every call).
3. `fit` and `save`, or `load`, if the system learns.
4. The methods that return scores, rankings or features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence  # noqa: TC003 - pydantic reads
from dataclasses import field
from pathlib import Path  # noqa: TC003 - as above
from typing import Annotated, Any, ClassVar, Literal, TypeVar, dataclass_transform

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from irplatform.data import TextPair, Topic  # noqa: TC001 - as above
from irplatform.errors import InputError, quoted, unknown
from irplatform.options import Options as BaseOptions
from irplatform.options import first_problem

Declaration = TypeVar("Declaration")
Kind = Literal["reranker", "retriever", "feature group", "judge"]

FILLED = "knowledge bases"
"""Marks options of the type `KnowledgeBases`."""
KnowledgeBases = Annotated[tuple[str, ...] | None, FILLED]
"""The type of an option that names knowledge bases; None stands for all that are installed.

If a run expands its queries, None becomes the knowledge bases of the run: scores then do not depend
on what else is installed.
"""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def _declaration(kind: type[Declaration]) -> type[Declaration]:
    """A frozen dataclass whose values have the declared types; TypeError where it is made."""
    declaration: Any = dataclass(kind, frozen=True, config=ConfigDict(strict=True, extra="forbid"))
    check = declaration.__init__

    def __init__(self: Declaration, *arguments: object, **keywords: object) -> None:  # noqa: N807
        try:
            check(self, *arguments, **keywords)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"]))
            raise TypeError(
                f"{place} of {kind.__name__} is {quoted(problem['input'])}: {problem['msg']}"
            ) from None

    declaration.__init__ = __init__
    checked: type[Declaration] = declaration
    return checked


@_declaration
class NamedSystem:
    """Another system that options name, such as a group of features of a reranker.

    Attributes:
        settings: its options that differ from the defaults.
        named_in: the option that names such systems.
        settings_in: the option that holds their settings by name.
    """

    kind: Kind
    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    named_in: str = "features"
    settings_in: str = "settings"

    @classmethod
    def several(
        cls,
        kind: Kind,
        names: Iterable[str],
        settings: Mapping[str, Mapping[str, object]],
        *,
        named_in: str = "features",
        settings_in: str = "settings",
    ) -> tuple[NamedSystem, ...]:
        """Return several systems of one kind; `settings` has their options by name."""
        return tuple(
            cls(kind, name, settings.get(name, {}), named_in, settings_in) for name in names
        )


@_declaration
class PairsFile:
    """A file of pairs of texts that a reranker learns from.

    Attributes:
        path: the file.
        read: returns the pairs; it receives the topics of `fit`, unseen ones too, and leaves out
            the pairs about them.
    """

    path: Path
    read: Callable[[Sequence[Topic]], Iterable[TextPair]]


@_declaration
class Reads:
    """All that a system reads besides documents, topics and options.

    It is the cache key of results: missing fields mean that stale results are reused. Files that
    options of type `Path` name are in the key already, as are the plugin's code and version. The
    platform also checks that files exist, and warns about evaluation on learned topics.

    Attributes:
        files: files and folders.
        checkpoints: folders of the checkpoints whose scores it reads.
        pairs: pairs of texts that it learns from.
        systems: other systems that its options name.
        more: anything else, as JSON, such as another plugin's version.
        check: called before training, for a slow check such as opening a model; raises InputError.
    """

    files: tuple[Path, ...] = ()
    checkpoints: tuple[Path, ...] = ()
    pairs: PairsFile | None = None
    systems: tuple[NamedSystem, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    check: Callable[[], object] | None = None


@_declaration
class Traits:
    """The traits of a system. Most systems keep all defaults.

    Attributes:
        packages: modules that the core does not install, as `("torch",)`; if one is missing, a
            command says so before it begins.
        expanded_queries: (reranker) made for expanded queries. If all rerankers of a run are, and
            topics have a disease or a gene, queries are expanded by default (`expand`).
        weighs_first_stage: (reranker, group) the first stage's score is among its features. Such
            a reranker is not mixed with the first stage again.
        listwise: (reranker) `rescore` starts from the order of its candidates, that of the first
            stage. Otherwise their order must not matter.
        keeps_answers: (reranker) it keeps what was dear itself, such as a server's answers. Its
            scores are not cached, since some may have failed for now.
        learns_on_device: (reranker) training uses `resources.device`: members are trained one
            after the other on a GPU.
        pretraining: (reranker) "mesh" for pre-training on MeSH-term queries by default, or "".
        shares_pretraining: (reranker) a name under which variants of it share one pre-training.
        pretraining_options: (reranker) the options of its pre-training; None for its own. A change
            reruns pre-training, so reset options that do not affect it.
        on_device: (retriever) it computes on `resources.device`; rankings are cached per device.
        seeded: (retriever) rankings may depend on `resources.seed`; they are cached per seed.
        limits_dates: (retriever) it applies a topic's field `published_before` itself.
        remark: (retriever) a line under the table.
        remembers_documents: (trainable group) judgments of a document in other topics may show.
            Otherwise a fold's judgments are hidden from the instance that computes its features.
    """

    packages: tuple[str, ...] = ()
    expanded_queries: bool = False
    weighs_first_stage: bool = False
    listwise: bool = False
    keeps_answers: bool = False
    learns_on_device: bool = True
    pretraining: Literal["mesh", ""] = ""
    shares_pretraining: str = ""
    pretraining_options: BaseOptions | None = None
    on_device: bool = False
    seeded: bool = True
    limits_dates: bool = False
    remark: str = ""
    remembers_documents: bool = False


class Declared:
    """The base of rerankers, retrievers, groups of features and judges.

    It is made of its options, or of some of them by name: `MyRanker(size=3)`.

    Attributes:
        Options: the class of its options.
        citation: the paper that it implements, with section: "Authors. Title. Where, year.", or
            BibTeX, perhaps after a text. `platform cite` prints it as BibTeX.
    """

    Options: ClassVar[type[BaseOptions]] = BaseOptions
    citation: ClassVar[str] = ""

    def __init__(self, options: BaseOptions | None = None, **given: object) -> None:
        self.options: BaseOptions = (
            options if options is not None else _new_options(type(self), given)
        )

    def traits(self) -> Traits:
        """Return the traits with these options."""
        return Traits()

    def reads(self) -> Reads:
        """Return all that it reads besides documents, topics and options.

        Raise InputError if options do not fit together, or name something that does not exist.
        """
        return Reads()


def _new_options(system: type[Declared], values: Mapping[str, object]) -> BaseOptions:
    """Return the options of a system, some of which are given.

    Raises:
        InputError: there is no such option, or a value does not fit.
    """
    for name in values:
        if name not in system.Options.model_fields:
            raise unknown("option", name, system.Options.model_fields, of=system.__name__)
    try:
        return system.Options(**values)
    except ValidationError as error:
        option, wrong = first_problem(system.Options, error)
        raise InputError(f"option '{option}' of {system.__name__}: {wrong}.") from error
