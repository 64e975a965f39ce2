"""Transformers of PyTerrier as a reranker and a retriever of a run."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import import_module, metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.files.code_digests import source_digest
from irplatform.kit import quoted
from irplatform.plugin import (
    Documents,
    Field,
    InputError,
    Options,
    Ranking,
    Reads,
    Reranker,
    Retriever,
    Run,
    Topic,
    Traits,
)
from irplatform.registry.plugin_calls import plugin_call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec

    from pandas import DataFrame

    from irplatform.plugin import Resources

_TERRIER = re.compile(r"py-?terrier|python-terrier", re.IGNORECASE)
"""Names of the distributions whose versions count."""


class TransformerOptions(Options):
    """Options of a transformer that is brought."""

    transformer: str = Field(
        "",
        description="the place of a PyTerrier transformer, or of a function or class that makes "
        "one: 'module:name', or 'folder/file.py:name'",
    )
    arguments: dict[str, Any] = Field(
        {}, description="keyword arguments of the function or class that makes it"
    )
    files: tuple[Path, ...] = Field(
        (),
        description="files and folders that the transformer reads, such as an index: results are "
        "computed anew when these change",
    )


class RerankerOptions(TransformerOptions):
    """Options of a transformer that reranks."""

    compares: bool = Field(
        False,
        description="the transformer compares the candidates of a topic, or leaves some out: it "
        "gets all of them at once, best of the first stage first, with falling scores",
    )


_CITATION = """\
Craig Macdonald, Nicola Tonellotto. Declarative Experimentation in Information Retrieval using \
PyTerrier. ICTIR 2020.
@inproceedings{pyterrier2020ictir,
  author = {Craig Macdonald and Nicola Tonellotto},
  title = {Declarative Experimentation in Information Retrieval using {PyTerrier}},
  booktitle = {Proceedings of ICTIR 2020},
  year = {2020}
}"""


class PyTerrierReranker(Reranker):
    """A transformer of PyTerrier that scores documents, named by the option `transformer`."""

    Options = RerankerOptions
    citation: ClassVar[str] = _CITATION
    options: RerankerOptions

    def traits(self) -> Traits:
        """PyTerrier; a transformer that compares may start from the first stage's order."""
        return Traits(packages=("pyterrier",), listwise=self.options.compares)

    def reads(self) -> Reads:
        """The transformer's code, and PyTerrier's versions."""
        return _reads(self.options)

    def prepare(self, resources: Resources) -> None:
        """Make the transformer."""
        del resources
        self._transformer = _Transformer.of(self.options)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        """Scores that do not depend on the other documents; all 0 where it compares them."""
        if self.options.compares:
            return [[0.0] * len(documents) for _, documents in batch]
        zeros = {topic.id: [0.0] * len(documents) for topic, documents in batch}
        scores = self._transformer.scores(batch, zeros)
        for topic, documents in batch:
            for doc_id in documents.ids:
                if (topic.id, doc_id) not in scores:
                    raise InputError(
                        f"the transformer '{self.options.transformer}' returns no score for "
                        f"document {doc_id} of topic {topic.id}. If it cuts or compares rankings, "
                        f"say {Options.spelled({'pyterrier.compares': True})}."
                    )
        return [
            [scores[topic.id, doc_id] for doc_id in documents.ids] for topic, documents in batch
        ]

    def rescore(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        """Scores of a transformer that compares; documents that it leaves out come last."""
        if not self.options.compares:
            return scores
        results = self._transformer.scores([(topic, documents)])
        floor = min(results.values(), default=0.0)
        return [
            results.get((topic.id, doc_id), floor - 1 - rank)
            for rank, doc_id in enumerate(documents.ids)
        ]


class PyTerrierRetriever(Retriever):
    """A transformer of PyTerrier that finds documents, named by the option `transformer`."""

    Options = TransformerOptions
    citation: ClassVar[str] = _CITATION
    options: TransformerOptions

    def traits(self) -> Traits:
        """PyTerrier."""
        return Traits(packages=("pyterrier",))

    def reads(self) -> Reads:
        """The transformer's code, and PyTerrier's versions."""
        return _reads(self.options)

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Search with the transformer; its index holds documents of the collection."""
        from irplatform_pyterrier.frames import queries_frame, run_of

        transformer = _Transformer.of(self.options)
        results = transformer(queries_frame(topics), "searching", "docno")
        run, contains = run_of(results, "pyterrier"), resources.index().contains
        for topic, ranking in run.rankings.items():
            if unknown := next((d for d in ranking.doc_ids if not contains(d)), None):
                raise InputError(
                    f"the transformer '{self.options.transformer}' found document {unknown} for "
                    f"topic {topic}, which is not in the collection: its index is of others."
                )
        nothing = Ranking.of((), ())
        return Run(run.name, {t.id: run.rankings.get(t.id, nothing).top(depth) for t in topics})


@dataclass(frozen=True)
class _Place:
    """Where a transformer is: a name in a module, or in a file that Python does not find."""

    module: str
    name: str
    file: Path | None
    importable: bool = False

    @classmethod
    def of(cls, options: TransformerOptions) -> _Place:
        place = options.transformer
        example = Options.spelled({"pyterrier.transformer": "my_rankers:mono_t5"})
        if not place:
            raise InputError(
                f"'pyterrier' needs a transformer: its option `transformer` ({example})."
            )
        module, colon, name = place.rpartition(":")
        if not colon or not module or not name.isidentifier():
            raise InputError(
                f"{quoted(place)} is not the place of a transformer; write 'module:name' or "
                f"'file.py:name', as in {example}."
            )
        if module.endswith(".py"):
            file = Path(module).expanduser()
            if not file.is_file():
                raise InputError("there is no such file.", path=file)
            return cls(file.stem, name, file)
        if (spec := _find_spec(module)) is not None:
            source = Path(spec.origin or "")
            return cls(module, name, source if source.is_file() else None, importable=True)
        file = Path(*module.split(".")).with_suffix(".py")
        if not file.is_file():
            raise InputError(
                f"there is no module '{module}': it is not installed, and there is no {file} here."
            )
        return cls(module, name, file)

    def load(self) -> Any:
        """The object of that name."""
        with plugin_call(f"'{self.module}:{self.name}'", "being imported", self.module):
            if self.importable or self.file is None:
                module = import_module(self.module)
            else:
                module = self._run(self.file)
            if not hasattr(module, self.name):
                place = self.file or self.module
                raise InputError(f"there is no '{self.name}' in {place}.")
            return getattr(module, self.name)

    def _run(self, file: Path) -> Any:
        spec = util.spec_from_file_location(self.module, file)
        if spec is None or spec.loader is None:
            raise InputError("this is not a file of Python.", path=file)
        module = util.module_from_spec(spec)
        sys.modules.setdefault(self.module, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module


def _find_spec(module: str) -> ModuleSpec | None:
    try:
        return util.find_spec(module)
    except (ImportError, ValueError):
        return None


@dataclass(frozen=True)
class _Transformer:
    """A transformer, and where it is from."""

    place: _Place
    transformer: Any

    @classmethod
    def of(cls, options: TransformerOptions) -> _Transformer:
        import pyterrier as pt

        place, arguments = _Place.of(options), options.arguments
        transformer = place.load()
        if not isinstance(transformer, pt.Transformer) and callable(transformer):
            with plugin_call(f"'{options.transformer}'", "making its transformer", place.module):
                transformer = transformer(**arguments)
        elif arguments:
            raise InputError(
                f"pyterrier.arguments has no effect: '{options.transformer}' is a transformer, "
                "not a function or class that makes one."
            )
        if not isinstance(transformer, pt.Transformer):
            raise InputError(
                f"'{options.transformer}' gives {type(transformer).__name__}, not a transformer of "
                "PyTerrier; `pt.apply` makes one of a function of rows or frames."
            )
        return cls(place, transformer)

    def __call__(self, frame: DataFrame, doing: str, *columns: str) -> DataFrame:
        """Transform a frame, and see that the result has some columns beside `qid`."""
        import pandas as pd

        name = f"{self.place.module}:{self.place.name}"
        with plugin_call(f"the transformer '{name}'", doing, self.place.module):
            results = self.transformer(frame)
        names = list(results.columns) if isinstance(results, pd.DataFrame) else type(results)
        if missing := [column for column in ("qid", *columns) if column not in names]:
            raise InputError(
                f"the transformer '{name}' returns no column '{missing[0]}': {names} is what it "
                "returns."
            )
        return results

    def scores(
        self,
        candidates: Sequence[tuple[Topic, Documents]],
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> dict[tuple[str, str], float]:
        """Topic and document to score, where the transformer returns one."""
        from irplatform_pyterrier.frames import candidates_frame

        results = self(candidates_frame(candidates, scores), "scoring", "docno", "score")
        rows = zip(results["qid"], results["docno"], results["score"], strict=True)
        return {(Run.id_text(t, "a qid"), Run.id_text(d, "a docno")): float(s) for t, d, s in rows}


def _reads(options: TransformerOptions) -> Reads:
    place = _Place.of(options)
    versions = {
        str(package.name): package.version
        for package in metadata.distributions()
        if package.name and _TERRIER.search(package.name)
    }
    code = {"source": source_digest(place.module)} if place.importable else {}
    files = (*options.files, *([place.file] if place.file else []))
    return Reads(files=files, more={**code, "versions": dict(sorted(versions.items()))})
