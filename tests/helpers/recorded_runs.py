"""Small runs to record."""

from types import SimpleNamespace

from irplatform.data import Corpus
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.retrievers import RetrievedRun
from irplatform.runs import Ranking, Run
from irplatform.system.progress import Stopwatch

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}


class Empty(Corpus):
    name = "empty"
    fields = ()
    fingerprint = "0"

    def __iter__(self):
        return iter(())


RESOURCES = SimpleNamespace(
    stopwatch=Stopwatch(), artifacts={}, java_version="21", device="cpu", seed=1, model_threads=1
)


def a_run(name, first="a"):
    return Run(name, {"1": Ranking.of([first, "x"], [2.0, 1.0]), "2": Ranking.of(["c"], [1.0])})


REGISTRATION = SimpleNamespace(name="ranker")
CHOICE = SimpleNamespace(describe=dict, name="ranker", registration=REGISTRATION)
SYSTEM = SimpleNamespace(choice=CHOICE, description={}, fingerprint="f")


def found(recorder, *runs, fingerprint="one", depth=None, candidates=None):
    """Record what retrievers found, the first of which rerankers start from, and return it."""
    retrieved = [RetrievedRun(run, "mark", {"name": run.name}) for run in runs]
    first = runs[0] if runs else None
    per_topic = {t: ids.doc_ids[:candidates] for run in runs for t, ids in run.rankings.items()}
    result = Candidates((), retrieved, first, fingerprint, per_topic, depth)
    recorder.add_retrieved(result, RESOURCES)
    return result
