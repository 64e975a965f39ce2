"""The functions that `irplatform` offers to programs and notebooks, as `irplatform.run`.

`run` takes a collection to scored runs. The others do parts of it: `reranker` and `retriever` rank
topics and texts of another program, `compare` and `evaluate` take runs that exist, `register` adds
a reranker of one's own. `verify` and `rerun` show that a run is what its metadata say, and `cite`
prints what it used. `write_report` puts a comparison into one HTML file.
"""

from irplatform.system.console import waiting

with waiting("starting"):  # takes seconds from a cold disk
    from irplatform.experiment.cite import cite
    from irplatform.experiment.compare import compare
    from irplatform.experiment.evaluate import (
        agree_sources,
        check_runs,
        evaluate,
        write_bioasq_answers,
    )
    from irplatform.experiment.explain import explain
    from irplatform.experiment.fuse import fuse_runs
    from irplatform.experiment.opened import collection
    from irplatform.experiment.ready import reranker, retriever
    from irplatform.experiment.report import write_report
    from irplatform.experiment.rerun import rerun
    from irplatform.experiment.run import run, train
    from irplatform.experiment.search import index, search
    from irplatform.experiment.settings import RunSettings, TuneSettings, read_experiment
    from irplatform.experiment.verify import verify
    from irplatform.registry.session import load_plugin, register
    from irplatform.runs import read_run, write_run
    from irplatform.tuning.tune import tune

__all__ = [
    "RunSettings",
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
