"""The functions of the command line, also for notebooks.

`run` takes a collection to scored runs. The others do parts of it, `explain` explains scores, and
`open_reranker` and `open_retriever` rank topics and documents of another program. `verify` and
`rerun` show that a run is what its metadata say, and `cite` prints what it used. `write_report`
puts a comparison into one HTML file.
"""

from irplatform.system.console import waiting

with waiting("starting"):  # takes seconds from a cold disk
    from irplatform.experiment.cite import cite
    from irplatform.experiment.compare import compare_runs
    from irplatform.experiment.evaluate import (
        agree_sources,
        check_runs,
        evaluate_runs,
        write_bioasq_answers,
    )
    from irplatform.experiment.explain import explain
    from irplatform.experiment.fuse import fuse_runs
    from irplatform.experiment.ready import open_reranker, open_retriever
    from irplatform.experiment.report import write_report
    from irplatform.experiment.rerun import rerun
    from irplatform.experiment.run import run, train
    from irplatform.experiment.search import index, search
    from irplatform.experiment.settings import RunSettings, TuneSettings
    from irplatform.experiment.verify import verify
    from irplatform.tuning.tune import tune

__all__ = [
    "RunSettings",
    "TuneSettings",
    "agree_sources",
    "check_runs",
    "cite",
    "compare_runs",
    "evaluate_runs",
    "explain",
    "fuse_runs",
    "index",
    "open_reranker",
    "open_retriever",
    "rerun",
    "run",
    "search",
    "train",
    "tune",
    "verify",
    "write_bioasq_answers",
    "write_report",
]
