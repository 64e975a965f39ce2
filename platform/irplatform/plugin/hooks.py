"""The hooks that a plugin implements, and the events of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import click

    from irplatform.data import Collection
    from irplatform.knowledge import Format
    from irplatform.plugin.features import FeatureGroup
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.runs import Run


hookimpl = pluggy.HookimplMarker("irplatform")


hookspec = pluggy.HookspecMarker("irplatform")


class RegisterReranker(Protocol):
    """Makes a reranker known by a name; keyword arguments replace defaults of its options.

    It is a class, or the place of one, "my_package.ranker:Ranker", which is imported at first use.
    """

    def __call__(self, name: str, system: type[Reranker] | str, /, **defaults: object) -> None: ...


class RegisterFeatures(Protocol):
    """Makes a group of features known by a name, as `RegisterReranker` does a reranker."""

    def __call__(
        self, name: str, system: type[FeatureGroup] | str, /, **defaults: object
    ) -> None: ...


class RegisterRetriever(Protocol):
    """Makes a retriever known by a name, as `RegisterReranker` does a reranker."""

    def __call__(self, name: str, system: type[Retriever] | str, /, **defaults: object) -> None: ...


class RegisterCollection(Protocol):
    """Makes a collection known by a name; `load` is called when the name is used."""

    def __call__(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None: ...


class RegisterMeasure(Protocol):
    """Makes a measure known by a name.

    `compute(qrels, run)` returns the value per topic, for every topic of the qrels.
    """

    def __call__(
        self,
        name: str,
        compute: Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]],
        /,
    ) -> None: ...


class RegisterKnowledge(Protocol):
    """Makes a format of knowledge bases known by a name; `load` is called when files are added."""

    def __call__(self, name: str, load: Callable[[], Format], /) -> None: ...


class RegisterResults(Protocol):
    """Makes the results in a TOML file known to `platform reproduce`."""

    def __call__(self, file: Path, /) -> None: ...


@dataclass(frozen=True)
class RunEvent:
    """What the life-cycle hooks are told.

    Attributes:
        collection: the collection's id.
        systems: names of the retrievers, then of the rerankers, that were asked for.
        run_dir: where runs are written.
        results: per row of the report, measure name to value; empty at the start. Rows are
            retrievers, what they make together (`fused`), and rerankers, the mean of their seeds.
        runs: names of the runs that were made, those of single seeds and without the first stage
            (`delta-seed42-alone`) too; each is the file `run_dir / f"{name}.run"`. Empty at the
            start.
    """

    collection: str
    systems: tuple[str, ...]
    run_dir: Path
    results: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


class Hooks:
    """The hook specifications. Implement any of them in a module, marked with `@hookimpl`."""

    @hookspec
    def register_rerankers(self, register: RegisterReranker) -> None:
        """Register rerankers: `register(name, class_or_place, **option_defaults)`."""

    @hookspec
    def register_features(self, register: RegisterFeatures) -> None:
        """Register groups of features: `register(name, class_or_place, **option_defaults)`."""

    @hookspec
    def register_retrievers(self, register: RegisterRetriever) -> None:
        """Register first-stage retrievers: `register(name, class_or_place, **option_defaults)`."""

    @hookspec
    def register_collections(self, register: RegisterCollection) -> None:
        """Register collections: `register(name, load, title=…)`."""

    @hookspec
    def register_measures(self, register: RegisterMeasure) -> None:
        """Register measures: `register(name, compute)`."""

    @hookspec
    def register_knowledge(self, register: RegisterKnowledge) -> None:
        """Register formats of knowledge bases: `register(name, load)`; `load()` returns one."""

    @hookspec
    def register_results(self, register: RegisterResults) -> None:
        """Register results to reproduce: `register(path_of_a_toml_file)`."""

    @hookspec
    def register_commands(self, cli: click.Group) -> None:
        """Add commands to the `platform` command line."""

    @hookspec
    def run_started(self, event: RunEvent) -> None:
        """Called when a run begins, after its input has been checked."""

    @hookspec
    def run_finished(self, event: RunEvent) -> None:
        """Called when all runs of a command have been written and scored."""
