"""A run that ranks by the model that judges it is told."""

import pytest

from irplatform.judging.judgments import Source
from irplatform.judging.shared_models import told_of_shared_models
from irplatform.run_folder.metadata_model import RunMetadata

JUDGE = Source("machine", "llm", "model:gpt-x prompt:12ab")


def metadata(**options):
    steps = [{"retriever": "bm25", "options": {"k1": 0.9}}, {"reranker": "r", "options": options}]
    return RunMetadata.model_validate({"method": {"retrieval": steps}})


@pytest.mark.parametrize(
    "options", [{"model": "gpt-x"}, {"model": "models/gpt-x"}, {"inner": {"model": "gpt-x"}}]
)
def test_the_model_of_a_judge_among_rankers_is_told(options):
    runs = {"bm25": metadata(), "ranked": metadata(**options)}
    assert told_of_shared_models([JUDGE], runs) == [
        "WARNING: the model of judge llm, gpt-x, also ranks in ranked: its judgments favour them"
    ]


@pytest.mark.parametrize("options", [{"model": "gpt"}, {"name": "gpt-x"}, {"model": None}, {}])
def test_another_model_is_not(options):
    assert told_of_shared_models([JUDGE], {"ranked": metadata(**options)}) == []
    assert told_of_shared_models([Source("machine", "own", "v1")], {"r": metadata(model="")}) == []
