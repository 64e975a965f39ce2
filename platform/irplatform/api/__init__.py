"""What the command line calls and a notebook imports.

`run` takes a collection to scored runs; `train`, `tune`, `evaluate_runs`, `check_runs`,
`fuse_runs`, `write_bioasq_answers`, `agree_sources`, `search` and `index` do its parts on their
own, and `explain` says why a document stands where it does.
"""

from irplatform.console import waiting

with waiting("starting"):  # from a cold disk this takes seconds
    from irplatform.api.answering import write_bioasq_answers
    from irplatform.api.evaluating import agree_sources, check_runs, evaluate_runs
    from irplatform.api.explaining import explain
    from irplatform.api.fusing import fuse_runs
    from irplatform.api.running import run, train
    from irplatform.api.searching import index, search
    from irplatform.api.settings import RunSettings, TuneSettings
    from irplatform.api.tuning import tune

__all__ = [
    "RunSettings",
    "TuneSettings",
    "agree_sources",
    "check_runs",
    "evaluate_runs",
    "explain",
    "fuse_runs",
    "index",
    "run",
    "search",
    "train",
    "tune",
    "write_bioasq_answers",
]
