"""A recorder of runs."""

import pytest
from recorded_runs import QRELS, RESOURCES, SYSTEM, Empty, a_run, found

from irplatform.data import Collection
from irplatform.experiment.recorder import Recorder
from irplatform.plugin import Topic
from irplatform.reranking.results import RerankedRun


@pytest.fixture
def record(tmp_path):
    """Record runs of the first stage and of rerankers, as a command does."""

    def record(*names, rerankers=(), qrels=QRELS, first_stage="one", **options):
        collection = Collection(
            id="c",
            title="c",
            corpus=Empty(),
            load_topics=lambda: [Topic("1", "q"), Topic("2", "q")],
        )
        folder = tmp_path / "out"
        recorder = Recorder(collection, qrels, ["P@1"], {}, folder, None, "platform", **options)
        candidates = found(recorder, *map(a_run, names), fingerprint=first_stage)
        for name in rerankers:
            run = RerankedRun(a_run(f"{name}-alone", "b"), a_run(name), 0.5, [SYSTEM], RESOURCES)
            recorder.add_reranked(name, candidates, [run])
        recorder.report(candidates)
        return folder

    return record
