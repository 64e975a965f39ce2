"""What a system of a plugin declares: its options, what it is made for, and what it reads.

Rerankers, retrievers and groups of features share this base. The platform calls the methods of an
instance in this order:

1. It makes the instance from its options and asks for `traits()` and `reads()`, before any work
   and as often as it likes. Nothing is prepared yet, so these two methods look at `self.options`
   only.
2. It calls `prepare(resources)` once (retrievers are given the resources with every call).
3. Where the system learns, it calls `fit` and then `save`, or `load` with a saved folder.
4. It asks for scores, rankings or features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from irplatform.options import Options as BaseOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import TextPair, Topic

Kind = Literal["reranker", "retriever", "feature group"]

FILLED = "knowledge bases"
"""Marks options of the type `KnowledgeBases`."""
KnowledgeBases = Annotated[tuple[str, ...] | None, FILLED]
"""The type of an option that names knowledge bases; None stands for all that are installed.

Where a run expands its queries, the platform replaces None by the knowledge bases of the run. The
same command then gives the same scores whatever else is installed. Results depend on the content
of the knowledge bases.
"""


@dataclass(frozen=True)
class NamedSystem:
    """Another system that options name, such as a group of features of a reranker.

    Attributes:
        kind: the kind of system.
        name: its registered name.
        settings: its options, where they are not the defaults.
        named_in: the option that names such systems.
        settings_in: the option that holds their settings by name.
    """

    kind: Kind
    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    named_in: str = "features"
    settings_in: str = "settings"


def named_systems(
    kind: Kind,
    names: Iterable[str],
    settings: Mapping[str, Mapping[str, object]],
    *,
    named_in: str = "features",
    settings_in: str = "settings",
) -> tuple[NamedSystem, ...]:
    """Several systems of one kind, with their settings by name; see `NamedSystem`."""
    return tuple(
        NamedSystem(kind, name, settings.get(name, {}), named_in, settings_in) for name in names
    )


@dataclass(frozen=True)
class PairsFile:
    """A file of pairs of texts that a reranker learns from.

    Attributes:
        path: the file.
        read: the pairs that are learned from. It is given the topics of `fit`, unseen ones
            included, and leaves out the pairs that belong to them.
    """

    path: Path
    read: Callable[[Sequence[Topic]], Iterable[TextPair]]


@dataclass(frozen=True)
class Reads:
    """All that a system reads besides documents, topics and options.

    The cache key of its results contains all of it: leave something out, and stale results are
    reused. The platform also checks that files exist, warns where a run evaluates on topics that
    were learned from, and asks the named systems in turn. Files that options of type `Path` name
    are in the cache key already, as are the code and version of the plugin.

    Attributes:
        files: files and folders.
        checkpoints: folders of the checkpoints whose scores it reads.
        pairs: pairs of texts that it learns from.
        systems: other systems that its options name.
        more: anything else, as JSON, such as the digest of a file or another plugin's version.
        check: called before a training, for a check that takes long, such as opening a model. It
            raises InputError.
    """

    files: tuple[Path, ...] = ()
    checkpoints: tuple[Path, ...] = ()
    pairs: PairsFile | None = None
    systems: tuple[NamedSystem, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    check: Callable[[], object] | None = None


@dataclass(frozen=True)
class Traits:
    """What a system is made for. Most systems keep all defaults.

    Attributes:
        packages: modules that it imports and the platform's core does not install, as
            `("torch",)`. Where one is missing, a command says so before it begins.
        expanded_queries: (reranker) made for expanded queries. Where all rerankers of a run are,
            and topics have a disease or a gene, `--expand` is on by default.
        weighs_first_stage: (reranker, group) it has the first stage's score among its features.
            Such a reranker is not mixed with the first stage again.
        listwise: (reranker) `rescore` starts from the order of its candidates, that of the first
            stage. Otherwise their order must not matter.
        learns_on_device: (reranker) training uses `resources.device`, so that on a GPU members
            are trained one after the other.
        pretraining: (reranker) what it learns from first by default: "mesh", for MeSH-term
            queries of collections with headings, or "".
        shares_pretraining: (reranker) a name under which variants of it share one pre-training.
        pretraining_options: (reranker) the options of its pre-training; None for its own.
            Pre-training reruns when they change, so reset options that do not affect it.
        on_device: (retriever) it computes on `resources.device`; rankings are cached per device.
        seeded: (retriever) rankings may depend on `resources.seed`; they are cached per seed.
        limits_dates: (retriever) it leaves out what a topic's field `published_before` excludes.
            Otherwise the platform does.
        remark: (retriever) a line under the table, where it does more than its name says.
        remembers_documents: (group that learns) a document's judgments in other topics are meant
            to show. Otherwise the judgments of a fold's topics are hidden from the instance that
            computes their features.
    """

    packages: tuple[str, ...] = ()
    expanded_queries: bool = False
    weighs_first_stage: bool = False
    listwise: bool = False
    learns_on_device: bool = True
    pretraining: str = ""
    shares_pretraining: str = ""
    pretraining_options: BaseOptions | None = None
    on_device: bool = False
    seeded: bool = True
    limits_dates: bool = False
    remark: str = ""
    remembers_documents: bool = False


class Declared:
    """The base of rerankers, retrievers and groups of features.

    Attributes:
        Options: the class of its options.
        citation: the paper that it implements, with section: "Authors. Title. Where, year.", or
            BibTeX, perhaps after a text. `platform cite` prints it as BibTeX.
        options: the options of this instance.
    """

    Options: ClassVar[type[BaseOptions]] = BaseOptions
    citation: ClassVar[str] = ""

    def __init__(self, options: BaseOptions | None = None) -> None:
        self.options: BaseOptions = options if options is not None else type(self).Options()

    def traits(self) -> Traits:
        """What it is made for, with its options."""
        return Traits()

    def reads(self) -> Reads:
        """All that it reads besides documents, topics and options.

        Raises:
            InputError: its options do not fit together, or refer to something that does not exist.
        """
        return Reads()
