"""What a run is made of, as metadata of ours, of the head of a run file and of others tell it."""

import pytest

from irplatform.run_folder.metadata_model import Method, known_parts
from irplatform.run_folder.mixture import (
    Mixture,
    folds_told,
    mixture_of,
    no_weight_told,
    weights_told,
)

FIRST = [{"retriever": "bm25"}, {"retriever": "rm3"}, {"fusion": {"weights": [0.0, 1.0], "k": 5}}]
LAST = {"reranker": "drmm", "reranks": "fused"}


def of(*steps, **method):
    return mixture_of(Method.model_validate({"retrieval": [*steps], **method}))


def test_a_rerankers_run_has_a_share_of_its_first_stage():
    mixture = of(*FIRST, LAST, interpolation=0.35, weights=["a"])
    assert (mixture.first_stage, mixture.share, mixture.share_text) == ("fused", 0.35, "0.35")
    assert (mixture.folds, mixture.fused, mixture.has_no_weight) == (0, (), False)
    assert of(*FIRST, LAST, interpolation=1.0).has_no_weight
    assert of(*FIRST, LAST, interpolation=1).share_text == "1.00"


def test_a_share_that_is_not_1_does_not_look_like_1():
    assert Mixture("bm25", 0.999).share_text == "0.999"
    assert Mixture("bm25", 0.9999).share_text == "0.9999"
    assert not Mixture("bm25", 0.9999).has_no_weight


def test_a_share_over_folds_is_said_to_be_a_mean():
    mixture = of(LAST, interpolation=0.6, weights=[*"abcde"], shares=[1.0, 0.0, 1.0, 0.5, 0.5])
    every = of(LAST, interpolation=1.0, weights=[*"abcde"], shares=[1.0] * 5)
    older = of(LAST, interpolation=0.6, weights=[*"abcde"])
    assert folds_told({"drmm": mixture, "ltr": every, "delta": older}) == [
        "W of drmm is the mean over 5 folds, and 1 in 2 of them.",
        "W of delta is the mean over 5 folds.",
    ]


def test_the_weights_of_retrievers_stand_in_a_line():
    assert of(*FIRST).fusion == "0 × bm25 + 1 × rm3"
    plain = of(*FIRST[:2], {"fusion": {"weights": [], "k": 60}})
    assert weights_told({"fused": of(*FIRST), "plain": plain, "bm25": of(FIRST[0])}) == [
        "fused: 0 × bm25 + 1 × rm3 (bm25 got no weight)",
        "plain: bm25 + rm3, with equal weights",
    ]


def test_fused_run_files_have_weights_too():
    fuses = [{"run": "/x/one.run", "weight": 0.25}, {"run": "two.run", "weight": 0.75}]
    assert of({"method": "sums", "fuses": fuses}).fusion == "0.25 × one + 0.75 × two"


def test_the_head_of_a_run_file_tells_the_share():
    step = {**LAST, "interpolates": {"with": "fused", "weight of the first stage": 1.0}}
    assert of({"retriever": "bm25", "name": "bm25"}, step).has_no_weight


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"method": "BM25"},
        {"method": {"retrieval": "bm25"}},
        {"method": {"retrieval": [LAST], "interpolation": "1.0"}},
        {"method": {"retrieval": [LAST], "interpolation": True}},
        {"method": {"retrieval": [LAST], "interpolation": 7}},
        {"method": {"retrieval": [{"fusion": None}]}},
        {"method": {"retrieval": [{"retriever": "a"}, {"fusion": {"weights": [1, 2, 3]}}]}},
    ],
)
def test_metadata_of_other_programs_say_nothing(metadata):
    assert mixture_of(known_parts(metadata)[0].method) == Mixture()


def test_rerankers_without_weight_share_a_sentence():
    assert no_weight_told({"a": "bm25", "b": "fused", "c": "bm25"}) == [
        "a and c were given no weight: these are bm25's ranking.",
        "b was given no weight: this is fused's ranking.",
    ]
