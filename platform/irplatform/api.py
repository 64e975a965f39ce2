"""What the command line calls and a notebook imports.

`run` takes a collection to scored runs; `train`, `tune`, `evaluate_runs`, `compare_runs`,
`check_runs`, `fuse_runs`, `write_bioasq_answers`, `agree_sources`, `search` and `index` do its
parts on their own, and `explain` says why a document stands where it does. `open_reranker` and
`open_retriever` rank topics and documents of another program. `verify` and `rerun` show that a run
is what its metadata say, and `cite` prints what it used.
"""

from irplatform.system.console import waiting

with waiting("starting"):  # from a cold disk this takes seconds
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
]
