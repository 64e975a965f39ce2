"""A search-evaluation platform for biomedical literature: from a collection to a scored run.

    import irplatform as ir

    report = ir.run("demo", rerankers=["delta", MyReranker()])

Names are imported at first use, so that the package loads at once.
"""

from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import configure_libraries
from irplatform.system.packages import on_demand
from irplatform.version import __version__ as __version__

if TYPE_CHECKING:
    from irplatform.analysis.agree import agree_judges as agree_judges
    from irplatform.analysis.agree import agree_sources as agree_sources
    from irplatform.analysis.cite import cite as cite
    from irplatform.analysis.compare import compare as compare
    from irplatform.analysis.evaluate import evaluate as evaluate
    from irplatform.analysis.fuse import fuse_runs as fuse_runs
    from irplatform.analysis.pool import pool_runs as pool_runs
    from irplatform.analysis.report import write_report as write_report
    from irplatform.analysis.rerun import rerun as rerun
    from irplatform.analysis.verify import verify as verify
    from irplatform.data import Collection as Collection
    from irplatform.data import Corpus as Corpus
    from irplatform.data import Document as Document
    from irplatform.data import Documents as Documents
    from irplatform.data import Topic as Topic
    from irplatform.data import TrainingData as TrainingData
    from irplatform.errors import InputError as InputError
    from irplatform.errors import PlatformError as PlatformError
    from irplatform.experiment.arguments import collection as collection
    from irplatform.experiment.experiment_file import read_experiment as read_experiment
    from irplatform.experiment.run import run as run
    from irplatform.experiment.run import train as train
    from irplatform.experiment.run_settings import RunSettings as RunSettings
    from irplatform.judging.machines import judge_pool as judge_pool
    from irplatform.judging.pooling import next_batch as next_batch
    from irplatform.judging.sources import write_qrels as write_qrels
    from irplatform.planning.forecast import plan as plan
    from irplatform.planning.steps import Forecast as Forecast
    from irplatform.plugin import FeatureGroup as FeatureGroup
    from irplatform.plugin import Field as Field
    from irplatform.plugin import Judge as Judge
    from irplatform.plugin import Options as Options
    from irplatform.plugin import Reads as Reads
    from irplatform.plugin import Reranker as Reranker
    from irplatform.plugin import Resources as Resources
    from irplatform.plugin import Retriever as Retriever
    from irplatform.plugin import TrainableReranker as TrainableReranker
    from irplatform.plugin import Traits as Traits
    from irplatform.queries.explain import explain as explain
    from irplatform.queries.ready import reranker as reranker
    from irplatform.queries.ready import retriever as retriever
    from irplatform.queries.search import index as index
    from irplatform.queries.search import search as search
    from irplatform.registry.session import load_plugin as load_plugin
    from irplatform.registry.session import register as register
    from irplatform.runs import Ranking as Ranking
    from irplatform.runs import Run as Run
    from irplatform.runs import read_run as read_run
    from irplatform.runs import write_run as write_run
    from irplatform.tasks.bioasq import write_bioasq_answers as write_bioasq_answers
    from irplatform.tasks.submissions import check_runs as check_runs
    from irplatform.tasks.submissions import fix_run as fix_run
    from irplatform.tasks.upload import prepare_runs as prepare_runs
    from irplatform.tuning.settings import TuneSettings as TuneSettings
    from irplatform.tuning.tune import tune as tune

configure_libraries()
_load, __dir__, __all__ = on_demand(__name__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        return _load(name)
    from irplatform.system.console import waiting

    with waiting("starting"):  # takes seconds from a cold disk
        return _load(name)
