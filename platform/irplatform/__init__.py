"""A search-evaluation platform for biomedical literature: from a collection to a scored run.

    import irplatform as ir

    report = ir.run("demo", rerankers=["delta", MyReranker()])

Names are imported at first use, so that the package loads at once.
"""

from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import configure_libraries
from irplatform.version import __version__ as __version__

if TYPE_CHECKING:
    from irplatform.analysis.agree import agree_sources
    from irplatform.analysis.cite import cite
    from irplatform.analysis.compare import compare
    from irplatform.analysis.evaluate import evaluate
    from irplatform.analysis.fuse import fuse_runs
    from irplatform.analysis.report import write_report
    from irplatform.analysis.rerun import rerun
    from irplatform.analysis.verify import verify
    from irplatform.data import Collection, Corpus, Document, Documents, Topic, TrainingData
    from irplatform.errors import InputError, PlatformError
    from irplatform.experiment.arguments import collection
    from irplatform.experiment.experiment_file import read_experiment
    from irplatform.experiment.run import run, train
    from irplatform.experiment.settings import RunSettings
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
    from irplatform.queries.explain import explain
    from irplatform.queries.ready import reranker, retriever
    from irplatform.queries.search import index, search
    from irplatform.registry.session import load_plugin, register
    from irplatform.runs import Ranking, Run, read_run, write_run
    from irplatform.tasks.bioasq import write_bioasq_answers
    from irplatform.tasks.submissions import check_runs, fix_run
    from irplatform.tasks.upload import prepare_runs
    from irplatform.tuning.settings import TuneSettings
    from irplatform.tuning.tune import tune

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
    "fix_run",
    "fuse_runs",
    "index",
    "load_plugin",
    "prepare_runs",
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
    "data": "Collection Corpus Document Documents Topic TrainingData",
    "errors": "InputError PlatformError",
    "analysis.agree": "agree_sources",
    "analysis.cite": "cite",
    "analysis.compare": "compare",
    "analysis.evaluate": "evaluate",
    "queries.explain": "explain",
    "analysis.fuse": "fuse_runs",
    "experiment.arguments": "collection",
    "queries.ready": "reranker retriever",
    "analysis.report": "write_report",
    "analysis.rerun": "rerun",
    "experiment.run": "run train",
    "queries.search": "index search",
    "experiment.experiment_file": "read_experiment",
    "experiment.settings": "RunSettings",
    "tasks.submissions": "check_runs fix_run",
    "tasks.bioasq": "write_bioasq_answers",
    "tasks.upload": "prepare_runs",
    "analysis.verify": "verify",
    "plugin": "FeatureGroup Field Options Reads Reranker Resources Retriever TrainableReranker "
    "Traits",
    "registry.session": "load_plugin register",
    "runs": "Ranking Run read_run write_run",
    "tuning.settings": "TuneSettings",
    "tuning.tune": "tune",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

configure_libraries()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from irplatform.system.console import waiting

    with waiting("starting"):  # takes seconds from a cold disk
        module = import_module(f"{__name__}.{_MODULES[name]}")
    globals()[name] = value = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
