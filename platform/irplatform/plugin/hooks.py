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
    from irplatform.plugin.judges import Judge
    from irplatform.plugin.rerankers import Reranker
    from irplatform.plugin.retrievers import Retriever
    from irplatform.runs import Run

hookimpl = pluggy.HookimplMarker("irplatform")
hookspec = pluggy.HookspecMarker("irplatform")


class RegisterReranker(Protocol):
    """Registers a reranker under a name; keyword arguments replace defaults of its options.

    `system` is a class, or its place "my_package.ranker:Ranker", which is imported at first use.
    """

    def __call__(self, name: str, system: type[Reranker] | str, /, **defaults: object) -> None: ...


class RegisterFeatures(Protocol):
    """Registers a feature group under a name, as `RegisterReranker` does."""

    def __call__(
        self, name: str, system: type[FeatureGroup] | str, /, **defaults: object
    ) -> None: ...


class RegisterRetriever(Protocol):
    """Registers a retriever under a name, as `RegisterReranker` does."""

    def __call__(self, name: str, system: type[Retriever] | str, /, **defaults: object) -> None: ...


class RegisterCollection(Protocol):
    """Registers a collection under a name; `load` is called when the name is used."""

    def __call__(self, name: str, load: Callable[[], Collection], /, *, title: str) -> None: ...


class RegisterMeasure(Protocol):
    """Registers a measure; `compute(qrels, run)` returns the value of every topic of the qrels."""

    def __call__(
        self,
        name: str,
        compute: Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]],
        /,
    ) -> None: ...


class RegisterKnowledge(Protocol):
    """Registers a format of knowledge bases; `load` is called when files are added."""

    def __call__(self, name: str, load: Callable[[], Format], /) -> None: ...


class RegisterFile(Protocol):
    """Registers a TOML file: of results for `platform reproduce`, or of shared tasks."""

    def __call__(self, file: Path, /) -> None: ...


@dataclass(frozen=True)
class RunEvent:
    """The event of a life-cycle hook.

    Attributes:
        collection: the collection's id.
        systems: names of the retrievers, then of the rerankers.
        run_dir: the folder of the run files.
        results: per row of the report, measure name to value; empty at the start. Rows are
            retrievers, `fused`, and rerankers (the mean of their seeds).
        runs: names of the written runs, such as `delta-seed42-alone`, whose files `file`
            names. Empty at the start.
    """

    collection: str
    systems: tuple[str, ...]
    run_dir: Path
    results: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()

    def file(self, run: str) -> Path:
        """Return the file of a written run, which may be compressed (`.run.gz`)."""
        from irplatform.runs.names import other_form, run_file

        path = self.run_dir / run_file(run)
        return path if path.exists() else other_form(path)


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
    def register_judges(self, register: Judge.Register) -> None:
        """Register machines that judge: `register(name, class_or_place, **option_defaults)`."""

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
    def register_results(self, register: RegisterFile) -> None:
        """Register results to reproduce: `register(path_of_a_toml_file)`."""

    @hookspec
    def register_tasks(self, register: RegisterFile) -> None:
        """Register shared tasks: `register(path_of_a_toml_file)`."""

    @hookspec
    def register_commands(self, cli: click.Group) -> None:
        """Add commands to the `platform` command line."""

    @hookspec
    def run_started(self, event: RunEvent) -> None:
        """Called when a run begins, after its input has been checked."""

    @hookspec
    def run_finished(self, event: RunEvent) -> None:
        """Called when all runs of a command have been written and scored."""
