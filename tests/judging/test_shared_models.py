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
        "WARNING: the model of judge llm, gpt-x, or one that it was trained from also ranks in "
        "ranked: its judgments favour them"
    ]


@pytest.mark.parametrize("options", [{"model": "gpt"}, {"name": "gpt-x"}, {"model": None}, {}])
def test_another_model_is_not(options):
    assert told_of_shared_models([JUDGE], {"ranked": metadata(**options)}) == []
    assert told_of_shared_models([Source("machine", "own", "v1")], {"r": metadata(model="")}) == []


@pytest.mark.parametrize(
    ("version", "relatives"),
    [
        ("model:tuned of:0a1b2c3d4e5f,ffffffffffff", ["moved"]),
        ("model:tuned of:aaaaaaaaaaaa", ["trained"]),
        ("model:tuned of:ffffffffffff", []),
        ("of:hub/base", ["trained"]),
    ],
)
def test_models_are_known_by_their_files_and_by_those_that_they_were_trained_from(
    version, relatives
):
    inputs = [
        {"role": "cross-encoder.model", "path": "/m/moved", "sha256": "0a1b2c3d4e5f6789"},
        {"role": "checkpoint", "path": "/m/checkpoint", "sha256": "aaaaaaaaaaaa6789"},
        "of another program",
    ]  # of all runs that one command made
    trained = {"retrieval": [{"options": {"model": "hub/base"}}], "training": [{"members": 3}]}
    runs = {"bm25": metadata(), "moved": metadata(model="x/moved"), "trained": metadata()}
    runs["trained"] = runs["trained"].having(method=trained)
    runs = {name: run.having(data={"inputs": inputs}) for name, run in runs.items()}
    notes = told_of_shared_models([Source("machine", "ce", version)], runs)
    assert [name for name in runs if f"also ranks in {name}:" in " ".join(notes)] == relatives
