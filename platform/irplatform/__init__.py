"""A search-evaluation platform for biomedical literature: from a collection to a scored run.

    import irplatform as ir

    report = ir.run("demo", rerankers=["delta", MyReranker()])

Names are imported at first use, so that the package loads at once.
"""

from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import configure_libraries

if TYPE_CHECKING:
    from irplatform.api import (
        RunSettings,
        TuneSettings,
        agree_sources,
        check_runs,
        cite,
        collection,
        compare,
        evaluate,
        explain,
        fuse_runs,
        index,
        load_plugin,
        read_experiment,
        read_run,
        register,
        reranker,
        rerun,
        retriever,
        run,
        search,
        train,
        tune,
        verify,
        write_bioasq_answers,
        write_report,
        write_run,
    )
    from irplatform.data import Collection, Corpus, Document, Documents, Topic, TrainingData
    from irplatform.errors import InputError, PlatformError
    from irplatform.plugin import (
        FeatureGroup,
        Field,
        Options,
        Reads,
        Reranker,
        Resources,
        Retriever,
        TrainableReranker,
        Traits,
    )
    from irplatform.runs import Ranking, Run

__version__ = "0.2.0"

__all__ = [
    "Collection",
    "Corpus",
    "Document",
    "Documents",
    "FeatureGroup",
    "Field",
    "InputError",
    "Options",
    "PlatformError",
    "Ranking",
    "Reads",
    "Reranker",
    "Resources",
    "Retriever",
    "Run",
    "RunSettings",
    "Topic",
    "TrainableReranker",
    "TrainingData",
    "Traits",
    "TuneSettings",
    "agree_sources",
    "check_runs",
    "cite",
    "collection",
    "compare",
    "evaluate",
    "explain",
    "fuse_runs",
    "index",
    "load_plugin",
    "read_experiment",
    "read_run",
    "register",
    "reranker",
    "rerun",
    "retriever",
    "run",
    "search",
    "train",
    "tune",
    "verify",
    "write_bioasq_answers",
    "write_report",
    "write_run",
]

_NAMES = {
    "irplatform.data": "Collection Corpus Document Documents Topic TrainingData",
    "irplatform.errors": "InputError PlatformError",
    "irplatform.plugin": "FeatureGroup Field Options Reads Reranker Resources Retriever "
    "TrainableReranker Traits",
    "irplatform.runs": "Ranking Run",
}
"""Names that are not in `irplatform.api`, by their modules."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

configure_libraries()


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES.get(name, "irplatform.api")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
